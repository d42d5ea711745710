"""The command, as `rankcheck` and as `python -m rankcheck`.

The handler of Ctrl-C is there before the command is imported. Worker processes import this module,
too, so it imports nothing of rankcheck at its top.
"""

from __future__ import annotations

import gc
import sys

# Imports make a million objects that stay. At its default of 700 Python would look through all of
# them for garbage several times, which takes a tenth of the time that a claim takes.
gc.set_threshold(50_000, 20, 20)


def main() -> int:
    """Run the command line; returns its exit code."""
    from rankcheck.faces.commands.interrupts import handled

    try:
        with handled():
            from rankcheck.faces.commands.cli import main as command

            return command()
    except KeyboardInterrupt:  # before the command could say so
        print("rankcheck: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
