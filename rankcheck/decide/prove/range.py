"""Claims over integers alone: every instance of a range, each decided in exact numbers and balls.

`judge` calls a relation satisfied that holds up to 2⁻⁸⁰. Here it has to be proved: the balls of its
sides are disjoint in the right order, or both sides are rational numbers. So an identity is proved
between rational numbers only.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rankcheck import balls
from rankcheck.balls import NoBallForm, Undecided
from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.claims.excess import Excess
from rankcheck.claims.relations import Relation
from rankcheck.decide.prove.proof import Proof
from rankcheck.decide.prove.settings import Settings, Unproved
from rankcheck.engine.counterexamples.judge import PRECISIONS, exact_instance, judge
from rankcheck.errors import short_of_memory
from rankcheck.theory.instances.drivers import ReplayError
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Rejected, Source

#: So many instances are decided, those with the smallest integers.
INSTANCES = 3_000


class _HasEntries(Exception):
    """The generator draws a tensor."""


class _Prefix(Source):
    """Hands out the integers of a prefix, then the lowest ones of their ranges."""

    def __init__(self, prefix: tuple[int, ...]) -> None:
        super().__init__()
        self._prefix = prefix
        #: The ranges that were asked for.
        self.places: list[tuple[int, int]] = []

    def _integer(self, low: int, high: int) -> int:
        number = len(self.places)
        self.places.append((low, high))
        return self._prefix[number] if number < len(self._prefix) else low

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> None:
        raise _HasEntries


def draws_entries(family: Instances) -> bool:
    """Whether a generator draws entries where all its integers are the lowest ones."""
    try:
        family(_Prefix(()))
    except Rejected:
        return False
    except _HasEntries:
        return True
    except Exception:  # it says so itself where its shapes are looked for
        return True
    return False


def ranged(family: Instances) -> Iterator[Record]:
    """All instances of a generator that draws integers alone, by how far these are above their
    lowest values in all.

    An instance that the generator rejects is among them, as far as it was drawn.

    Raises:
        Unranged: if the generator draws entries.
        Exception: what the generator raises.
    """
    heap: list[tuple[int, tuple[int, ...]]] = [(0, ())]
    while heap:
        steps, prefix = heapq.heappop(heap)
        source = _Prefix(prefix)
        try:
            family(source)
        except Rejected:
            pass
        except _HasEntries:
            raise Unranged from None
        yield source.record
        lows = tuple(low for low, _ in source.places)
        integers = (*prefix, *lows[len(prefix) :])
        for place in range(max(len(prefix) - 1, 0), len(source.places)):
            if integers[place] < source.places[place][1]:
                following = (*integers[:place], integers[place] + 1)
                heapq.heappush(heap, (steps + 1, following))


class Unranged(Exception):
    """A generator draws entries after all."""


@dataclass(frozen=True)
class Ranged:
    """A proof over a range of integers.

    Attributes:
        proof: its `paths` are the instances inside the hypotheses.
        whole: whether these are all that the generator has.
        seen: how many there were, those outside the hypotheses included.
    """

    proof: Proof
    whole: bool
    seen: int


@dataclass(frozen=True)
class Ended(Unproved):
    """A range that is not proved.

    Attributes:
        control: of a mutant, what became of it: `false` if balls refute it at an instance.
    """

    control: str = "open"


def prove_range(
    claim: Claim,
    settings: Settings,
    *,
    most: int = INSTANCES,
) -> Ranged | Ended:
    """Decide every instance of a claim over integers, or the first `most` of them.

    Time that runs out ends the range where it is: what was decided until then is proved.
    """
    assert claim.instances is not None
    since = time.monotonic()
    if claim.no_ball is not None:
        return Ended(f"no ball form: {claim.no_ball}")
    held = 0
    whole = True
    seen = 0

    def unproved(reason: str, control: str = "open") -> Ended:
        return Ended(reason, held, control=control)

    try:
        for record in ranged(claim.instances):
            if seen == most or time.monotonic() - since > settings.seconds:
                whole = False
                break
            seen += 1
            finding = _decided(claim, record)
            if finding not in ("holds", "outside"):
                false = judge(claim, record).finding == "refuted"
                where = f"{finding}, on the instance {_text(record)}"
                return unproved(where, "false" if false else "open")
            held += finding == "holds"
    except Unranged:
        return unproved("its generator draws entries at some integers, and none at others")
    if not held:
        return unproved("no instance was decided in time" if not whole else "no instance")
    proof = Proof(
        integers=(),
        sizes={},
        entries=(),
        method="range",
        paths=held,
        seconds=round(time.monotonic() - since, 3),
    )
    return Ranged(proof, whole, seen)


def _text(record: Record) -> str:
    return ", ".join(map(str, record.integers)) or "without integers"


def _decided(claim: Claim, record: Record) -> str:
    """`holds` or `outside` if that is proved, else why it is not."""
    assert claim.instances is not None
    why = "undecided"
    for bits in PRECISIONS:
        with balls.precision(bits):
            try:
                instance = exact_instance(claim.instances, record)
                with balls.conventions() as choices:
                    proved = _all(claim.relations(instance))
                for pattern in balls.OTHER_CONVENTIONS if proved and choices.used else ():
                    with balls.conventions(pattern):
                        proved = proved and _all(claim.relations(instance))
                if proved:
                    return "holds"
                why = f"the balls of its sides do not prove it at {bits} bits"
            except Rejected:
                return "outside"
            except NoBallForm as missing:
                return f"no ball form: {missing}"
            except Undecided as reason:
                why = f"undecided at {bits} bits: {reason}"
            except (ClaimError, ReplayError):
                raise
            except Exception as error:
                if short_of_memory(error):
                    raise
                return f"it fails on balls, with {type(error).__name__}: {error}"
    return why


def _all(relations: tuple[Relation, ...]) -> bool:
    """Whether every relation is proved in every entry in which it is asserted."""
    return all(map(_holds, relations))


def _holds(relation: Relation) -> bool:
    lhs, rhs = (side.reshape(-1) for side in relation.sides())
    return all(
        _proved(relation, lhs[entry], rhs[entry])
        for entry in relation.asserted.reshape(-1).nonzero().reshape(-1).tolist()
    )


def _proved(relation: Relation, lhs: Any, rhs: Any) -> bool:
    """Whether the relation is proved in an entry: not only up to 2⁻⁸⁰, as `Excess.holds` has it."""
    try:
        excess = Excess.of(relation.kind, lhs, rhs)
    except Undecided:
        return False
    return excess.high < 0 or (excess.high == 0 and not excess.strict)
