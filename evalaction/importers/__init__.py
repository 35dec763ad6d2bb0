"""Configurations of other tools → exam and card: bytes in, files to write and what could not be carried over out."""
