"""Runs over time: a run folder as an entry, entries in a folder, and two of them side by side."""
