"""Proofs about integers: every instance is decided again, at another precision."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rankcheck import balls
from rankcheck.balls import Undecided
from rankcheck.claims.claim import Claim
from rankcheck.claims.excess import Excess
from rankcheck.claims.relations import Relation
from rankcheck.decide.prove.checking.errors import UnsoundError
from rankcheck.decide.prove.proof import Proof
from rankcheck.engine.counterexamples.judge import exact_instance
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected, Source

#: Precisions in bits, others than those that decided the instances first.
PRECISIONS = (192, 384, 768, 1536, 3072)


def check_range(claim: Claim, proof: Proof) -> int:
    """Decide the instances of a range again; how many there are.

    They are those with the smallest integers: by how far these are above their lowest values in
    all, then by the first integer, the second, and so on.

    Raises:
        UnsoundError: if there are not as many as the proof says, or one is not proved.
    """
    if proof.entries or proof.faces or proof.definitions or proof.method != "range":
        raise UnsoundError(
            "a proof has no entries, or is one of a range; a range has neither entries nor faces"
        )
    if claim.instances is None or proof.paths < 1:
        raise UnsoundError(f"it is about {proof.paths} instances; a range has at least one")
    held = 0
    for record in _instances(claim.instances):
        held += _holds(claim, claim.instances, record)
        if held == proof.paths:
            return held
    raise UnsoundError(
        f"the proof is of {proof.paths} instances, and the generator has {held} inside its "
        "hypotheses"
    )


class _Probe(Source):
    """Hands out integers, then the lowest ones of their ranges."""

    def __init__(self, integers: tuple[int, ...]) -> None:
        super().__init__()
        self._left = iter(integers)
        #: The ranges that were asked for.
        self.ranges: list[tuple[int, int]] = []

    def _integer(self, low: int, high: int) -> int:
        self.ranges.append((low, high))
        return next(self._left, low)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> Any:
        raise UnsoundError("the generator draws entries, and the proof is one of a range")


@dataclass
class _Level:
    """All instances whose integers are so far above their lowest values."""

    family: Instances
    #: Whether there are instances on a higher level.
    more: bool = False

    def records(self, integers: tuple[int, ...], above: int) -> Iterator[Record]:
        source = _Probe(integers)
        with suppress(Rejected):
            self.family(source)
        if len(source.ranges) == len(integers):
            if not above:
                yield source.record
            return
        low, high = source.ranges[len(integers)]
        self.more |= high - low > above
        for step in range(min(above, high - low) + 1):
            yield from self.records((*integers, low + step), above - step)


def _instances(family: Instances) -> Iterator[Record]:
    for above in itertools.count():
        level = _Level(family)
        yield from level.records((), above)
        if not level.more:
            return


def _holds(claim: Claim, family: Instances, record: Record) -> bool:
    """Whether an instance is proved; False if the generator rejects it.

    Raises:
        UnsoundError: if it is neither.
    """
    why = "undecided"
    for bits in PRECISIONS:
        with balls.precision(bits):
            try:
                instance = exact_instance(family, record)
                with balls.conventions() as choices:
                    holds = all(map(_proved, claim.relations(instance)))
                for pattern in balls.OTHER_CONVENTIONS if choices.used else ():
                    with balls.conventions(pattern):
                        holds = holds and all(map(_proved, claim.relations(instance)))
            except Rejected:
                return False
            except (Undecided, NotImplementedError) as error:
                why = f"{type(error).__name__}: {error}"
                continue
        if holds:
            return True
        why = f"not proved at {bits} bits"
    raise UnsoundError(
        f"the instance {record.integers} is {why}; each instance of a range is proved"
    )


def _proved(relation: Relation) -> bool:
    """Whether balls prove a relation in every entry in which it is asserted."""
    lhs, rhs = (side.reshape(-1) for side in relation.sides())
    return all(
        _below(relation, lhs[entry], rhs[entry])
        for entry in relation.asserted.reshape(-1).nonzero().reshape(-1).tolist()
    )


def _below(part: Relation, lhs: Any, rhs: Any) -> bool:
    try:
        excess = Excess.of(part.kind, lhs, rhs)
    except Undecided:
        return False
    return excess.high < 0 or (excess.high == 0 and not excess.strict)
