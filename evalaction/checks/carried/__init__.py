"""What a `check.py` does with its candidate, read without running it: split checking carries plain data, not everything."""
