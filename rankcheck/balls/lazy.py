"""Ball arrays whose elements are computed on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from rankcheck.balls.array import BallArray
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.numbers import Undecided


class LazyBalls(BallArray):
    """A ball array of known shape whose elements are computed on first use.

    For results that are undecided or missing where another result of the same function is not: the
    eigenvectors of `torch.linalg.eigh`, for instance.
    """

    __slots__ = ("_compute", "_elements", "_shape")

    def __init__(self, shape: Sequence[int], compute: Callable[[], np.ndarray]) -> None:
        self._shape = torch.Size(shape)
        self._compute = compute
        self._elements: np.ndarray | None = None
        self.memory = None

    @property
    def elements(self) -> np.ndarray:  # type: ignore[override]  # a slot of the base class
        if self._elements is None:
            self._elements = self._compute()
        return self._elements

    @property
    def shape(self) -> torch.Size:  # type: ignore[override]  # torch's stub declares a variable
        return self._shape

    @property
    def ndim(self) -> int:  # type: ignore[override]  # torch's stub declares a variable
        return len(self._shape)

    def __repr__(self) -> str:  # type: ignore[override]  # torch's takes a private keyword
        try:
            return super().__repr__()
        except (NoBallForm, Undecided) as error:
            return f"BallArray(of shape {tuple(self._shape)}, not known: {error})"
