"""Transposed convolutions: the transposes of the maps that convolutions are."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from rankcheck.audit.graph.convolution_map import ConvolutionMap

__all__ = ["TransposedMap"]


@dataclass(frozen=True, eq=False)
class TransposedMap:
    """z ↦ Aᵀz + b for a convolution A.

    Attributes:
        of: A, from what comes out here to what goes in; without its bias.
        offset: a number for each channel that comes out, or None.
        size: of one point that goes in, along the axes.
    """

    name: str
    parameters: tuple[str, str | None]
    of: ConvolutionMap
    offset: Tensor | None
    size: tuple[int, ...]
    kind: str = "transposed convolution"

    @property
    def weight(self) -> Tensor:
        """The kernels, (channels, units / groups, *k)."""
        return self.of.weight

    @property
    def units(self) -> int:
        """Channels that come out."""
        return self.of.channels

    @property
    def channels(self) -> int:
        """Channels that go in."""
        return self.of.units

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n) of all copies."""
        m, n = self.of.shape
        return n, m

    @property
    def block(self) -> tuple[int, int]:
        """(m, n) of one copy."""
        m, n = self.of.block
        return n, m

    @property
    def copies(self) -> int:
        """As of A."""
        return self.of.copies

    @property
    def weights(self) -> float:
        """The squares of the kernels' entries, summed."""
        return self.of.weights

    @property
    def bias(self) -> float:
        """‖b‖², one number a channel; 0 without one."""
        return 0.0 if self.offset is None else float((self.offset * self.offset).sum())

    def singular_values(self, most: int) -> tuple[Tensor, bool]:
        """Those of A."""
        return self.of.singular_values(most)

    def frobenius_squared(self) -> float:
        """‖A‖_F² of one copy."""
        return self.of.frobenius_squared()

    def squares(self) -> Tensor:
        """The squared norms of the kernels, (units, channels)."""
        return self.of.squares().T

    def scaled(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor | None]:
        """Kernels times a number for each channel that comes out and goes in; the bias."""
        weight, _ = self.of.scaled(columns, rows)
        return weight, None if self.offset is None else self.offset * rows
