r"""Structured points: the instances at which most false statements fail first.

Zero, identity, permutations, matrices of rank one, orthogonal and diagonal matrices, ones and
signs, the ends of a range, a tensor equal to an earlier one. A random search meets none of these,
and a descent only some. Each tensor of an instance draws its kind at random, so that a batch holds
many combinations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from rankcheck.theory.instances.drivers import BatchSource
from rankcheck.theory.instances.source import SMALLEST

#: The share of instances that use one kind for all their tensors, and one scale for all of them.
SAME_KIND, SAME_SCALE = 0.4, 0.6
#: The largest number of orders of magnitude by which entries of one tensor differ.
ORDERS = 6.0


class ShapedSource(BatchSource):
    """A batch of a given discrete shape.

    Integers beyond the end of the shape are drawn. An integer outside its range is replaced by the
    nearest one inside, so that a shape with one integer changed stays close to the original.
    """

    def __init__(
        self,
        integers: tuple[int, ...],
        seed: int,
        size: int = 1,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(seed, size, device)
        self._left = list(reversed(integers))

    def _integer(self, low: int, high: int) -> int:
        drawn = super()._integer(low, high)
        return min(max(self._left.pop(), low), high) if self._left else drawn


class MagnitudeSource(ShapedSource):
    """A batch of a given shape whose entries differ by orders of magnitude.

    The logarithms of the magnitudes are uniform; by instance and tensor they are drawn for each
    entry, for each row, for each column, or for rows and columns. Signs are random. A range that
    does not contain zero is cut into parts of equal ratio.
    """

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        def uniform(*axes: int) -> torch.Tensor:
            return torch.from_numpy(self._generator.random((self.size, *axes)))

        def wide(values: torch.Tensor) -> torch.Tensor:
            return values.reshape(self.size, *(1 for _ in shape))

        kind = wide(torch.floor(4 * uniform()))
        share = uniform(*shape)
        if len(shape) > 1:
            *outer, m, n = shape
            rows, columns = uniform(*outer, m, 1), uniform(*outer, 1, n)
            share = torch.where(kind == 1, rows.expand(share.shape), share)
            share = torch.where(kind == 2, columns.expand(share.shape), share)
            share = torch.where(kind == 3, (rows + columns) / 2, share)
        sign = 2.0 * (uniform(*shape) < 0.5) - 1
        if low > 0 or high < 0:
            size = abs(low) * (high / low) ** share
        else:
            size = max(abs(low), abs(high)) * 10 ** (-ORDERS * wide(uniform()) * share)
        sign = torch.full_like(sign, 1.0 if low >= 0 else -1.0) if low >= 0 or high <= 0 else sign
        values = (sign * size).clamp(low, high)
        if low <= 0 <= high:
            values = torch.where(values.abs() < SMALLEST, 0.0, values)
        return values.to(self.device)


class StructuredSource(ShapedSource):
    """A batch of structured points of a given discrete shape."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._count = self.size
        self._same_kind = self._uniform() < SAME_KIND
        self._same_scale = self._uniform() < SAME_SCALE
        self._theme = self._uniform()
        self._scale = self._draw_scale()
        self._seen: dict[tuple[int, ...], torch.Tensor] = {}
        #: The instances whose tensor is made; `_count` is their number.
        self._rows = torch.arange(self._count)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        values = self._structured(shape, low, high)
        self._seen[shape] = values
        return values.to(self.device)

    def _structured(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        entries = math.prod(shape)
        pick = torch.where(self._same_kind, self._theme, self._uniform())
        if not entries:
            return torch.zeros((self._count, *shape), dtype=torch.float64)
        kinds = _SCALARS if entries == 1 else _MATRICES if len(shape) > 1 else _VECTORS
        kind = (pick * len(kinds)).long()
        values = torch.zeros((self._count, *shape), dtype=torch.float64)
        for number in kind.unique().tolist():
            self._rows = (kind == number).nonzero().reshape(-1)
            everyone, self._count = self._count, len(self._rows)
            values[self._rows] = kinds[number](self, shape, low, high)
            self._count = everyone
        scale = torch.where(self._same_scale, self._scale, self._draw_scale())
        scale = torch.where(kind == kinds.index(StructuredSource._ends), 1.0, scale)
        values = values * scale.reshape(-1, *(1 for _ in shape))
        if low >= 0:
            values = values.abs()
        elif high <= 0:
            values = -values.abs()
        values = values.clamp(low, high)
        return torch.where((values.abs() < SMALLEST) & (low <= 0 <= high), 0.0, values)

    # What is drawn

    def _uniform(self, *shape: int) -> torch.Tensor:
        """Multiples of 2⁻⁵³ below 1, so that their products with an integer n round below n."""
        return torch.from_numpy(self._generator.random((self._count, *shape)))

    def _normal(self, *shape: int) -> torch.Tensor:
        return torch.from_numpy(self._generator.standard_normal((self._count, *shape)))

    def _draw_scale(self) -> torch.Tensor:
        """1 for half of the instances, else a power of 2, a number below 2, or a square root."""
        kind, fraction = torch.floor(8 * self._uniform()), self._uniform()
        scale = torch.where(kind == 4, torch.exp2(torch.floor(5 * fraction) - 2), 2 * fraction)
        scale = torch.where(kind == 5, fraction.sqrt(), scale)
        return torch.where(kind < 4, 1.0, scale)

    # Kinds, each of shape (count, *shape)

    def _zeros(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return torch.zeros((self._count, *shape), dtype=torch.float64)

    def _ones(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return torch.ones((self._count, *shape), dtype=torch.float64)

    def _negative(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return -self._ones(shape, low, high)

    def _half(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return self._ones(shape, low, high) / 2

    def _signs(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return 2 * torch.floor(2 * self._uniform(*shape)) - 1

    def _integers(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return torch.floor(5 * self._uniform(*shape)) - 2

    def _gaussian(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return self._normal(*shape)

    def _ends(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return low + (high - low) * torch.floor(2 * self._uniform(*shape))

    def _one_entry(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        entries = math.prod(shape)
        at = (self._uniform() * entries).long()
        sign = 2 * torch.floor(2 * self._uniform()) - 1
        flat = torch.zeros(self._count, entries, dtype=torch.float64)
        return flat.scatter(1, at[:, None], sign[:, None]).reshape(self._count, *shape)

    def _repeat(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        seen = self._seen.get(shape)
        return self._gaussian(shape, low, high) if seen is None else seen[self._rows]

    def _opposite(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return -self._repeat(shape, low, high)

    def _identity(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return torch.eye(*shape[-2:], dtype=torch.float64).expand(self._count, *shape)

    def _diagonal(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return self._identity(shape, low, high) * self._integers(shape, low, high)

    def _permutation(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        *outer, m, n = shape
        order = self._uniform(*outer, max(m, n)).argsort(-1)
        square = torch.nn.functional.one_hot(order).double()[..., :m, :n]
        return square * self._signs(shape, low, high)

    def _rank_one(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        *outer, m, n = shape
        return self._integers((*outer, m, 1), low, high) * self._integers((*outer, 1, n), low, high)

    def _orthogonal(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        *outer, m, n = shape
        size = max(m, n)
        return torch.linalg.qr(self._normal(*outer, size, size))[0][..., :m, :n]

    def _opposite_rows(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        """Rows in pairs v, -v: data points, hyperplanes or hidden units."""
        m = shape[-2]
        rows = self._signs(shape, low, high) if m % 2 else self._normal(*shape)
        half = rows[..., : (m + 1) // 2, :]
        return torch.cat((half, -half), -2)[..., :m, :]


Kind = Callable[[StructuredSource, tuple[int, ...], float, float], torch.Tensor]

_S = StructuredSource
_SCALARS: tuple[Kind, ...] = (
    _S._ones,
    _S._zeros,
    _S._negative,
    _S._half,
    _S._ends,
    _S._gaussian,
    _S._repeat,
    _S._opposite,
)
_VECTORS: tuple[Kind, ...] = (
    _S._ones,
    _S._zeros,
    _S._one_entry,
    _S._signs,
    _S._integers,
    _S._ends,
    _S._gaussian,
    _S._repeat,
    _S._opposite,
)
_MATRICES: tuple[Kind, ...] = (
    _S._identity,
    _S._zeros,
    _S._permutation,
    _S._rank_one,
    _S._orthogonal,
    _S._diagonal,
    _S._one_entry,
    _S._ones,
    _S._signs,
    _S._integers,
    _S._ends,
    _S._opposite_rows,
    _S._gaussian,
    _S._repeat,
    _S._opposite,
)
