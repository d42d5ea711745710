"""Kinds of outputs: numbers, and predicted classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.reading.opening import require
from rankcheck.audit.result import OutputFacts

__all__ = ["COARSE", "Classes", "Kind", "Values"]

#: Outputs that agree no better than to this share of their spread say too little.
COARSE = 0.1
_LIKELY = (
    "Likely reasons: another activation, a skip connection, a softmax at the end, dropout or batch "
    "norms in training mode, another checkpoint, points that were scaled"
)


@dataclass(frozen=True, eq=False)
class Values:
    """Outputs as numbers.

    Attributes:
        given: (N, n_L).
        explained: by how much they may be off (N, n_L), by what explains it, the finest first.
    """

    given: Tensor
    explained: dict[str, Tensor]

    @property
    def most(self) -> Tensor:
        """By how much they may be off at most."""
        return list(self.explained.values())[-1]

    @cached_property
    def spread(self) -> float:
        """The root of the mean square of the outputs about their means, or about 0 if that is 0."""
        about = self.given - self.given.mean(0)
        return float(about.square().mean().sqrt()) or float(self.given.square().mean().sqrt())

    def off(self, found: Tensor, at: Any = slice(None)) -> Tensor:
        """At which points they differ by more than is explained."""
        return ((found - self.given[at]).abs() > self.most[at]).any(1)

    def facts(self, found: Tensor, name: str) -> OutputFacts:
        """What is told of outputs that agree.

        Raises:
            ModelError: what is explained is so much that agreement tells nothing.
        """
        off = (found - self.given).abs()
        by = next(name for name, most in self.explained.items() if bool((off <= most).all()))
        largest = float(off.max())
        require(
            largest <= COARSE * self.spread,
            f"{name} cannot tell whether it is what the network as read puts out: they differ by "
            f"up to {largest:.2g}, which {by} explains, and spread by {self.spread:.2g}; give the "
            "outputs in single precision",
        )
        return OutputFacts("values", len(found), largest, self.spread, by)

    def at(self, point: int, found: Tensor) -> str:
        """Both values at a point, of the output that is off by most."""
        place = int(((found - self.given).abs() - self.most)[point].argmax())
        one, two = float(self.given[point, place]), float(found[point, place])
        which = f"output {place}" if found.shape[1] > 1 else "it"
        return f"{which} is {_apart(one, two)}, and of the network {_apart(two, one)}"

    def likely(self, number: int) -> str:
        """What the reason may be where nothing was found."""
        return _LIKELY


@dataclass(frozen=True, eq=False)
class Classes:
    """Outputs as whole numbers, one for each point.

    Attributes:
        given: (N).
        most: by how much rounding may move an output (N).
    """

    given: Tensor
    most: Tensor

    def off(self, found: Tensor, at: Any = slice(None)) -> Tensor:
        """At which points the class is another one, and rounding does not explain it."""
        given, most = self.given[at], self.most[at]
        if found.shape[1] == 1:
            return torch.where(given > 0, found[:, 0] < -most, found[:, 0] > most)
        chosen = found.gather(1, given.long().unsqueeze(1)).squeeze(1)
        return chosen < found.amax(1) - 2 * most

    def facts(self, found: Tensor, name: str) -> OutputFacts:
        """What is told of classes that agree."""
        return OutputFacts("classes", len(found))

    def at(self, point: int, found: Tensor) -> str:
        """Both classes at a point."""
        given = int(self.given[point])
        if found.shape[1] == 1:
            return f"the label is {given}, and the network puts out {float(found[point, 0]):.6g}"
        return f"the class is {given}, and of the network {int(found[point].argmax())}"

    def likely(self, number: int) -> str:
        """What the reason may be where nothing was found."""
        true = "they are the true classes, and not those that the model predicts; "
        return _LIKELY.replace(": ", f": {true}", 1).replace(" a softmax at the end,", "")


Kind = Values | Classes


def _apart(value: float, other: float) -> str:
    """A number with so many digits that it is seen to differ from another one."""
    digits = next((d for d in range(5, 17) if f"{value:.{d}g}" != f"{other:.{d}g}"), 17)
    return f"{value + 0.0:.{digits}g}"
