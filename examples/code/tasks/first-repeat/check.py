from _candidate import first_repeat

assert first_repeat([1, 2, 3, 2, 1]) == 2
assert first_repeat(["a", "b"]) is None
assert first_repeat([]) is None
given = [3, 1, 3]
assert first_repeat(given) == 3 and given == [3, 1, 3], "the list that it was given must stay as it was"
