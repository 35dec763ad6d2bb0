from _candidate import count_vowels

assert count_vowels("banana") == 3
assert count_vowels("AEIOU") == 5
assert count_vowels("rhythm") == 0
assert count_vowels("") == 0
