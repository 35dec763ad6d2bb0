"""The contract and check columns: named checks in one table, judged in killable workers."""
