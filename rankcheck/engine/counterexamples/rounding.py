r"""Decides what is rounding, for searches, hunts, certificates and the checks of bodies alike.

A violation in floats is rounding up to a multiple of its tolerance, and up to a multiple of the
rounding error that is measured at its instance. For a side $f$ and a small step $d$, the difference
$5 f(x + d) - 6 f(x) + f(x - 5 d)$ is rounding where $f$ is smooth, and the size of a jump where
rounding decides a mask or a rank. This is an estimate and no bound: an error that all neighbours
share does not show. The multiples and the steps stand here, each with what it was measured on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from rankcheck.claims.labels import at_entry
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.theory.instances.record import Entries, Record

#: Up to this multiple of its tolerance, a violation in floats that the balls do not confirm is
#: rounding. The largest that any claim of the ledger has is 9.8 (profile deep); 6.4 in the sweeps,
#: draws and controls of the profile quick, seeds 0 to 4. What a batch and an instance alone differ
#: by is held against the same multiple.
TOLERANCES = 64.0
#: So is a violation up to this multiple of the rounding error that is measured at the instance. Of
#: the sides that cancel in `tests/engine/counterexamples/test_rounding.py`, the violations are 0.1
#: to 0.4 times that error (24 violations among 360 instances).
ERRORS = 64.0
#: A violation that no ball speaks for is clear beyond this multiple of its tolerance. It is wider
#: than `TOLERANCES`, because a hunt makes such an instance small: it is driven towards zeros, which
#: have no neighbours, and towards the one instance where floats are worst. The instance in
#: `tests/engine/hunt/statements.py` that is off by a jump at the zero matrix reaches 500.
CLEAR = 1000.0

#: A tolerance hides the sides of a relation if it exceeds this multiple of the rounding error. An
#: honest one of the ledger, of numbers that cancelled, is below 10⁴ times it; one of 10⁸ is what
#: this was made for.
HIDING = 2.0**20
#: Sides of less than this multiple of their rounding error are noise, which no tolerance hides.
NOISE = 8.0

#: The rounding error is measured with this many pairs of neighbours, on both sides of the instance
#: at this distance, relative to entries of absolute value 1 or more. It is 2²² units in the last
#: place, so that roundings differ; its square is 2⁻⁸ units, so that a curve is not taken for them.
PAIRS, DISTANCE = 8, 2.0**-30
#: One of a pair is so many times as far: at equal distances errors of sums often cancel exactly.
FAR = 5

#: A batch and an instance alone may differ by this, relative to the largest number of the tensor
#: that is compared.
RELATIVE = 1e-6


@dataclass(frozen=True, eq=False)
class Entry:
    """An entry of a relation on one instance.

    Attributes:
        relation: what the body returned in floats.
        number: its place among the relations.
        place: of the entry in the flattened sides.
    """

    relation: Relation
    number: int
    place: int

    def among(self, relations: tuple[Relation, ...] | None) -> Entry | None:
        """The same entry on another instance of the claim; None if that has no such entry."""
        if relations is None or self.number >= len(relations):
            return None
        relation = relations[self.number]
        if self.place >= math.prod(relation.lhs.shape):
            return None
        return replace(self, relation=relation)

    @property
    def index(self) -> tuple[int, ...]:
        """Its index among the axes of a side."""
        return tuple(map(int, np.unravel_index(self.place, tuple(self.relation.lhs.shape))))

    @property
    def at(self) -> str:
        """Which entry it is, in words; empty if the sides have one."""
        return at_entry(self.index, self.relation.lhs.numel())

    @property
    def lhs(self) -> float:
        return self._at(self.relation.lhs)

    @property
    def rhs(self) -> float:
        return self._at(self.relation.rhs)

    @property
    def tolerance(self) -> float:
        return self._at(self.relation.tolerance)

    @property
    def excess(self) -> float:
        """How far the entry is from satisfying the relation; infinite if a side is NaN."""
        excess = self._at(self.relation.excess)
        return torch.inf if excess != excess else excess

    @property
    def multiple(self) -> float:
        """The excess as a multiple of the tolerance."""
        return self.excess / self.tolerance if self.tolerance > 0 else torch.inf

    @property
    def asserted(self) -> bool:
        return self._at(self.relation.asserted) > 0

    @property
    def violated(self) -> bool:
        return self._at(self.relation.violated()) > 0

    def error(self, ahead: Entry, behind: Entry) -> float:
        """The rounding error of the sides, from the same entry on a pair of neighbours."""
        return max(
            second_difference(ahead.lhs, self.lhs, behind.lhs),
            second_difference(ahead.rhs, self.rhs, behind.rhs),
        )

    def describe(self) -> str:
        """Both sides in floats, and by how much the relation fails, if it does."""
        one, apart = self.relation, abs(self.lhs - self.rhs)
        label = f"{one.label}: " if one.label else ""
        fails = self.violated and math.isfinite(apart)
        sign, by = (SIGNS[one.kind].fails, f" by {apart:.6g}") if fails else ("and", "")
        return (
            f"{label}lhs {self.lhs:.17g} {sign} rhs {self.rhs:.17g}{by} in floats "
            f"(tolerance {self.tolerance:.3g}){self.at}"
        )

    def _at(self, values: torch.Tensor) -> float:
        return float(values.detach().double().reshape(-1)[self.place])


def is_rounding(
    entry: Entry, error: Callable[[], float], *, tolerances: float = TOLERANCES
) -> bool:
    """Whether rounding explains a violation.

    Args:
        error: measures the rounding error at the instance, if the tolerance alone explains nothing.
    """
    return entry.multiple <= tolerances or entry.excess <= ERRORS * error()


def violated_entries(relations: tuple[Relation, ...]) -> list[Entry]:
    """Of each relation that is violated, the entry with the largest multiple of its tolerance.

    The relations are those of one instance, without batch axes; the largest multiple comes first.
    """
    entries = []
    for number, relation in enumerate(relations):
        violated = relation.violated().reshape(-1)
        if not bool(violated.any()):
            continue
        excess = relation.excess.detach().double().reshape(-1).nan_to_num(nan=torch.inf)
        tolerance = relation.tolerance.detach().double().reshape(-1)
        multiple = torch.where(tolerance > 0, excess / tolerance, torch.inf)
        multiple = torch.where(violated, multiple.nan_to_num(nan=torch.inf), -torch.inf)
        largest = torch.where(multiple == multiple.max(), excess, -torch.inf)
        entries.append(Entry(relation, number, int(largest.argmax())))
    return sorted(entries, key=lambda entry: -entry.multiple)


def furthest(relations: tuple[Relation, ...]) -> Entry:
    """The entry with the largest violation relative to its sides; any entry, if there is none."""
    beyond = [relation.beyond().reshape(-1) for relation in relations]
    number = max(range(len(beyond)), key=lambda number: float(beyond[number].max()))
    return Entry(relations[number], number, int(beyond[number].argmax()))


def second_difference(ahead: float, here: float, behind: float) -> float:
    """The rounding error of a side, from its values at an instance and at a pair of `pairs`.

    It is infinite where the side jumps. The slope counts too: it is what the body makes of errors
    in the last bits of the instance.
    """
    if here != here or abs(here) == torch.inf:  # a jump, unless it is no number everywhere
        return 0.0 if ahead != ahead or ahead == here else torch.inf
    difference = abs(FAR * ahead - (FAR + 1) * here + behind) / 3
    slope = abs(ahead - behind) / (FAR + 1) * (2.0**-53 / DISTANCE)
    return difference + slope if difference == difference else torch.inf


def pairs(record: Record) -> Iterator[tuple[Record, Record]]:
    """Pairs of instances on both sides of one, inside the ranges of entries: near and far.

    Zeros stay zero: a sparse instance stays sparse. Without tensors there is no neighbour.
    """
    generator = torch.Generator().manual_seed(0)
    for _ in range(PAIRS if record.tensors else 0):
        ahead, behind = [], []
        for entries in (one for one in record.choices if isinstance(one, Entries)):
            values = entries.values
            step = _step(values, generator) * (values != 0)
            reach = FAR * step.abs()
            inside = (values + reach <= entries.high) & (values - reach >= entries.low)
            step = torch.where(inside, step, 0.0)
            ahead.append(values + step)
            behind.append(values - FAR * step)
        yield record.with_tensors(ahead), record.with_tensors(behind)


def _step(values: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Random steps up to `DISTANCE`, relative to entries of absolute value 1 or more."""
    random = 2 * torch.rand(values.shape, dtype=torch.float64, generator=generator) - 1
    return DISTANCE * random * values.abs().clamp(min=1.0)


def beyond_rounding(a: torch.Tensor, b: torch.Tensor, *tolerances: torch.Tensor) -> bool:
    """Whether two evaluations of one thing differ in some entry by more than rounding."""
    if not a.numel() or torch.equal(a, b):
        return False
    a, b = a.detach().double().cpu(), b.detach().double().cpu()
    size = torch.maximum(a.abs(), b.abs())
    finite = torch.where(size.isfinite(), size, 0.0)
    band = RELATIVE * finite.max().expand(a.shape)
    for tolerance in tolerances:
        band = torch.maximum(band, TOLERANCES * tolerance.double().cpu().expand(a.shape))
    same = (a == b) | (a.isnan() & b.isnan())
    change = torch.where(same, 0.0, (a - b).abs().nan_to_num(nan=torch.inf))
    return bool((change > band.nan_to_num(nan=torch.inf, posinf=torch.inf)).any())
