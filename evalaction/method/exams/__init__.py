"""From the files of an exam to its items, their digests and the messages that are sent."""
