"""Finds the line of a claim at which an exception was raised."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from pathlib import Path

__all__ = ["innermost"]


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
