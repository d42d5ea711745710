"""What was raised, and where, in one line for a person."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from pathlib import Path

from rankcheck.errors import short_of_memory
from rankcheck.files import shown_path

#: What is said of a check that needs more memory than there is.
RAN_OUT = "ran out of memory"
#: A line of a traceback as `faulthandler` writes it.
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in ', re.MULTILINE)


def innermost(
    error: BaseException, files: Iterable[Path], *, elsewhere: bool = False
) -> traceback.FrameSummary | None:
    """The innermost frame of a traceback that lies in some files; None without one.

    Args:
        elsewhere: whether the innermost frame of all is taken if none lies there.
    """
    known = {str(path) for path in files}
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename in known]
    return next(reversed(inside or (frames if elsewhere else [])), None)


def named(error: BaseException) -> str:
    """The type of an error and its message, on one line.

    >>> named(ValueError("two\\nlines")), named(KeyboardInterrupt())
    ('ValueError: two lines', 'KeyboardInterrupt')
    """
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def raised(error: BaseException, file: Path, by: str = "check") -> str:
    """What was raised, and where: the last line in the file of the claim, or the last line.

    The notes of the error follow on lines of their own.

    Args:
        by: what raised it.
    """
    notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
    if short_of_memory(error):
        return f"its {by} {ran_out(error, [file])}{notes}"
    at = _shown(innermost(error, [file], elsewhere=True))
    kind, colon, text = named(error).partition(": ")
    return f"its {by} raised {kind}{at and f' at {at}'}{colon}{text}{notes}"


def ran_out(error: BaseException, files: Iterable[Path]) -> str:
    """That memory was short, and where: what follows "its check"."""
    at = place_of(error, files)
    return f"{RAN_OUT}{at and f' at {at}'} ({named(error)})"


def place_of(error: BaseException, files: Iterable[Path]) -> str:
    """The innermost line of some files in the traceback of an error; empty without one."""
    return _shown(innermost(error, files))


def _shown(frame: traceback.FrameSummary | None) -> str:
    return "" if frame is None else f"{shown_path(Path(frame.filename))}:{frame.lineno}"


def place_in(dump: str, files: Iterable[Path]) -> str:
    """The innermost line of some files in the tracebacks of `faulthandler`; empty without one."""
    known = {str(path) for path in files}
    for path, line in _FRAME.findall(dump):
        if path in known:
            return f"{shown_path(Path(path))}:{line}"
    return ""
