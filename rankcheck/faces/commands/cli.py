"""The command `rankcheck`: its parser, and errors as one line."""

from __future__ import annotations

import argparse
import errno
import importlib
import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from rankcheck._version import __version__
from rankcheck.errors import InputError, InstallationError, short_of_memory
from rankcheck.faces.commands import interrupts
from rankcheck.faces.commands.gone import instead
from rankcheck.faces.terminal import exits
from rankcheck.faces.terminal.exits import Exit
from rankcheck.faces.terminal.plain import one_line, say

#: The sub-commands, modules of `rankcheck.faces.commands`, in the order of the help.
COMMANDS = (
    "verify",
    "hunt",
    "sharpen",
    "prove",
    "audit",
    "report",
    "list",
    "show",
    "new",
    "certify",
    "replay",
    "record",
    "score",
    "export",
    "doctor",
)
#: Errors of the system that no file is to blame for. All others are of a file, or of its disk.
EXHAUSTED = (None, errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
#: If this environment variable is set, an internal error is shown with its traceback.
TRACEBACK = "RANKCHECK_TRACEBACK"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are those of any wrong input."""

    def parse_known_args(  # type: ignore[override] # the stub has overloads
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        args = sys.argv[1:] if args is None else list(args)
        for one in args:  # Python takes the value `--` as none, and hands on an empty list
            if one.startswith("--") and one.endswith("=--"):
                self.error(f"argument {one.removesuffix('=--')}: expected a value, received --")
        verb = self.prog.split()[1:]  # none in the parser of all commands
        typed, known = (args, self._options) if verb else (args[:1], COMMANDS)
        unknown = [one for one in typed if one.partition("=")[0] not in known]
        if gone := instead([*verb, *unknown]):
            raise InputError(gone)
        namespace, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:  # of a command; its options are known here
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown)}")
        return namespace, unknown

    def _meant(self, unknown: Sequence[str]) -> str:
        """The option that the first unknown one resembles, as a question."""
        names = [one.partition("=")[0] for one in unknown if one.startswith("--")]
        near = [close for one in names for close in get_close_matches(one, self._options, 1)]
        return f"; did you mean {near[0]}?" if near else ""

    @property
    def _options(self) -> list[str]:
        return [name for action in self._actions for name in action.option_strings]

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see {self.prog} --help)")


def parser(names: Sequence[str] = COMMANDS) -> Parser:
    """The parser with these sub-commands; `args.run` is the function of the chosen one."""
    top = Parser(
        prog="rankcheck",
        description="A referee for theorems on representation cost, rank and depth of networks.",
        epilog=exits.HELP,
    )
    top.add_argument("--version", action="version", version=f"rankcheck {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    for name in names:
        module: Any = importlib.import_module(f"rankcheck.faces.commands.{name}")
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
    """Run a command line; returns its exit code, see `Exit`."""
    # A shell may close a stream: `rankcheck list >&-`.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # statements have letters that a terminal may lack
            stream.reconfigure(errors="backslashreplace")
    try:
        Path.cwd()
    except OSError as error:
        return _failed(
            Exit.USAGE,
            f"the working directory cannot be used: {error.strerror}; change to one that exists",
        )
    args: Any = None
    try:
        with interrupts.handled():
            words = sys.argv[1:] if arguments is None else arguments
            named = [word for word in words[:1] if word in COMMANDS]  # others are not imported
            args = parser(named or COMMANDS).parse_args(words)
            code = int(args.run(args))
            sys.stdout.flush()
    except InputError as error:
        return _failed(Exit.USAGE, str(error), args)
    except InstallationError as error:
        return _failed(Exit.INTERNAL, str(error), args)
    except KeyboardInterrupt:
        interrupts.arrived()
        return _failed(Exit.INTERRUPTED, "interrupted")
    except BrokenPipeError:  # `rankcheck list | head`
        _drop_output()
        return Exit.CLOSED
    except OSError as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        where = "" if error.filename is None else f"{str(error.filename)[:200]}: "
        code = Exit.INTERNAL if error.errno in EXHAUSTED else Exit.USAGE
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        return _failed(code, f"{where}{error.strerror or error}", args)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        if short_of_memory(error):
            return _failed(Exit.INTERNAL, f"out of memory ({type(error).__name__})")
        message = " ".join(str(error).split())
        return _failed(
            Exit.INTERNAL,
            f"internal error: {type(error).__name__}{message and f': {message}'} "
            f"({TRACEBACK}=1 shows the traceback)",
        )
    return code


def _drop_output() -> None:
    """What standard output does not take is written nowhere, also when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(code: Exit, message: str, args: Any = None) -> Exit:
    """Print the one line of an error, and write it where `--json` was to write the result."""
    line = one_line(message)
    say(f"rankcheck: {line}", sys.stderr)
    data = {"schema": 1, "error": line}
    if getattr(args, "json", None) is True:
        print(json.dumps(data, ensure_ascii=False))
    elif getattr(args, "report", None) is not None:
        with suppress(OSError):
            args.report.write(data)
    return code
