from _candidate import reverse_words

assert reverse_words("one two three") == "three two one"
assert reverse_words("alone") == "alone"
assert reverse_words("  a   b ") == "b a"
