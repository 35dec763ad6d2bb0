import sys

from evalaction.cli import main

sys.exit(main())
