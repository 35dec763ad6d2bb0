from _candidate import is_even

for number in range(-6, 7):
    assert is_even(number) is (number % 2 == 0), number
