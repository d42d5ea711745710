"""What a claim body returns: `leq(lhs, rhs)` and `eq(lhs, rhs)`.

A relation holds two sides, of shape `(*B)` or wider (further axes are entries of one instance: the
relation is to hold in all of them). It measures; it never raises. Whoever drives the body decides
what to do about a violation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import torch

from rankcheck.balls import balls, is_ball
from rankcheck.claims import tolerances
from rankcheck.linalg import Array, Number


@dataclass(frozen=True, eq=False)
class Relation:
    """`lhs <= rhs` or `lhs == rhs`, entry by entry, where `where` is true.

    Attributes:
        lhs, rhs: the two sides, broadcast to one shape.
        scale: the size of what cancelled on the way to them, or None.
        error: an absolute error of the sides that rounding can explain, or None.
        terms: how many operations stand behind one side.
        where: the hypothesis under which the relation is asserted, or None.
        label: which of several statements of the claim this is.
    """

    kind: Literal["leq", "eq"]
    lhs: Array
    rhs: Array
    scale: Array | None = None
    error: Array | None = None
    terms: int = tolerances.TERMS
    where: Any | None = None
    label: str = ""

    @property
    def excess(self) -> Array:
        """How far the relation is from holding: `lhs - rhs`, or its absolute value for `eq`."""
        difference = self.lhs - self.rhs
        return difference if self.kind == "leq" else difference.abs()

    @property
    def tolerance(self) -> torch.Tensor:
        """The numerical band in which a violation is none; zero between integers."""
        if self.exact:
            return torch.zeros_like(self.lhs)
        return tolerances.tolerance(self.lhs, self.rhs, self.scale, self.error, self.terms)

    @property
    def exact(self) -> bool:
        """Whether both sides are integers, which have no rounding error."""
        return not any(
            is_ball(side) or side.is_floating_point() for side in (self.lhs, self.rhs)
        )

    @property
    def asserted(self) -> torch.Tensor:
        """Where the relation is asserted at all, of the shape of the sides."""
        if self.where is None:
            return torch.ones(tuple(self.lhs.shape), dtype=torch.bool, device=self.lhs.device)
        return _widen(torch.as_tensor(self.where), self.lhs)

    def violated(self) -> torch.Tensor:
        """Where the relation fails by more than the tolerance; a NaN on a side is a failure.

        So is a side that overflows to the wrong end, and a tolerance that does: it allows anything.
        """
        excess, tolerance = self.excess, self.tolerance
        holds = (excess <= tolerance) & torch.isfinite(tolerance) | (excess == -torch.inf)
        return ~holds & self.asserted

    def strengthened(self, by: float = tolerances.STRENGTHENING) -> Relation:
        """The derived mutant: a bound tightened by a small factor of itself, an identity moved.

        An identity moves by that factor of what it compares, `scale` included: so `x = 0` can fail.
        """
        if self.exact:
            return replace(self, rhs=self.rhs - 1 if self.kind == "leq" else self.rhs + 1)
        if self.kind == "leq":
            return replace(self, rhs=self.rhs - by * self.rhs.abs())
        size = torch.maximum(self.lhs.abs(), self.rhs.abs())
        if self.scale is not None:
            size = torch.maximum(size, torch.as_tensor(self.scale).abs())
        return replace(self, rhs=self.rhs + by * size)

    def over(self, batch: tuple[int, ...]) -> Relation:
        """The same relation with sides that carry the batch axes, where they are constants."""
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
        like = lhs = torch.tensor(lhs)
    lhs, rhs = _as_array(lhs, like), _as_array(rhs, like)
    try:
        shape = torch.broadcast_shapes(tuple(lhs.shape), tuple(rhs.shape))
    except RuntimeError as error_:
        raise ValueError(
            f"the sides of a relation broadcast to one shape; received {tuple(lhs.shape)} "
            f"and {tuple(rhs.shape)}"
        ) from error_
    return Relation(kind, lhs.expand(shape), rhs.expand(shape), scale, error, terms, where, label)


def _as_array(side: Array | Number, like: Array) -> Array:
    if is_ball(like):
        return balls(side)
    if isinstance(side, torch.Tensor):
        return side
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
