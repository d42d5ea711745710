"""Convolutions as the linear maps that they are, by their products."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional

from rankcheck.audit.graph.largest import largest_singular_values

__all__ = ["ConvolutionMap"]

_CONVOLUTIONS: dict[int, Callable[..., Tensor]] = {
    1: functional.conv1d,
    2: functional.conv2d,
    3: functional.conv3d,
}
#: All singular values are computed if one copy has no more entries than this.
ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class ConvolutionMap:
    """A convolution over d axes, of points with c channels and these sizes.

    Attributes:
        weight: the kernels, (units, c / groups, *k).
        offset: a number for each channel that comes out, or None.
        size: of one point along the d axes.
        stride, dilation: along each axis.
        padding: how much is added before and behind, along each axis.
        groups: channels are split into so many groups, which do not meet.
        mode: what is added: `zeros`, or as `reflect`, `replicate` and `circular` say.
        rows: on how many points the same convolution acts.
    """

    name: str
    parameters: tuple[str, str | None]
    weight: Tensor
    offset: Tensor | None
    size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int = 1
    mode: str = "zeros"
    rows: int = 1
    kind: str = "convolution"

    @property
    def units(self) -> int:
        """Channels that come out."""
        return self.weight.shape[0]

    @property
    def channels(self) -> int:
        """Channels that go in."""
        return self.weight.shape[1] * self.groups

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n) of all copies."""
        positions, size = math.prod(map(len, self._reads)), math.prod(self.size)
        return self.rows * self.units * positions, self.rows * self.channels * size

    @property
    def block(self) -> tuple[int, int]:
        """(m, n) of one copy."""
        if self._disjoint:
            return self.units, self.channels * math.prod(self.weight.shape[2:])
        return self.shape[0] // self.rows, self.shape[1] // self.rows

    @property
    def copies(self) -> int:
        """Where no number is read twice, as by kernels of size 1, every position is a copy."""
        return self.rows * (math.prod(map(len, self._reads)) if self._disjoint else 1)

    @property
    def weights(self) -> float:
        """The squares of the kernels' entries, summed."""
        return float((self.weight * self.weight).sum())

    @property
    def bias(self) -> float:
        """‖b‖², one number a channel; 0 without one."""
        return 0.0 if self.offset is None else float((self.offset * self.offset).sum())

    def __call__(self, z: Tensor) -> Tensor:
        """Az for z (c, *size), without the bias."""
        z = z.unsqueeze(0)
        if self._pads:
            mode = "constant" if self.mode == "zeros" else self.mode
            z = functional.pad(z, [p for pair in reversed(self.padding) for p in pair], mode)
        convolve = _CONVOLUTIONS[len(self.size)]
        return convolve(z, self.weight, None, self.stride, 0, self.dilation, self.groups).squeeze(0)

    def singular_values(self, most: int) -> tuple[Tensor, bool]:
        """All singular values where copies are small; else the largest, by products alone."""
        if self._disjoint:
            kernels = self.weight.reshape(self.groups, self.units // self.groups, -1)
            return torch.linalg.svdvals(kernels).flatten().sort(descending=True).values, True
        m, n = self.block
        if m * n > ENTRIES and min(m, n) > most:
            return self.largest(most), False
        apply, transpose = self._products()
        product = apply if n <= m else transpose
        matrix = torch.vmap(product)(torch.eye(min(m, n), dtype=self.weight.dtype))
        return torch.linalg.svdvals(matrix), True

    def largest(self, number: int) -> Tensor:
        """The largest singular values of A on one point, by products alone."""
        apply, transpose = self._products()
        m, n = (size // self.rows for size in self.shape)
        if m < n:
            return largest_singular_values(transpose, apply, m, number)
        return largest_singular_values(apply, transpose, n, number)

    def _products(self) -> tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]:
        """z ↦ Az and y ↦ Aᵀy on one point, flattened."""
        point = self.weight.new_zeros(self.channels, *self.size)
        value, pull, *_ = torch.func.vjp(self, point)

        def apply(z: Tensor) -> Tensor:
            return self(z.reshape(point.shape)).reshape(-1)

        def transpose(y: Tensor) -> Tensor:
            result: Tensor = pull(y.reshape(value.shape))[0]
            return result.reshape(-1)

        return apply, transpose

    def frobenius_squared(self) -> float:
        """‖A‖_F², by counting where an entry of a kernel stands in A."""
        if self._disjoint:
            return self.weights
        if self.mode == "zeros":
            often = self.weight.new_ones(())
            for reads in self._reads:
                often = often.unsqueeze(-1) * (reads > 0).sum(0)
            return float((self.weight * self.weight * often).sum())
        counts = self.weight.new_ones(1, 1)  # positions at which two entries read the same place
        for reads in self._reads:
            same = reads.unsqueeze(2) == reads.unsqueeze(1)
            counts = torch.kron(counts, same.sum(0).to(counts))
        kernels = self.weight.flatten(2).flatten(0, 1)
        return float((kernels.T @ kernels * counts).sum())

    def squares(self) -> Tensor:
        """The squared norms of the kernels, (units, channels); 0 between groups."""
        kernels = (self.weight * self.weight).flatten(2).sum(2)
        return torch.block_diag(*kernels.unflatten(0, (self.groups, -1)))

    def scaled(self, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor | None]:
        """Kernels times a number for each channel that comes out and goes in; the bias."""
        kernels = self.weight.unflatten(0, (self.groups, -1)).flatten(3)
        into = columns.reshape(self.groups, 1, -1, 1)
        kernels = (kernels * into).reshape(self.weight.shape)
        kernels = kernels * rows.reshape(-1, *[1] * (self.weight.ndim - 1))
        return kernels, None if self.offset is None else self.offset * rows

    @property
    def _pads(self) -> bool:
        return any(p for pair in self.padding for p in pair)

    @property
    def _disjoint(self) -> bool:
        """Whether no position reads what another one reads, or what is added."""
        extents = zip(self._reads, self.stride, self.dilation, self.weight.shape[2:], strict=True)
        return not self._pads and all(
            len(reads) == 1 or step >= dilation * (k - 1) + 1
            for reads, step, dilation, k in extents
        )

    @cached_property
    def _reads(self) -> tuple[Tensor, ...]:
        """Along each axis, which place (from 1) position p reads by entry k; 0 is a zero added."""
        found = []
        for n, step, (before, behind), dilation, k in zip(
            self.size, self.stride, self.padding, self.dilation, self.weight.shape[2:], strict=True
        ):
            places = torch.arange(1.0, n + 1, dtype=torch.float64).reshape(1, 1, n)
            if before or behind:
                mode = "constant" if self.mode == "zeros" else self.mode
                places = functional.pad(places, (before, behind), mode)
            windows = places.flatten().unfold(0, dilation * (k - 1) + 1, step)
            found.append(windows[:, ::dilation])
        return tuple(found)
