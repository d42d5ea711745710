"""The command `rankcheck`: a parser, its sub-commands, and errors in one line.

Exit codes: 0 all as expected, 1 a claim falls or is undecided, 2 usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from rankcheck._version import __version__
from rankcheck.errors import InputError

#: The sub-commands, modules of `rankcheck.commands`, in the order of the help.
COMMANDS = ("verify", "hunt", "list", "show", "new", "certify", "replay")
EXPECTED, UNEXPECTED, USAGE, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"rankcheck: {message} (see {self.prog} --help)\n")


def parser() -> Parser:
    """The parser with all sub-commands; `args.run` is the chosen one's function."""
    top = Parser(
        prog="rankcheck",
        description="A referee for theorems on representation cost, rank and depth of networks.",
        epilog="Exit codes: 0 all as expected, 1 a claim falls or is undecided, 2 usage.",
    )
    top.add_argument("--version", action="version", version=f"rankcheck {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for name in COMMANDS:
        module: Any = importlib.import_module(f"rankcheck.commands.{name}")
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and give its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a statement has letters that a terminal may lack
            stream.reconfigure(errors="backslashreplace")
    try:
        args = parser().parse_args(arguments)
        code = int(args.run(args))
        sys.stdout.flush()
    except InputError as error:
        print(f"rankcheck: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("rankcheck: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `rankcheck list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNEXPECTED
    return code
