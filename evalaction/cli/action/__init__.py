"""The action: one job on GitHub from its inputs to comment, summary, outputs and exit code. `commands/action.py` is its entry."""
