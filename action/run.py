"""The action, in the environment that start.py made: our own package last on the path, so that it hides no other."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))

from evalaction.cli import main

sys.exit(main(["action"]))
