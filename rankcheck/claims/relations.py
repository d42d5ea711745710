"""What a claim body returns: `leq(lhs, rhs)` and `eq(lhs, rhs)`.

A relation holds two sides, of shape `(*B)` or wider (further axes are entries of one instance: the
relation has to hold in all of them). It measures how far the sides are from satisfying it, and
leaves the verdict to the caller.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import torch

from rankcheck.balls import BallArray, balls, is_ball
from rankcheck.claims import tolerances
from rankcheck.linalg import Array, Number

#: Integers below this in absolute value are compared in 64 bits as they are.
LIMIT = 2**62


@dataclass(frozen=True, eq=False)
class Relation:
    """`lhs <= rhs` or `lhs == rhs`, entry by entry, where `where` is true.

    Attributes:
        lhs, rhs: the two sides, broadcast to one shape.
        scale: the size of what cancelled on the way to them, or None.
        error: an absolute error of the sides that comes from rounding, or None.
        terms: how many operations stand behind one side.
        where: the hypothesis under which the relation is asserted, or None.
        label: which of several statements of the claim this is.
        integers: the two sides where both are Python integers. Tensors hold 64 bits, so `lhs` and
            `rhs` may be smaller numbers in the same order.
        note: both sides of one instance in words, such as "3 of 8 runs, p = 0.855 > 0.05", where
            the numbers alone say little.
    """

    kind: Literal["leq", "eq"]
    lhs: Array
    rhs: Array
    scale: Array | None = None
    error: Array | None = None
    terms: int = tolerances.TERMS
    where: Any | None = None
    label: str = ""
    integers: tuple[int, int] | None = None
    note: str = ""

    @property
    def excess(self) -> Array:
        """How far the relation is from holding: `lhs - rhs`, or its absolute value for `eq`."""
        difference = self.lhs - self.rhs
        return difference if self.kind == "leq" else difference.abs()

    @property
    def tolerance(self) -> torch.Tensor:
        """Violations up to this are rounding; zero between integers."""
        if self.exact:
            return torch.zeros_like(self.lhs)
        return tolerances.tolerance(self.lhs, self.rhs, self.scale, self.error, self.terms)

    @property
    def exact(self) -> bool:
        """Whether both sides are integers, so that there is no rounding error."""
        return not any(is_ball(side) or side.is_floating_point() for side in (self.lhs, self.rhs))

    @property
    def asserted(self) -> torch.Tensor:
        """Where the relation is asserted, of the shape of the sides."""
        if self.where is None:
            return torch.ones(tuple(self.lhs.shape), dtype=torch.bool, device=self.lhs.device)
        return _widen(torch.as_tensor(self.where), self.lhs)

    def violated(self) -> torch.Tensor:
        """Where the relation fails by more than the tolerance.

        A NaN on a side counts as a failure, and so does an infinite side on the wrong end, or an
        infinite tolerance.
        """
        excess, tolerance = self.excess, self.tolerance
        holds = (excess <= tolerance) & torch.isfinite(tolerance) | (excess == -torch.inf)
        return ~holds & self.asserted

    def beyond(self, *, relative: bool = True) -> torch.Tensor:
        """By entry, how far a violation lies beyond equality, by default relative to the sides.

        It is -inf where the relation is not violated, and inf where a side is not a number.
        """
        amount = self.excess.double()
        if relative:
            size = torch.maximum(self.lhs.abs(), self.rhs.abs())
            amount = amount / size.double().clamp(min=1e-300)
        amount = torch.where(amount.isnan(), torch.inf, amount)
        return torch.where(self.violated(), amount, -torch.inf)

    def sides(self) -> tuple[BallArray, BallArray]:
        """Both sides as balls; Python integers of any size are exact."""
        if self.integers is not None:
            lhs, rhs = (balls(side) for side in self.integers)
            shape = tuple(self.lhs.shape)
            return balls(lhs.expand(shape)), balls(rhs.expand(shape))
        return balls(self.lhs), balls(self.rhs)

    def strengthened(self, by: float = tolerances.STRENGTHENING) -> Relation:
        """The derived mutant: a bound tightened by a fraction `by` of its right side.

        An identity is moved by that fraction of the larger side, or of `scale` if that is larger,
        so that `x = 0` can fail too.
        """
        if self.exact:
            return replace(
                self, rhs=self.rhs - 1 if self.kind == "leq" else self.rhs + 1, integers=None
            )
        if self.kind == "leq":
            return replace(self, rhs=self.rhs - by * self.rhs.abs())
        size = torch.maximum(self.lhs.abs(), self.rhs.abs())
        if self.scale is not None:
            size = torch.maximum(size, torch.as_tensor(self.scale).abs())
        return replace(self, rhs=self.rhs + by * size)

    def over(self, batch: tuple[int, ...]) -> Relation:
        """The same relation, with constant sides expanded to the batch axes."""
        if self.lhs.ndim >= len(batch):
            return self
        return replace(self, lhs=self.lhs.expand(batch), rhs=self.rhs.expand(batch))


def leq(
    lhs: Array | Number,
    rhs: Array | Number,
    *,
    label: str = "",
    where: Any | None = None,
    scale: Array | None = None,
    error: Array | None = None,
    terms: int = tolerances.TERMS,
) -> Relation:
    """Assert `lhs <= rhs`; see `Relation` for the keywords and `tolerances` for the band.

    Raises:
        TypeError: if neither side is an array, nor both an integer.
        ValueError: if the shapes do not broadcast.
    """
    return _relation("leq", lhs, rhs, label, where, scale, error, terms)


def eq(
    lhs: Array | Number,
    rhs: Array | Number,
    *,
    label: str = "",
    where: Any | None = None,
    scale: Array | None = None,
    error: Array | None = None,
    terms: int = tolerances.TERMS,
) -> Relation:
    """Assert `lhs == rhs`; see `Relation` for the keywords and `tolerances` for the band.

    Raises:
        TypeError: if neither side is an array, nor both an integer.
        ValueError: if the shapes do not broadcast.
    """
    return _relation("eq", lhs, rhs, label, where, scale, error, terms)


def _relation(
    kind: Literal["leq", "eq"],
    lhs: Array | Number,
    rhs: Array | Number,
    label: str,
    where: Any | None,
    scale: Array | None,
    error: Array | None,
    terms: int,
) -> Relation:
    like: Array | None = next((s for s in (lhs, rhs) if is_ball(s)), None)
    if like is None:
        like = next((s for s in (lhs, rhs) if isinstance(s, torch.Tensor)), None)
    if like is None:
        if not (isinstance(lhs, int) and isinstance(rhs, int)):
            raise TypeError(
                "a relation compares arrays, or two integers; "
                f"received {type(lhs).__name__} and {type(rhs).__name__}"
            )
        return _integers(kind, lhs, rhs, label, where)
    lhs, rhs = _as_array(lhs, like), _as_array(rhs, like)
    try:
        shape = torch.broadcast_shapes(tuple(lhs.shape), tuple(rhs.shape))
    except RuntimeError as error_:
        raise ValueError(
            f"the sides of a relation broadcast to one shape; received {tuple(lhs.shape)} "
            f"and {tuple(rhs.shape)}"
        ) from error_
    return Relation(kind, lhs.expand(shape), rhs.expand(shape), scale, error, terms, where, label)


def _integers(kind: Literal["leq", "eq"], lhs: int, rhs: int, label: str, where: Any) -> Relation:
    """A relation between two Python integers of any size."""
    shown = lhs, rhs
    if max(abs(lhs), abs(rhs)) >= LIMIT:
        # The sign of the difference decides both relations, and survives the cut.
        lhs, rhs = _clipped(lhs - rhs), 0
    sides = torch.tensor(lhs), torch.tensor(rhs)
    return Relation(kind, *sides, where=where, label=label, integers=shown)


def _clipped(value: int) -> int:
    return max(-LIMIT, min(LIMIT, value))


def _as_array(side: Array | Number, like: Array) -> Array:
    if is_ball(like):
        return balls(side)
    if isinstance(side, torch.Tensor):
        return side
    if isinstance(side, int) and not like.dtype.is_floating_point:
        side = _clipped(side)
    dtype = torch.float64 if isinstance(side, float | Fraction) else like.dtype
    return torch.as_tensor(
        float(side) if dtype.is_floating_point else side, dtype=dtype, device=like.device
    )


def _widen(condition: torch.Tensor, like: Array) -> torch.Tensor:
    """Give a condition of shape `(*B)` the trailing axes of `like`."""
    extra = like.ndim - condition.ndim
    if (
        extra > 0
        and condition.ndim
        and tuple(condition.shape) == tuple(like.shape)[: condition.ndim]
    ):
        condition = condition.reshape(condition.shape + (1,) * extra)
    return condition.expand(tuple(like.shape))
