"""Whether a claim says of each instance of a batch what it says of the instance alone.

A body or a generator that mixes the instances of a batch, as `A.norm()` and `Y.mean(0)` do, puts
another statement to the test than the one that is written. So before a claim is searched, a small
batch is compared with its instances one at a time, and with the same instances beside others.
Evaluating twice under different global seeds, and comparing the arguments before and after, shows a
body that is random or that changes its arguments.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.claims.labels import relation_name
from rankcheck.errors import InputError, short_of_memory
from rankcheck.instances.record import Entries, Record
from rankcheck.instances.source import (
    BatchSource,
    Instances,
    Rejected,
    ReplaySource,
    Source,
    seed_of,
)
from rankcheck.verification.branches import BatchError, check_branches
from rankcheck.verification.randomness import seeded

__all__ = ["BatchError", "check_batching"]

#: Instances in a batch, and how many of them are evaluated alone.
SIZE, ALONE = 7, 3
#: Instances of that batch that are evaluated beside one another only, repeated to fill a batch.
OTHERS = ((2, 1, 0, 2, 1, 0, 2), (6, 5, 4, 3, 6, 5, 4))
#: Batches that are drawn, until one has an instance inside the hypotheses that does not raise.
#: The first half of them have entries in [-2, 2], where the ranges allow it.
ATTEMPTS = 8
#: Seeds of the global generators under which what is random differs; and where a body seems to mix.
SEEDS, MORE_SEEDS = range(1, 4), range(4, 68)
#: Differences up to this, relative to the numbers that are compared, are rounding.
RELATIVE = 1e-6
#: So are differences up to this multiple of the tolerance of a relation, and
TOLERANCES = 64.0
#: up to this multiple of what the instance changes in so many moves of its entries, by up to this.
#: Where the sides cancel and last digits are left, most moves may leave these as they are.
MOVED, MOVES, DISTANCE = 8.0, 64, 2.0**-30
#: A number in a message is written with so many digits.
DIGITS = 9


def check_batching(claim: Claim, seed: int = 0) -> None:
    """Check that the body and the generators of a claim are functions of one instance.

    Compared are the arguments that a generator makes, its hypotheses, and the sides, tolerance and
    `where` of each relation: at one discrete shape with random entries, and of `claim.instances` at
    another with small integers. A correct body is not accused: a difference counts only if it
    exceeds rounding, and if the instance does not change as much when its entries move by 2⁻³⁰, as
    it does at a kink or where a rank is on its edge. Instances on which the body raises are left to
    the search.

    A claim with `no_batch` is only checked for randomness and for changes of its arguments. A cited
    claim has nothing to check.

    Raises:
        BatchError: if they are not.
        MemoryError or what else says so: if memory is short for a batch and not for its instances.
        ClaimError: if the body returns anything but relations.
    """
    for family, grids in ((claim.instances, (False, True)), (claim.tight, (False,))):
        if family is None:
            continue
        for grid in grids if claim.no_batch is None else (False,):
            for attempt in range(ATTEMPTS):
                key = seed_of("batching", seed, claim.id, family.name, grid, attempt)
                if _Check(claim, family).run(key, grid, attempt >= ATTEMPTS // 2):
                    break


@dataclass(frozen=True)
class Place:
    """A tensor among what is compared: its name for a person, and what differences are rounding."""

    name: str
    values: torch.Tensor
    tolerance: torch.Tensor | None = None


@dataclass(frozen=True)
class Values:
    """What the evaluation of a source gave.

    Attributes:
        places: the arguments, then the relations; of a rejected instance only the arguments.
        error: what was raised instead.
        valid: the hypotheses, of the shape of the batch.
    """

    places: tuple[Place, ...]
    valid: torch.Tensor
    error: Exception | None = None
    rejected: bool = False

    def inside(self, index: int) -> bool:
        """Whether the instance, or that of a batch, satisfies the hypotheses."""
        return not self.rejected and bool(self.valid[index] if self.valid.ndim else self.valid)


class _Check:
    """The comparisons of one family of a claim at one discrete shape."""

    def __init__(self, claim: Claim, family: Instances) -> None:
        self.claim = claim
        self.family = family

    def run(self, seed: int, grid: bool, wide: bool) -> bool:
        """Draw a batch and compare it; returns whether it had an instance to compare."""
        batched = self.claim.no_batch is None
        make = partial(_Simple, seed, SIZE if batched else None, grid, wide)
        source = make()
        with seeded(0):
            first = self.evaluate(source)
        if batched:
            for record, batch in ((source.record, (SIZE,)), (source.record.instance(0), ())):
                check_branches(self.claim, self.family, record, batch)
        self.kept_draws(source)
        self.check_random(first, make, SEEDS)
        if not batched:
            return first.error is None and not first.rejected
        try:
            return self.check_mixing(source, first, grid)
        except BatchError:
            self.check_random(first, make, MORE_SEEDS)
            raise

    def check_mixing(self, source: _Simple, first: Values, grid: bool) -> bool:
        """Compare a batch with its instances; returns whether it had one to compare."""
        record = _clone(source.record)
        if first.error is not None:
            good = self.good(record, first.error)
            if not len(good):
                return False
            record = record.select(good)
            first = self.evaluate(ReplaySource(_clone(record), batch=(SIZE,)))
            if first.error is not None:
                _pass_if_short(first.error)
                raise self.error(
                    f"a batch of {SIZE} instances raised {_said(first.error)}, and each of them "
                    "alone does not"
                )
        inside = first.valid.nonzero().reshape(-1).tolist()
        if not grid:
            self.compare_neighbours(first, record)
        for index in inside[-1:] if grid else inside[-ALONE:]:
            self.compare_alone(first, record, index)
        return bool(inside)

    def kept_draws(self, source: _Simple) -> None:
        """Check that the generator has not changed what it drew."""
        for drawn, now in zip(source.drawn, source.record.tensors, strict=True):
            if not torch.equal(drawn, now):
                raise self.error(
                    f"the generator changed a tensor that it drew{_first(now, drawn)}; the record "
                    "of an instance is what was drawn, so write A * 2 and not A.mul_(2)",
                    mend=False,
                )

    def evaluate(self, source: Source) -> Values:
        """The arguments, hypotheses and relations that a source gives.

        Raises:
            BatchError: if the generator or the body changes its arguments.
        """
        places: tuple[Place, ...] = ()
        try:
            instance = self.family(source)
            arguments = self.arguments(instance)
            before = tuple(place.values.detach().clone() for place in arguments)
            places = arguments
            relations = self.claim.relations(instance)
        except Rejected:
            return Values(places, torch.tensor(False), rejected=True)
        except (InputError, ClaimError):
            raise
        except Exception as error:
            return Values(places, source.valid, error)
        self.unchanged(places, before)
        try:
            places += tuple(self.sides(relations, source.batch))
        except BatchError:
            raise
        except Exception as error:
            return Values(places, source.valid, error)
        return Values(places, source.valid)

    def arguments(self, instance: tuple[Any, ...]) -> tuple[Place, ...]:
        names = self.claim.arguments
        if len(names) != len(instance):
            names = tuple(f"argument {number}" for number in range(1, len(instance) + 1))
        return tuple(
            place
            for name, part in zip(names, instance, strict=True)
            for place in _leaves(name, part)
        )

    def sides(self, relations: tuple[Any, ...], batch: tuple[int, ...]) -> Iterator[Place]:
        for number, relation in enumerate(relations):
            name = relation_name(relation.label, number)
            spread = relation.over(batch)
            for side in (relation.lhs, relation.rhs):
                if batch and side.ndim and tuple(side.shape[:1]) != batch:
                    raise self.error(
                        f"the sides of {name} have the shape {tuple(side.shape)} for a batch of "
                        f"{batch[0]} instances; the batch comes first, ({batch[0]}, …)"
                    )
            band = spread.tolerance.detach()
            yield Place(f"lhs of {name}", spread.lhs.detach(), band)
            yield Place(f"rhs of {name}", spread.rhs.detach(), band)
            yield Place(f"tolerance of {name}", band)
            yield Place(f"where= of {name}", spread.asserted.detach())

    def unchanged(self, places: tuple[Place, ...], before: tuple[torch.Tensor, ...]) -> None:
        for place, old in zip(places, before, strict=True):
            new = place.values.detach()
            if new.shape != old.shape or not bool(((new == old) | (new != new)).all()):
                differs = _first(new, old)
                raise self.error(
                    f"the body changed its argument {place.name}{differs}; a body leaves its "
                    "arguments as they are, so write A * 2 and not A.mul_(2)",
                    mend=False,
                )

    def check_random(self, first: Values, make: Callable[[], Source], seeds: range) -> None:
        """Evaluate the same draws again under other seeds of the global generators."""
        for seed in seeds:
            with seeded(seed):
                self.same(first, self.evaluate(make()))

    def same(self, first: Values, again: Values) -> None:
        """Two evaluations of the same instances."""
        if (first.error is None) != (again.error is None):
            error = first.error or again.error
            _pass_if_short(error)
            raise self.error(
                f"of two evaluations on the same instances one raised {_said(error)}, so something "
                "is random; a body and a generator are functions of what is drawn from the source",
                mend=False,
            )
        if first.error is not None:
            return
        if len(first.places) != len(again.places) or not torch.equal(first.valid, again.valid):
            raise self.error(
                "the same instances satisfy other hypotheses, or give other relations, when they "
                "are evaluated again, so something is random; a body and a generator are functions "
                "of what is drawn from the source",
                mend=False,
            )
        for one, two in zip(first.places, again.places, strict=True):
            bands = (one.tolerance, two.tolerance)
            at = None
            if one.values.shape == two.values.shape:
                at = _differs(one.values, two.values, *bands)
                if at is None:
                    continue
            raise self.error(
                f"{one.name} is {_figure(one.values, at)}, and {_figure(two.values, at)} when the "
                "same instances are evaluated again, so it is random or has a memory; a body and a "
                "generator are functions of what is drawn from the source, and of nothing else",
                mend=False,
            )

    def good(self, record: Record, error: Exception) -> torch.Tensor:
        """Of a batch that raises, SIZE indices of instances that do not raise alone.

        Empty if there are none, or the batch raised before everything was drawn.
        """
        if isinstance(error, Rejected) or any(len(t) != SIZE for t in record.tensors):
            return torch.empty(0, dtype=torch.long)
        alone = [self.alone(record, index) for index in range(SIZE)]
        kept = [i for i, one in enumerate(alone) if one.error is None and not one.rejected]
        return torch.tensor([kept[i % len(kept)] for i in range(SIZE)] if kept else [])

    def compare_neighbours(self, first: Values, record: Record) -> None:
        """The same instances beside other neighbours."""
        for others in OTHERS:
            index = torch.tensor(others)
            values = self.evaluate(ReplaySource(_clone(record.select(index)), batch=(SIZE,)))
            if values.error is not None:
                _pass_if_short(values.error)
                raise self.error(
                    f"a batch of {SIZE} instances raised {_said(values.error)}, and another batch "
                    "with the same instances does not"
                )
            pairs = list(zip(first.places, values.places, strict=False))
            if (
                len(pairs) == len(first.places) == len(values.places)
                and torch.equal(first.valid[index], values.valid)
                and all(
                    one.values.shape == two.values.shape
                    and torch.equal(one.values[index] if _spread(one) else one.values, two.values)
                    for one, two in pairs
                )
            ):
                continue
            for place, index_ in enumerate(others):
                self.compare(first, values, index_, place, record, "beside other instances")

    def compare_alone(self, first: Values, record: Record, index: int) -> None:
        """An instance in its batch, and alone."""
        alone = self.alone(record, index)
        if alone.error is not None:
            if bool(first.valid[index]):
                _pass_if_short(alone.error)
                raise self.error(
                    f"an instance without batch axes raised {_said(alone.error)}, and a batch of "
                    f"{SIZE} instances does not; a body takes an instance with and without "
                    "batch axes"
                )
            return
        self.compare(first, alone, index, None, record, "alone")

    def alone(self, record: Record, index: int) -> Values:
        return self.evaluate(ReplaySource(_clone(record.instance(index))))

    def compare(
        self,
        first: Values,
        second: Values,
        index: int,
        other: int | None,
        record: Record,
        how: str,
    ) -> None:
        valid, inside = first.inside(index), second.inside(other or 0)
        if valid != inside and not self.on_edge(record, index, None, 1.0):
            figures = ("outside", "inside")
            raise self.error(
                f"an instance is {figures[valid]} the hypotheses in a batch of {SIZE}, and "
                f"{figures[inside]} {how}"
            )
        if not (valid and inside):
            return
        if len(first.places) != len(second.places):
            raise self.error(
                f"a batch of {SIZE} instances gives {len(first.places)} tensors, arguments and "
                f"sides together, and an instance {how} {len(second.places)}"
            )
        for number, (batch, one) in enumerate(zip(first.places, second.places, strict=True)):
            here = _member(batch, index, one.values, other is None)
            there = one if other is None else _member(one, other, here.values, False)
            try:
                a, b = torch.broadcast_tensors(here.values, there.values)
            except RuntimeError:
                raise self.error(
                    f"{batch.name} has the shape {tuple(batch.values.shape)} for a batch of {SIZE} "
                    f"instances, and {tuple(one.values.shape)} {how}"
                ) from None
            at = _differs(a, b, here.tolerance, there.tolerance)
            if at is None:
                continue
            difference = _gap(a, b, at)
            if self.on_edge(record, index, number, difference):
                continue
            raise self.error(
                f"{batch.name} is {_figure(a, at)} for an instance in a batch of {SIZE}, and "
                f"{_figure(b, at)} for the same instance {how}"
            )

    def on_edge(self, record: Record, index: int, number: int | None, difference: float) -> bool:
        """Whether an instance changes about as much when its entries move a little.

        It is moved alone, and in its batch, in which the others stay as they are.

        Args:
            number: the place that is looked at; None for the hypotheses.
            difference: what has to be explained.
        """
        instance = record.instance(index)
        generator = torch.Generator().manual_seed(index)
        alone, within = self.alone(record, index), self.within(record, index, instance)
        for _ in range(MOVES):
            moved = _moved(instance, generator)
            for first, now in (
                (alone, self.evaluate(ReplaySource(moved))),
                (within, self.within(record, index, moved)),
            ):
                inside = first.inside(index), now.inside(index)
                if first.error is not None or now.error is not None or inside[0] != inside[1]:
                    return True
                if number is None:
                    continue
                if not all(inside) or len(first.places) != len(now.places):
                    return True
                a, b = first.places[number], now.places[number]
                if first is within:
                    a, b = (_member(place, index, place.values, False) for place in (a, b))
                if a.values.shape != b.values.shape:
                    return True
                if MOVED * _largest(a.values, b.values) >= difference:
                    return True
        return False

    def within(self, record: Record, index: int, instance: Record) -> Values:
        """A batch of which one instance is replaced."""
        tensors = [tensor.detach().clone() for tensor in record.tensors]
        for tensor, entries in zip(tensors, instance.tensors, strict=True):
            tensor[index] = entries
        return self.evaluate(ReplaySource(record.with_tensors(tensors), batch=(SIZE,)))

    def error(self, what: str, *, mend: bool = True) -> BatchError:
        rule = (
            ". Nothing of an instance may depend on the others of its batch: reduce the last axes "
            'only (dim=-1, dim=(-2, -1)), or give the claim no_batch="why"'
            if mend
            else ""
        )
        return BatchError(f"{self.claim.id}, with {self.family}: {what}{rule}")


class _Simple(BatchSource):
    """Small integers, or random entries without zeros and ties; large shapes rather than small.

    Where the range holds no two integers, small integers are sixteenths of it.
    """

    def __init__(self, seed: int, size: int | None, grid: bool, wide: bool) -> None:
        super().__init__(seed, size)
        self._grid, self._wide = grid, wide
        #: Copies of the tensors that were drawn.
        self.drawn: list[torch.Tensor] = []

    def _integer(self, low: int, high: int) -> int:
        return max(super()._integer(low, high), super()._integer(low, high))

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        uniform = torch.rand(*self.batch, *shape, dtype=torch.float64, generator=self._generator)
        near = (max(low, -2.0), min(high, 2.0))
        first, last = near if near[0] < near[1] and not self._wide else (low, high)
        if not self._grid:
            values = first + (last - first) * uniform
        elif math.floor(last) > math.ceil(first):
            first, last = math.ceil(first), math.floor(last)
            values = first + torch.floor(uniform * (last - first + 1))
        else:
            values = first + (last - first) * torch.round(uniform * 16) / 16
        self.drawn.append(values.clone())
        return values


def _leaves(name: str, part: Any, depth: int = 0) -> Iterator[Place]:
    """The tensors and numbers of a part of an instance, with their names."""
    if isinstance(part, torch.Tensor):
        yield Place(name, part.detach())
    elif isinstance(part, numbers.Real):
        yield Place(name, torch.as_tensor(_double(part)))
    elif isinstance(part, np.ndarray):
        if part.dtype.kind in "biuf":
            yield Place(name, torch.as_tensor(part))
    elif depth > 6:
        return
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from _leaves(f"{name}[{key!r}]", value, depth + 1)
    elif isinstance(part, tuple | list):
        for index, value in enumerate(part):
            yield from _leaves(f"{name}[{index}]", value, depth + 1)
    elif is_dataclass(part) and not isinstance(part, type):
        for field in fields(part):
            yield from _leaves(f"{name}.{field.name}", getattr(part, field.name), depth + 1)
    elif hasattr(part, "__dict__") and not (inspect.isroutine(part) or isinstance(part, type)):
        for key, value in vars(part).items():
            yield from _leaves(f"{name}.{key}", value, depth + 1)


def _double(number: Any) -> float:
    """A number of any size as a float."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _spread(place: Place) -> bool:
    """Whether a place has the batch axis."""
    return place.values.ndim > 0 and place.values.shape[0] == SIZE


def _member(place: Place, index: int, like: torch.Tensor, constants: bool) -> Place:
    """The place of one instance of a batch; the whole, if it is the same for all instances."""
    values = place.values
    if constants and values.shape == like.shape:
        return place
    if not _spread(place):
        return place
    tolerance = place.tolerance
    return Place(place.name, values[index], None if tolerance is None else tolerance[index])


def _differs(a: torch.Tensor, b: torch.Tensor, *tolerances: torch.Tensor | None) -> int | None:
    """The entry in which two tensors of one shape differ most, by more than rounding."""
    if not a.numel() or torch.equal(a, b):
        return None
    a, b = a.detach().double().cpu(), b.detach().double().cpu()
    size = torch.maximum(a.abs(), b.abs())
    finite = torch.where(size.isfinite(), size, 0.0)
    band = RELATIVE * finite.max().expand(a.shape)
    for tolerance in tolerances:
        if tolerance is not None:
            band = torch.maximum(band, TOLERANCES * tolerance.double().cpu().expand(a.shape))
    same = (a == b) | (a.isnan() & b.isnan())
    gap = torch.where(same, 0.0, (a - b).abs().nan_to_num(nan=torch.inf))
    beyond = torch.where(same, 0.0, gap - band.nan_to_num(nan=torch.inf, posinf=torch.inf))
    entry = int(beyond.reshape(-1).nan_to_num(nan=0.0).argmax())
    return entry if float(beyond.reshape(-1)[entry]) > 0 else None


def _gap(a: torch.Tensor, b: torch.Tensor, at: int) -> float:
    gap = float((a.double() - b.double()).abs().reshape(-1)[at])
    return torch.inf if gap != gap else gap


def _largest(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference between two tensors of one shape; infinite if NaN comes or goes."""
    if not a.numel():
        return 0.0
    a, b = a.double(), b.double()
    same = (a == b) | (a.isnan() & b.isnan())
    return float(torch.where(same, 0.0, (a - b).abs().nan_to_num(nan=torch.inf)).max())


def _moved(record: Record, generator: torch.Generator) -> Record:
    """A record whose entries have moved by a small amount inside their ranges."""
    tensors = []
    for choice in record.choices:
        if isinstance(choice, Entries):
            values = choice.values
            step = 2 * torch.rand(values.shape, dtype=torch.float64, generator=generator) - 1
            step = DISTANCE * step * values.abs().clamp(min=1.0)
            tensors.append((values + step).clamp(choice.low, choice.high))
    return record.with_tensors(tensors)


def _clone(record: Record) -> Record:
    return record.with_tensors([tensor.detach().clone() for tensor in record.tensors])


def _figure(values: torch.Tensor, at: int | None) -> str:
    if at is None:
        return f"of the shape {tuple(values.shape)}"
    value = values.reshape(-1)[at]
    return str(bool(value)) if value.dtype == torch.bool else f"{float(value):.{DIGITS}g}"


def _first(new: torch.Tensor, old: torch.Tensor) -> str:
    if new.shape != old.shape:
        return f" from the shape {tuple(old.shape)} to {tuple(new.shape)}"
    entry = int((new != old).reshape(-1).int().argmax())
    return f" from {_figure(old, entry)} to {_figure(new, entry)}"


def _said(error: Exception | None) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _pass_if_short(error: Exception | None) -> None:
    """Raise what says that memory is short: that is no accusation of a body."""
    if error is not None and short_of_memory(error):
        raise error
