from _candidate import add

assert add(2, 3) == 5
assert add(-1, 1) == 0
assert add(0.5, 0.25) == 0.75
