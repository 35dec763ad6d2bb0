"""Checks that are programs: what they are given, how they are run in the box, and whose fault an ending is."""
