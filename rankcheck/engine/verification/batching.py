"""Checks that a body treats the instances of a batch independently.

A body or a generator that mixes the instances of a batch, as `A.norm()` and `Y.mean(0)` do, puts
another statement to the test than the one that is written. So before a claim is searched, a small
batch is compared with its instances one at a time, and with the same instances beside others.
Evaluating twice under different global seeds, and comparing the arguments before and after, shows a
body that is random or that changes its arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch

from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.claims.labels import relation_name
from rankcheck.engine.counterexamples.rounding import MOVED, MOVES, beyond_rounding, moved
from rankcheck.engine.parallel.traces import named
from rankcheck.engine.verification.branches import BatchError, check_branches, seeded
from rankcheck.engine.verification.places import (
    Place,
    Values,
    arguments_of,
    change,
    figure,
    sides_of,
)
from rankcheck.errors import InputError, short_of_memory
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected, Source, seed_of

#: Instances in a batch, and how many of them are evaluated alone.
SIZE, ALONE = 7, 3
#: Instances of that batch that are evaluated beside one another only, repeated to fill a batch.
OTHERS = ((2, 1, 0, 2, 1, 0, 2), (6, 5, 4, 3, 6, 5, 4))
#: Batches that are drawn, until one has an instance inside the hypotheses that does not raise.
#: The first half of them have entries in [-2, 2], where the ranges allow it.
ATTEMPTS = 8
#: Seeds of the global generators under which what is random differs; and where a body seems to mix.
SEEDS, MORE_SEEDS = range(1, 4), range(4, 68)

APART = (
    ". Nothing of an instance may depend on the others of its batch: reduce the last axes only "
    '(dim=-1, dim=(-2, -1)), or give the claim no_batch="why"'
)
PURE = (
    "; a body and a generator are functions of what is drawn from the source, and of nothing else"
)


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
    known: set[tuple[object, ...]] = set()
    draws = [(claim.instances, False), (claim.instances, True), (claim.tight, False)]
    for family, grid in draws:
        if family is None or (grid and claim.no_batch is not None):
            continue
        check = _Check(claim, family, grid, known)
        for attempt in range(ATTEMPTS):
            key = seed_of("batching", seed, claim.id, family.name, grid, attempt)
            if check.run(key, wide=attempt >= ATTEMPTS // 2):
                break


class _Check:
    """The comparisons of one family of a claim.

    Args:
        grid: whether its entries are small integers.
        known: the shapes at which no branch was found.
    """

    def __init__(
        self, claim: Claim, family: Instances, grid: bool, known: set[tuple[object, ...]]
    ) -> None:
        self.claim, self.family, self.grid, self.known = claim, family, grid, known

    def run(self, seed: int, *, wide: bool) -> bool:
        """Draw a batch and compare it; returns whether it had an instance to compare."""
        batched = self.claim.no_batch is None
        make = partial(_Simple, seed, SIZE if batched else None, self.grid, wide)
        source = make()
        with seeded(0):
            first = self.evaluate(source)
        if batched:
            for record, batch in ((source.record, (SIZE,)), (source.record.instance(0), ())):
                check_branches(self.claim, self.family, record, batch, self.known)
        self.check_draws(source)
        self.check_random(first, make, SEEDS)
        if not batched:
            return first.good
        try:
            return self.check_mixing(source, first)
        except BatchError:
            self.check_random(first, make, MORE_SEEDS)
            raise

    def evaluate(self, source: Source) -> Values:
        """The arguments, hypotheses and relations that a source gives.

        Raises:
            BatchError: if the generator or the body changes its arguments.
        """
        places: tuple[Place, ...] = ()
        try:
            instance = self.family(source)
            places = arguments_of(self.claim, instance)
            before = [place.values.clone() for place in places]
            relations = self.claim.relations(instance)
            for place, old in zip(places, before, strict=True):
                self.require_unchanged(
                    f"the body changed its argument {place.name}",
                    change(old, place.values),
                    "a body leaves its arguments as they are",
                )
            self.check_shapes(relations, source.batch)
            return Values((*places, *sides_of(relations, source.batch)), source.valid)
        except Rejected:
            return Values(places, torch.tensor(False), rejected=True)
        except (InputError, ClaimError):
            raise
        except Exception as error:
            return Values(places, source.valid, error)

    def check_shapes(self, relations: tuple, batch: tuple[int, ...]) -> None:
        """Check that the batch axis of the sides comes first."""
        for number, relation in enumerate(relations):
            for side in (relation.lhs, relation.rhs):
                if batch and side.ndim and tuple(side.shape[:1]) != batch:
                    raise self.error(
                        f"the sides of {relation_name(relation.label, number)} have the shape "
                        f"{tuple(side.shape)} for a batch of {batch[0]} instances; the batch comes "
                        f"first, ({batch[0]}, …){APART}"
                    )

    def check_draws(self, source: _Simple) -> None:
        """Check that the generator has not changed what it drew."""
        for drawn, now in zip(source.drawn, source.record.tensors, strict=True):
            self.require_unchanged(
                "the generator changed a tensor that it drew",
                change(drawn, now),
                "the record of an instance is what was drawn",
            )

    def require_unchanged(self, what: str, changed: str | None, rule: str) -> None:
        if changed is not None:
            raise self.error(f"{what}{changed}; {rule}, so write A * 2 and not A.mul_(2)")

    def check_random(self, first: Values, make: Callable[[], Source], seeds: range) -> None:
        """Evaluate the same draws again under other seeds of the global generators."""
        for seed in seeds:
            with seeded(seed):
                self.require_same(first, self.evaluate(make()))

    def require_same(self, first: Values, again: Values) -> None:
        """Check that two evaluations of the same instances agree."""
        if (first.error is None) != (again.error is None):
            error = _reported(first.error or again.error)
            raise self.error(
                f"of two evaluations on the same instances one raised "
                f"{named(error)}, so something is random{PURE}"
            )
        if first.error is not None:
            return
        if len(first.places) != len(again.places) or not torch.equal(first.valid, again.valid):
            raise self.error(
                "the same instances satisfy other hypotheses, or give other relations, when they "
                f"are evaluated again, so something is random{PURE}"
            )
        for one, two in zip(first.places, again.places, strict=True):
            at = None
            if one.values.shape == two.values.shape:
                at = beyond_rounding(one.values, two.values, one.tolerance, two.tolerance)
                if at is None:
                    continue
            raise self.error(
                f"{one.name} is {figure(one.values, at)}, and {figure(two.values, at)} when the "
                f"same instances are evaluated again, so it is random or has a memory{PURE}"
            )

    def check_mixing(self, source: _Simple, first: Values) -> bool:
        """Compare a batch with its instances; returns whether it had one to compare."""
        record = _clone(source.record)
        if first.error is not None:
            good = self.raising_none(record, first.error)
            if not good:
                return False
            record = record.select(torch.tensor(good))
            first = self.evaluate(ReplaySource(_clone(record), batch=(SIZE,)))
            if first.error is not None:
                raise self.error(
                    f"a batch of {SIZE} instances raised {named(_reported(first.error))}, and each "
                    f"of them alone does not{APART}"
                )
        inside = first.valid.nonzero().reshape(-1).tolist()
        if not self.grid:
            self.compare_beside_others(first, record)
        for index in inside[-1:] if self.grid else inside[-ALONE:]:
            self.compare_alone(first, record, index)
        return bool(inside)

    def raising_none(self, record: Record, error: Exception) -> list[int]:
        """Of a batch that raises, SIZE indices of instances that do not raise alone.

        Empty if there are none, or the batch raised before everything was drawn.
        """
        if isinstance(error, Rejected) or any(len(t) != SIZE for t in record.tensors):
            return []
        good = [index for index in range(SIZE) if self.alone(record, index).good]
        return [good[index % len(good)] for index in range(SIZE)] if good else []

    def compare_beside_others(self, first: Values, record: Record) -> None:
        """Compare the same instances beside other neighbours."""
        for others in OTHERS:
            index = torch.tensor(others)
            values = self.evaluate(ReplaySource(_clone(record.select(index)), batch=(SIZE,)))
            if values.error is not None:
                raise self.error(
                    f"a batch of {SIZE} instances raised {named(_reported(values.error))}, and "
                    f"another batch with the same instances does not{APART}"
                )
            if not first.equal(values, index):
                for place, one in enumerate(others):
                    self.compare(first, values, one, place, record)

    def compare_alone(self, first: Values, record: Record, index: int) -> None:
        """Compare an instance in its batch, and alone."""
        alone = self.alone(record, index)
        if alone.error is None:
            self.compare(first, alone, index, None, record)
        elif bool(first.valid[index]):
            raise self.error(
                f"an instance without batch axes raised {named(_reported(alone.error))}, and a "
                f"batch of {SIZE} instances does not; a body takes an instance with and without "
                f"batch axes{APART}"
            )

    def alone(self, record: Record, index: int) -> Values:
        return self.evaluate(ReplaySource(_clone(record.instance(index))))

    def compare(
        self, first: Values, second: Values, index: int, other: int | None, record: Record
    ) -> None:
        """Compare an instance of a batch with the same instance elsewhere.

        Args:
            index: its place in the first batch.
            other: its place in the second one, or None if it is alone there.
        """
        how = "alone" if other is None else "beside other instances"
        valid, inside = first.inside(index), second.inside(other or 0)
        if valid != inside and not self.on_edge(record, index, None, 1.0):
            figures = ("outside", "inside")
            raise self.error(
                f"an instance is {figures[valid]} the hypotheses in a batch of {SIZE}, and "
                f"{figures[inside]} {how}{APART}"
            )
        if not (valid and inside):
            return
        if len(first.places) != len(second.places):
            raise self.error(
                f"a batch of {SIZE} instances gives {len(first.places)} tensors, arguments and "
                f"sides together, and an instance {how} {len(second.places)}{APART}"
            )
        for number, (batch, one) in enumerate(zip(first.places, second.places, strict=True)):
            here = batch.member(index, SIZE, one.values if other is None else None)
            there = one if other is None else one.member(other, SIZE)
            try:
                a, b = torch.broadcast_tensors(here.values, there.values)
            except RuntimeError:
                raise self.error(
                    f"{batch.name} has the shape {tuple(batch.values.shape)} for a batch of {SIZE} "
                    f"instances, and {tuple(one.values.shape)} {how}{APART}"
                ) from None
            at = beyond_rounding(a, b, here.tolerance, there.tolerance)
            if at is None or self.on_edge(record, index, number, _gap(a, b, at)):
                continue
            raise self.error(
                f"{batch.name} is {figure(a, at)} for an instance in a batch of {SIZE}, and "
                f"{figure(b, at)} for the same instance {how}{APART}"
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
            near = moved(instance, generator)
            change_alone = alone.change(self.evaluate(ReplaySource(near)), None, number)
            change_within = within.change(self.within(record, index, near), index, number)
            if MOVED * max(change_alone, change_within) >= difference:
                return True
        return False

    def within(self, record: Record, index: int, instance: Record) -> Values:
        """A batch of which one instance is replaced."""
        tensors = [tensor.detach().clone() for tensor in record.tensors]
        for tensor, entries in zip(tensors, instance.tensors, strict=True):
            tensor[index] = entries
        return self.evaluate(ReplaySource(record.with_tensors(tensors), batch=(SIZE,)))

    def error(self, what: str) -> BatchError:
        return BatchError(f"{self.claim.id}, with {self.family}: {what}")


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
        uniform = torch.from_numpy(self._generator.random((*self.batch, *shape)))
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


def _gap(a: torch.Tensor, b: torch.Tensor, at: int) -> float:
    gap = float((a.double() - b.double()).abs().reshape(-1)[at])
    return math.inf if gap != gap else gap


def _clone(record: Record) -> Record:
    return record.with_tensors([tensor.detach().clone() for tensor in record.tensors])


def _reported(error: Exception | None) -> Exception:
    """An error that accuses a body; one that says that memory is short accuses nobody.

    Raises:
        Exception: the error, if it says that memory is short.
    """
    assert error is not None
    if short_of_memory(error):
        raise error
    return error
