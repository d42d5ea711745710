# PYTHON_ARGCOMPLETE_OK
"""The command, as `rankcheck` and as `python -m rankcheck`.

The handler of Ctrl-C is there before the command is imported. Worker processes import this module,
too, so it imports nothing else at its top.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line; returns its exit code."""
    from rankcheck.commands.interrupts import handled

    try:
        with handled():
            from rankcheck.commands.cli import main as command

            return command()
    except KeyboardInterrupt:  # before the command could say so
        print("rankcheck: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
