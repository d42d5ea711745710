"""What an audit measures, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from torch import Tensor

__all__ = ["Progress", "Task"]

Progress: TypeAlias = Callable[[str, int, int | None], object]
"""Called with a stage in words, how much of it is done, and of how much; None if that is one."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is asked for, beside the network; `rankcheck.audit.audit` says what the fields mean.

    Attributes:
        X: the points, flattened (N, n_0); None without data.
    """

    X: Tensor | None
    max_rank: int | None
    tolerance: float
    device: str
    executor: Any
    progress: Progress
