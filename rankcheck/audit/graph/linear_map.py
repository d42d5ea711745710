"""Linear maps with parameters, by their products: no matrix is built that is not stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from rankcheck.linalg import frobenius_squared

__all__ = ["DenseMap", "LinearMap"]


class LinearMap(Protocol):
    """z ↦ Az + b between points of a network, flattened.

    Attributes:
        name: of the layer.
        parameters: the names of the weights and of the bias, None without one.
        shape: (m, n) of A.
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
    def shape(self) -> tuple[int, int]: ...
    @property
    def weights(self) -> float: ...
    @property
    def bias(self) -> float: ...
    @property
    def copies(self) -> int: ...
    @property
    def units(self) -> int: ...

    def singular_values(self, most: int) -> tuple[Tensor, bool]:
        """The largest singular values of one copy, at most so many, and whether these are all."""

    def frobenius_squared(self) -> float:
        """‖A‖_F² of one copy; of a convolution it is not the sum of squares of its kernel."""

    def incoming(self) -> Tensor:
        """For each unit that comes out, the squares of its weights and its bias, summed (units)."""

    def outgoing(self) -> Tensor:
        """For each unit that goes in, the squares of the weights that it has, summed."""


@dataclass(frozen=True, eq=False)
class DenseMap:
    """A linear layer: its matrix (m, n) is stored."""

    name: str
    parameters: tuple[str, str | None]
    weight: Tensor
    offset: Tensor | None
    copies: int = 1

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
        """The largest singular values of W."""
        values = torch.linalg.svdvals(self.weight)
        return values[:most], len(values) <= most

    def frobenius_squared(self) -> float:
        """‖W‖_F²."""
        return self.weights

    def incoming(self) -> Tensor:
        """‖w_i‖² + b_i² of each row (m)."""
        squares = (self.weight * self.weight).sum(1)
        return squares if self.offset is None else squares + self.offset * self.offset

    def outgoing(self) -> Tensor:
        """The squared norms of the columns (n)."""
        return (self.weight * self.weight).sum(0)
