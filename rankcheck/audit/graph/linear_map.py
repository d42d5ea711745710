"""Linear maps with parameters, by their products: no matrix is built that is not stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from rankcheck.linalg import frobenius_squared

__all__ = ["DenseMap", "DiagonalMap", "LinearMap"]


class LinearMap(Protocol):
    """z ↦ Az + b between points of a network, flattened.

    Attributes:
        name: of the layer.
        parameters: the names of the weights and of the bias, None without one.
        kind: what it is, in words: `linear`, `convolution`, `batch norm`.
        shape: (m, n) of A.
        block: (m, n) of one copy.
        weights, bias: the sums of squares of the parameters, which is what they cost.
        copies: A is so many copies of one matrix along a diagonal, as a linear layer is on tokens;
            `singular_values` are those of one.
        units: how many neurons or channels come out; a bias has one number for each.
    """

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> tuple[str, str | None]: ...
    @property
    def kind(self) -> str: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def block(self) -> tuple[int, int]: ...
    @property
    def weights(self) -> float: ...
    @property
    def bias(self) -> float: ...
    @property
    def copies(self) -> int: ...
    @property
    def units(self) -> int: ...

    def singular_values(self, most: int) -> tuple[Tensor, bool]:
        """All singular values of one copy where that is affordable, else this many of the largest.

        And whether these are all; the largest first.
        """

    def frobenius_squared(self) -> float:
        """‖A‖_F² of one copy; of a convolution it is not the sum of squares of its kernel."""

    def squares(self) -> Tensor:
        """The squares of the weights between each two units, summed: (units, units that go in)."""

    def scaled(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor | None]:
        """Weights and bias, multiplied by a number for each unit that comes out and goes in."""


@dataclass(frozen=True, eq=False)
class DenseMap:
    """A linear layer: its matrix (m, n) is stored."""

    name: str
    parameters: tuple[str, str | None]
    weight: Tensor
    offset: Tensor | None
    copies: int = 1
    kind: str = "linear"

    @property
    def block(self) -> tuple[int, int]:
        """(m, n) of W."""
        return self.weight.shape[0], self.weight.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n) of all copies."""
        return self.weight.shape[0] * self.copies, self.weight.shape[1] * self.copies

    @property
    def units(self) -> int:
        """m of one copy."""
        return self.weight.shape[0]

    @property
    def weights(self) -> float:
        """‖W‖_F²."""
        return float(frobenius_squared(self.weight))

    @property
    def bias(self) -> float:
        """‖b‖²; 0 without one."""
        return 0.0 if self.offset is None else float((self.offset * self.offset).sum())

    def singular_values(self, most: int) -> tuple[Tensor, bool]:
        """All singular values of W."""
        return torch.linalg.svdvals(self.weight), True

    def frobenius_squared(self) -> float:
        """‖W‖_F²."""
        return self.weights

    def squares(self) -> Tensor:
        """The squares of the entries, (m, n)."""
        return self.weight * self.weight

    def scaled(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor | None]:
        """diag(rows) W diag(columns) and diag(rows) b."""
        offset = None if self.offset is None else self.offset * rows
        return self.weight * rows.unsqueeze(1) * columns, offset


@dataclass(frozen=True, eq=False)
class DiagonalMap:
    """A parameter for each unit, as norms have them: z ↦ scale ⊙ z + offset, up to a constant.

    Attributes:
        weight: the parameters γ.
        scale: by what is multiplied; for a batch norm in eval mode that is γ / √(σ² + ε).
        offset: the parameters β, or None.
    """

    name: str
    parameters: tuple[str, str | None]
    weight: Tensor
    offset: Tensor | None
    scale: Tensor
    copies: int = 1
    kind: str = "norm"

    @property
    def units(self) -> int:
        """How many numbers γ has."""
        return len(self.weight)

    @property
    def block(self) -> tuple[int, int]:
        """(n, n), for n units."""
        return self.units, self.units

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n) of all copies."""
        return self.units * self.copies, self.units * self.copies

    @property
    def weights(self) -> float:
        """‖γ‖²."""
        return float((self.weight * self.weight).sum())

    @property
    def bias(self) -> float:
        """‖β‖²; 0 without one."""
        return 0.0 if self.offset is None else float((self.offset * self.offset).sum())

    def singular_values(self, most: int) -> tuple[Tensor, bool]:
        """|scale|."""
        return self.scale.abs().sort(descending=True).values, True

    def frobenius_squared(self) -> float:
        """‖scale‖²."""
        return float((self.scale * self.scale).sum())

    def squares(self) -> Tensor:
        """γ², as one column."""
        return (self.weight * self.weight).unsqueeze(1)

    def scaled(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor | None]:
        """γ and β times `rows`."""
        return self.weight * rows, None if self.offset is None else self.offset * rows
