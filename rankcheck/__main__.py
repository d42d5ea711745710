"""`python -m rankcheck`: the command."""

import sys

from rankcheck.commands.cli import main

if __name__ == "__main__":
    sys.exit(main())
