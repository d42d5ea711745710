"""What a claim body returns: `leq(lhs, rhs)`, `lt(lhs, rhs)` or `eq(lhs, rhs)`.

A relation holds two sides, of shape `(*B)` or wider (further axes are entries of one instance: the
relation has to hold in all of them). It measures how far the sides are from satisfying it, and
leaves the verdict to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, NoReturn, TypedDict, Unpack, cast

import numpy as np
import torch

from rankcheck.balls import BallArray, balls, is_ball
from rankcheck.claims import tolerances
from rankcheck.claims.signs import SIGNS, RelationKind
from rankcheck.theory.instances.source import truth
from rankcheck.theory.linalg import Array, Number

#: The integers that a tensor can hold.
SMALLEST, LARGEST = -(2**63), 2**63 - 1


class NoTruthValue(TypeError):
    """Python asked whether a relation is true."""


@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """`lhs <= rhs`, `lhs < rhs` or `lhs == rhs`, entry by entry, where `where` is true.

    A relation has no truth value of its own: `and`, `or`, `not`, `if`, `all` and `any` of relations
    raise `NoTruthValue`.

    Attributes:
        lhs, rhs: the two sides, broadcast to one shape.
        scale: the size of what cancelled on the way to them, or None.
        error: an absolute error of the sides that comes from rounding, or None.
        terms: how many operations stand behind one side.
        where: the hypothesis under which the relation is asserted, or None.
        label: which of several statements of the claim this is.
        integers: for each side, the Python integer that a tensor cannot hold, or None. `lhs` and
            `rhs` then have the nearest number that it can.
    """

    kind: RelationKind
    lhs: Array
    rhs: Array
    scale: Array | None = None
    error: Array | None = None
    terms: int = tolerances.TERMS
    where: Any | None = None
    label: str = ""
    integers: tuple[int | None, int | None] = (None, None)

    def __repr__(self) -> str:
        """Both sides, and whether they satisfy it; of many entries, how many do not."""
        label, sign = f"{self.label}: " if self.label else "", SIGNS[self.kind].holds
        entries, in_balls = self.lhs.numel(), is_ball(self.lhs) or is_ball(self.rhs)
        if entries != 1:
            sides = f"{sign} at {entries} entries"
        elif in_balls:
            left, right = (side.describe(6) for side in self.sides())
            sides = f"lhs {left} {sign} rhs {right}"
        else:
            sides = f"lhs {float(self.lhs):.6g} {sign} rhs {float(self.rhs):.6g}"
        if in_balls:
            return f"<{label}{sides}>"
        asserted, failing = int(self.asserted.sum()), int(self.violated().sum())
        return f"<{label}{sides}, fails at {failing} of {asserted} that are asserted>"

    def __bool__(self) -> NoReturn:
        raise NoTruthValue(
            "a relation is asked whether it is true; it has no truth value, so return a tuple of "
            "relations for `and`, leq(torch.minimum(a, b), 0) for `a <= 0 or b <= 0`, and where= "
            "takes the place of `if`"
        )

    @property
    def excess(self) -> Array:
        """How far the relation is from holding: `lhs - rhs`, or its absolute value for `eq`.

        Between integers it is exact up to 2⁶³ - 1, and no larger.
        """
        difference = self._integer_difference() if self.exact else self.lhs - self.rhs
        return difference.abs() if self.kind == "eq" else difference

    @property
    def size(self) -> Array:
        """The larger side in absolute value; a float between integers."""
        lhs, rhs = (self.lhs.double(), self.rhs.double()) if self.exact else (self.lhs, self.rhs)
        return torch.maximum(lhs.abs(), rhs.abs())

    @property
    def proportions(self) -> tuple[Array, Array]:
        """Both sides as floats whose quotient and relative distance are those of the sides.

        Where a Python integer was cut, both are in units of the larger one, of any size.
        """
        if not self.exact:
            return self.lhs, self.rhs
        left, right = self.integers
        unit = max(abs(left or 0), abs(right or 0))
        return _per(unit, self.lhs, left), _per(unit, self.rhs, right)

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
        return widened(self.where, tuple(self.lhs.shape))

    def violated(self) -> torch.Tensor:
        """Where the relation fails by more than the tolerance.

        A strict one fails wherever floats do not satisfy it, at equality too: its tolerance excuses
        nothing, and ball arithmetic tells what is rounding. A NaN on a side counts as a failure,
        and so does an infinite side on the wrong end, or an infinite tolerance.
        """
        excess = self.excess
        if SIGNS[self.kind].strict:
            return ~(excess < 0) & self.asserted
        tolerance = self.tolerance
        holds = (excess <= tolerance) & torch.isfinite(tolerance) | (excess == -torch.inf)
        return ~holds & self.asserted

    def beyond(self, *, relative: bool = True) -> torch.Tensor:
        """By entry, how far a violation lies beyond equality, by default relative to the sides.

        It is -inf where the relation is not violated, and inf where a side is not a number.
        """
        amount = self.excess.double()
        if relative:
            amount = amount / self.size.double().clamp(min=1e-300)
        amount = torch.where(amount.isnan(), torch.inf, amount)
        return torch.where(self.violated(), amount, -torch.inf)

    def sides(self) -> tuple[BallArray, BallArray]:
        """Both sides as balls; Python integers of any size are exact."""
        left, right = self.integers
        return _exactly(self.lhs, left), _exactly(self.rhs, right)

    def strengthened(self) -> Relation:
        """The derived mutant: a bound tightened by a fraction of its right side, `STRENGTHENING`.

        An identity is moved by that fraction of the larger side, or of `scale` if that is larger,
        so that `x = 0` can fail too. Between integers a side moves by one.
        """
        if self.exact:
            return self._moved(1 if self.kind == "eq" else -1)
        by = tolerances.STRENGTHENING
        if SIGNS[self.kind].bound:
            return replace(self, rhs=self.rhs - by * self.rhs.abs())
        size = self.size
        if self.scale is not None:
            scale = self.scale if is_ball(self.scale) else torch.as_tensor(self.scale)
            size = torch.maximum(size, scale.abs())
        return replace(self, rhs=self.rhs + by * size)

    def spread(self) -> Relation:
        """The same relation of an instance, with all of its arrays in the shape of the sides.

        It can then be put beside the relations of other instances.
        """
        shape = tuple(self.lhs.shape)
        return self.map(lambda array: widened(array, shape))

    @property
    def arrays(self) -> dict[str, torch.Tensor]:
        """The arrays by their fields."""
        return {
            field.name: value
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), torch.Tensor)
        }

    def with_arrays(self, arrays: Mapping[str, torch.Tensor]) -> Relation:
        """The same relation with other arrays, by their fields."""
        changes: dict[str, Any] = dict(arrays)
        return replace(self, **changes)

    def map(self, change: Callable[[torch.Tensor], torch.Tensor]) -> Relation:
        """The same relation with its arrays changed."""
        return self.with_arrays({name: change(array) for name, array in self.arrays.items()})

    @property
    def form(self) -> tuple[Any, ...]:
        """What is the same of all relations that can be put beside one another."""
        others = (value for name, value in vars(self).items() if name not in self.arrays)
        kinds = ((name, array.dtype, tuple(array.shape)) for name, array in self.arrays.items())
        return (*others, *kinds)

    def _integer_difference(self) -> torch.Tensor:
        """`lhs - rhs` of integers, cut to what a tensor can hold; its sign is right."""
        lhs, rhs = self.lhs, self.rhs
        difference = lhs - rhs
        wrapped = ((lhs ^ rhs) & (lhs ^ difference)) < 0
        difference = torch.where(wrapped, torch.where(lhs < 0, -LARGEST, LARGEST), difference)
        difference = difference.clamp(min=-LARGEST)
        # What the sides leave of a Python integer has the sign of the difference, if that has one.
        left = [0 if big is None else big - _clipped(big) for big in self.integers]
        more = max(-LARGEST, min(LARGEST, left[0] - left[1]))
        room = (LARGEST - difference.abs()).clamp(max=abs(more))
        return difference + (room if more > 0 else -room)

    def _moved(self, by: int) -> Relation:
        """A relation of integers with its right side moved by one, inside their range."""
        lhs, rhs = self.integers
        if rhs is not None:
            return replace(self, integers=(lhs, rhs + by))
        end = LARGEST if by > 0 else SMALLEST
        return replace(self, rhs=torch.where(self.rhs == end, self.rhs, self.rhs + by))


class Options(TypedDict, total=False):
    """The keywords of `leq`, `lt` and `eq`; see `Relation`, and `tolerances` for the band."""

    label: str
    where: Any | None
    scale: Array | None
    error: Array | None
    terms: int


def leq(lhs: Array | Number, rhs: Array | Number, **options: Unpack[Options]) -> Relation:
    """Assert `lhs <= rhs`; the keywords are `Options`.

    Raises:
        TypeError: if a side is no number, or `where` no truth value.
        ValueError: if the shapes do not broadcast, or `where` fits the sides in two ways.
    """
    return _relation("leq", lhs, rhs, **options)


def lt(lhs: Array | Number, rhs: Array | Number, **options: Unpack[Options]) -> Relation:
    """Assert `lhs < rhs`; the keywords are `Options`.

    Equal sides refute it. Where floats are equal or in the wrong order, balls decide: sides that
    differ by less than the smallest balls can tell are undecided, unless both are exact.

    Raises:
        TypeError: as `leq`.
        ValueError: as `leq`.
    """
    return _relation("lt", lhs, rhs, **options)


def eq(lhs: Array | Number, rhs: Array | Number, **options: Unpack[Options]) -> Relation:
    """Assert `lhs == rhs`; the keywords are `Options`.

    Raises:
        TypeError: as `leq`.
        ValueError: as `leq`.
    """
    return _relation("eq", lhs, rhs, **options)


def _relation(
    kind: RelationKind,
    lhs: Array | Number,
    rhs: Array | Number,
    *,
    label: str = "",
    where: Any | None = None,
    scale: Array | None = None,
    error: Array | None = None,
    terms: int = tolerances.TERMS,
) -> Relation:
    where = None if where is None else truth(where, "where=").detach()
    for side in (lhs, rhs):
        if not (is_ball(side) or isinstance(side, torch.Tensor | Real)):
            raise TypeError(f"a side is {side!r:.60}; it is an array of torch, or a real number")
    like: Array | None = next((s for s in (lhs, rhs) if is_ball(s)), None)
    if like is None:
        like = next((s for s in (lhs, rhs) if isinstance(s, torch.Tensor)), None)
    if like is None:
        whole = isinstance(lhs, int) and isinstance(rhs, int)
        like = torch.tensor(0, dtype=torch.int64 if whole else torch.float64)
    big = _too_big(lhs, like), _too_big(rhs, like)
    lhs, rhs = _as_array(lhs, like), _as_array(rhs, like)
    try:
        # numpy's, because torch's imports sympy for symbolic shapes.
        shape = np.broadcast_shapes(tuple(lhs.shape), tuple(rhs.shape))
    except ValueError as error_:
        raise ValueError(
            f"the sides of a relation broadcast to one shape; received {tuple(lhs.shape)} "
            f"and {tuple(rhs.shape)}"
        ) from error_
    lhs, rhs = lhs.expand(shape), rhs.expand(shape)
    given = () if where is None else tuple(where.shape)
    if 0 < len(given) < len(shape) and given == shape[: len(given)] == shape[-len(given) :]:
        raise ValueError(
            f"where= has the shape {given}, which are the first and the last axes of the sides "
            f"{shape}; it has as many axes as the sides, such as where[:, None] or where[None]"
        )
    if SIGNS[kind].bound and (lhs.dtype.is_complex or rhs.dtype.is_complex):
        raise TypeError(
            "a side of a bound is complex; bounds compare real numbers, as .abs() and .real"
        )
    for name, band in (("scale", scale), ("error", error), ("terms", terms)):
        if not (band is None or is_ball(band) or isinstance(band, torch.Tensor | Real)):
            raise TypeError(f"{name}= is {band!r:.80}; it is an array, or a number")
    return Relation(kind, lhs, rhs, scale, error, terms, where, label, integers=big)


def _clipped(value: int) -> int:
    return max(SMALLEST, min(LARGEST, value))


def _per(unit: int, side: torch.Tensor, integer: int | None) -> torch.Tensor:
    """An integer side as doubles, in units of an integer of any size; 0 stands for 1."""
    share = Fraction(1, unit or 1)
    if integer is None:
        return side.double() * float(share)
    return torch.full_like(side, float(integer * share), dtype=torch.float64)


def _too_big(side: Array | Number, like: Array) -> int | None:
    """A Python integer that meets a tensor of integers and does not fit one."""
    if not isinstance(side, int) or is_ball(like) or like.dtype.is_floating_point:
        return None
    return None if _clipped(side) == side else side


def _as_array(side: Array | Number, like: Array) -> Array:
    """A side as balls, floats, or integers of 64 bits."""
    if is_ball(like):
        return balls(side)
    if isinstance(side, torch.Tensor):
        if side.dtype == torch.uint64:
            raise TypeError(
                "a side is of uint64, which torch does not compare; integers are at most int64"
            )
        return side if side.is_floating_point() or side.is_complex() else side.long()
    if isinstance(side, int) and not like.dtype.is_floating_point:
        return torch.tensor(_clipped(side), device=like.device)
    dtype = like.dtype if isinstance(cast(Any, side), Integral) else torch.float64
    return torch.as_tensor(_as_float(side), dtype=dtype, device=like.device)


def _as_float(side: Number) -> float:
    try:
        return float(side)
    except OverflowError:
        return torch.inf if side > 0 else -torch.inf


def _exactly(side: Array, integer: int | None) -> BallArray:
    """A side as balls; where it was cut, the Python integer that it was cut from."""
    exact = balls(side if integer is None else integer)
    return cast(BallArray, exact.expand(tuple(side.shape)))


def widened(array: Any, shape: tuple[int, ...]) -> Any:
    """Give an array of shape `(*B)` the trailing axes of a shape, or broadcast it.

    Raises:
        ValueError: if it does not fit the shape.
    """
    extra = len(shape) - array.ndim
    if extra < 0 and array.numel() == 1:
        array = array.reshape(())
    elif extra < 0:
        raise ValueError(
            f"where=, scale=, error= and terms= have the shape of the sides, {shape}, or fewer "
            f"axes; received {tuple(array.shape)}"
        )
    if extra > 0 and array.ndim and tuple(array.shape) == shape[: array.ndim]:
        array = array.reshape((*array.shape, *(1,) * extra))
    return array.expand(shape)
