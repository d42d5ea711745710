"""A canary: something with a known outcome that one stage of the engine alone can bring about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Canary"]


@dataclass(frozen=True)
class Canary:
    """Something with a known outcome.

    Attributes:
        name: what is wrong with it, or why it holds.
        stage: the stage that brings the outcome about.
        check: what came out wrong, or None; it may write in the folder that it is given.
        short: whether every run begins with it.
    """

    name: str
    stage: str
    check: Callable[[Path], str | None]
    short: bool = False
