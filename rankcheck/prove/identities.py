"""Identities at random points: a check of one pattern that errs with a known small probability.

This proves nothing, and is never called a proof. Both sides of an identity are rational functions
of the entries on the activation pattern of a sample (see `rankcheck.algebra.modular`). If they are
two different functions, then they differ at a random point modulo a random prime, except with a
small probability, for which `rankcheck.algebra.points` has a bound. In several rounds the
probabilities multiply.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch

import rankcheck.algebra.modular_matrices  # noqa: F401 -- the linear algebra of modular numbers
from rankcheck.algebra.modular import Modular, number
from rankcheck.algebra.points import Points, ThinCell, chance, random_primes
from rankcheck.balls import BallArray, balls
from rankcheck.balls.numbers import NoBallForm, dyadic
from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.errors import InputError
from rankcheck.instances.drivers import BatchSource, ReplaySource
from rankcheck.instances.record import Record
from rankcheck.instances.scope import ScopeShape
from rankcheck.instances.source import Instances, Rejected, Source, seed_of

__all__ = ["ROUNDS", "Identity", "identity", "sample"]

#: Two rounds err with less than 2^-80 while the degrees are below 2^20 and the bits below 2^19.
ROUNDS = 2
#: The entries of a sample are multiples of a power of two that has so many in their range.
GRID = 2**20
#: A sample that the generator rejects is drawn again, so often.
TRIES = 20


@dataclass(frozen=True, eq=False)
class Identity:
    """What random points say of the identities of a claim, on the pattern of one sample.

    Attributes:
        relations: the names of the relations that were checked.
        others: those that were not: they are no identities, or not asserted there.
        rounds: the number of random points, each modulo a prime of its own.
        exponent: if one of them were false there, all of them would pass with a probability of at
            most 2^-exponent.
        entries: the number of variables.
        degree, bits: the largest bounds for the differences of sides; see
            `rankcheck.algebra.points`.
        sample: the instance whose pattern it is.
        refuted_by: the relations whose sides are two different functions there, with where. This
            is no certificate: a hunt finds one.
    """

    relations: tuple[str, ...]
    others: tuple[str, ...]
    rounds: int
    exponent: int
    entries: int
    degree: int
    bits: float
    sample: Record
    refuted_by: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.refuted_by

    @property
    def sentence(self) -> str:
        """What may be said."""
        named = ", ".join(self.relations)
        if self.refuted_by:
            return (
                f"{'; '.join(self.refuted_by)}: not an identity on the activation pattern of this "
                "sample; that is no counterexample, which `rankcheck hunt` looks for"
            )
        return (
            f"{named}: on the activation pattern of this sample; if it were false there, this "
            f"check would pass with probability at most {_power(self.exponent)} (no proof)"
        )


def identity(
    claim: Claim,
    shape: ScopeShape | Sequence[int] | Record | None = None,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    family: Instances | None = None,
) -> Identity:
    """Check the identities of a claim at random points, on the pattern of a sample.

    Args:
        shape: the integers that the generator draws; a record, whose entries are then the sample;
            or None for a shape that the seed draws. Otherwise the entries of the sample are random.
        family: the generator, by default that of the claim.

    Raises:
        InputError: if the claim has no instances, no identity is asserted on the sample, the
            shape does not exist, or the generator rejects all samples there.
        NoBallForm: naming the operation, if a side is no rational function of the entries.
        Undecided: if the sample does not decide a comparison of something that is none.
        ThinCell: if the sample lies on an edge between patterns.
        BadPoint: if a random point is one where a denominator is zero; that is unlikely.
        ClaimError: if the body returns anything but relations.
    """
    began = time.monotonic()
    family = family or claim.instances
    if family is None:
        raise InputError(f"{claim.id} draws no instances; an identity is checked on those")
    if claim.no_ball is not None:
        raise NoBallForm("the body", claim.no_ball)
    if rounds < 1:
        raise InputError(f"rounds is {rounds}; there is at least one")
    draw = random.Random(seed_of("random identity", seed, claim.id))
    record = shape if isinstance(shape, Record) else sample(family, shape, draw)
    points = Points(random_primes(rounds, draw), draw)
    with torch.no_grad():
        relations = claim.relations(family(ReplaySource(record, lambda x: _variables(points, x))))
        checked = _Checked(points)
        for at, relation in enumerate(relations):
            checked.add(relation_name(relation.label, at), relation)
    if points.thin:  # a body may have caught the exception
        raise ThinCell(f"{points.thin} holds at the sample and not around it")
    if not checked.names:
        raise InputError(
            f"{claim.id} asserts no identity on the sample; random points show nothing of a bound"
        )
    return Identity(
        relations=tuple(checked.names),
        others=tuple(checked.others),
        rounds=rounds,
        exponent=_exponent(max(checked.chance, points.missed), rounds),
        entries=sum(values.numel() for values in record.tensors),
        degree=checked.degree,
        bits=checked.bits,
        sample=record,
        refuted_by=tuple(checked.differ),
        seconds=time.monotonic() - began,
    )


def sample(
    family: Instances, shape: ScopeShape | Sequence[int] | None, draw: random.Random
) -> Record:
    """An instance in general position: no entry is zero or one, and no two are alike by intention.

    Args:
        shape: the integers; None for those of a sweep.

    Raises:
        InputError: if the shape does not exist, or the generator rejects all samples there.
    """
    if shape is None:
        shape = _drawn(family, draw)
    integers = tuple(shape.integers if isinstance(shape, ScopeShape) else shape)
    why = ""
    for _ in range(TRIES):
        source = _General(integers, draw)
        try:
            family(source)
        except Rejected as rejected:
            why = str(rejected)
            continue
        if source.left:
            raise InputError(f"the shape {integers} has {source.left} integers too many")
        return source.record
    raise InputError(f"{family} rejected {TRIES} samples of the shape {integers}: {why}")


def _drawn(family: Instances, draw: random.Random) -> tuple[int, ...]:
    """The integers that a sweep draws."""
    for _ in range(TRIES):
        sweep = BatchSource(draw.getrandbits(60), None)
        with suppress(Rejected):
            family(sweep)
            return sweep.record.integers
    raise InputError(f"{family} rejected {TRIES} instances; a shape is one that has some")


class _General(Source):
    """Hands out the integers of a shape, and short dyadic numbers from the whole range."""

    def __init__(self, integers: Sequence[int], draw: random.Random) -> None:
        super().__init__()
        self._integers = list(integers)
        self._draw = draw

    @property
    def left(self) -> int:
        return len(self._integers)

    def _integer(self, low: int, high: int) -> int:
        value = self._integers.pop(0) if self._integers else None
        if value is None or not low <= value <= high:
            has = "is at its end" if value is None else f"has {value}"
            raise InputError(f"the shape {has}, and the generator draws one of {low}, …, {high}")
        return value

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        unit = Fraction(1)
        while Fraction(high) - Fraction(low) < GRID * unit:
            unit /= 2
        first, last = -(-Fraction(low) // unit), Fraction(high) // unit
        count = int(np.prod(shape, dtype=np.int64))
        drawn = [float(unit * self._number(first, last)) for _ in range(count)]
        return torch.tensor(drawn, dtype=torch.float64).reshape(shape)

    def _number(self, first: int, last: int) -> int:
        """An odd number, so that it is not zero, nor a small integer."""
        while True:
            found = self._draw.randint(first, last)
            if found % 2:
                return found


def _variables(points: Points, values: torch.Tensor) -> BallArray:
    flat = np.empty(values.numel(), dtype=object)
    flat[:] = [Modular.entry(points, dyadic(x)) for x in values.reshape(-1).tolist()]
    return BallArray(flat.reshape(tuple(values.shape)))


class _Checked:
    """The identities of a body on a sample.

    Attributes:
        chance: the largest one that an identity which is false has to pass.
    """

    def __init__(self, points: Points) -> None:
        self.points = points
        self.names: list[str] = []
        self.others: list[str] = []
        self.differ: list[str] = []
        self.degree, self.bits, self.chance = 0, 0.0, Fraction(0)

    def add(self, name: str, relation: Relation) -> None:
        if relation.kind != "eq" or not bool(relation.asserted.any()):
            self.others.append(name)
            return
        self.names.append(name)
        for place, (lhs, rhs) in _entries(relation, name):
            self._compare(name if place is None else f"{name}, entry {place}", lhs, rhs)

    def _compare(self, name: str, lhs: Any, rhs: Any) -> None:
        difference = number(self.points, lhs) - number(self.points, rhs)
        self.degree = max(self.degree, difference.degree)
        self.bits = max(self.bits, difference.bits)
        missed = chance(difference.degree, difference.bits, self.points.primes)
        self.chance = max(self.chance, missed)
        if difference.residue or difference.value != 0:
            where = "at the random points" if difference.residue else "at the sample"
            self.differ.append(f"the sides of {name} differ {where}")


def _entries(relation: Relation, name: str) -> Iterator[tuple[int | None, tuple[Any, Any]]]:
    """Both sides, entry by entry, where the relation is asserted."""
    if isinstance(relation.lhs, torch.Tensor) and relation.lhs.is_floating_point():
        raise NoBallForm(name, "its sides are floats, not balls")
    lhs, rhs = (balls(side).elements.ravel().tolist() for side in relation.sides())
    for place in relation.asserted.reshape(-1).nonzero().reshape(-1).tolist():
        yield None if len(lhs) == 1 else place, (lhs[place], rhs[place])


def _power(exponent: int) -> str:
    """2⁻⁸⁰ for 80."""
    return "2" + f"-{exponent}".translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _exponent(chance: Fraction, rounds: int) -> int:
    """The e with chance <= 2^-e, at most as many as random residues have bits."""
    most = 60 * rounds
    if chance <= Fraction(1, 1 << most):
        return most
    exponent = chance.denominator.bit_length() - chance.numerator.bit_length() - 1
    while exponent > 0 and chance > Fraction(1, 1 << exponent):
        exponent -= 1
    return max(exponent, 0)
