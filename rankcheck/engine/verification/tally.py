"""What a search has seen: numbers of instances, and how close each relation came to failing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.claims.sides import written_of
from rankcheck.claims.signs import SIGNS, RelationKind
from rankcheck.engine.counterexamples.instance import by_instance, wide
from rankcheck.engine.counterexamples.rounding import TOLERANCES
from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.evaluation import CULPRITS, Evaluation, Part, Raised
from rankcheck.engine.verification.reach import reached
from rankcheck.engine.verification.scouts import Visited
from rankcheck.engine.verification.swallowed import Seen, swallowed
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances

#: A side that is one number on so many instances does not vary.
ENOUGH, SIDES = 64, ("left", "right")
#: What makes an array of one number, such as a one that carries the shape of a side.
WRITTEN = frozenset(
    {
        *("zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones", "full_like"),
        *("new_full", "Fraction", "as_tensor", "float", "full", "scalar", "tensor"),
    }
)
#: Ratios that agree in so many decimals count as the same.
SAME = 6


@dataclass(frozen=True, eq=False)
class Sharpest:
    """The instance on which a bound is closest to equality; of several, one with few numbers."""

    ratio: float
    record: Record
    family: Instances

    @property
    def rank(self) -> tuple[float, int]:
        """What is compared: the ratio, then how few numbers were drawn."""
        drawn = sum(tensor.numel() for tensor in self.record.tensors)
        return round(self.ratio, SAME), -drawn - len(self.record.integers)


@dataclass
class RelationTally:
    """What a search has seen of one relation.

    Attributes:
        asserted: the number of instances on which it was asserted.
        ratio: the largest lhs / rhs of a bound (both sides positive); None without one.
        gap: the smallest (rhs - lhs) / max(|lhs|, |rhs|) of a bound.
        deviation: the largest |lhs - rhs| of an identity, relative to its sides where they exceed
            1; None without one.
        sharpest: the instance on which a bound is closest to equality.
        visible: on how many instances floats could see it fail.
        killed: whether its derived mutant fails on an instance that satisfies the claim.
        values: of each side the first of its values, and the first other one.
    """

    kind: RelationKind
    label: str
    asserted: int = 0
    ratio: float | None = None
    gap: float = torch.inf
    deviation: float | None = None
    sharpest: Sharpest | None = None
    visible: Seen = field(default_factory=Seen)
    killed: bool = False
    values: tuple[set[Any], set[Any]] = field(default_factory=lambda: (set(), set()))

    def add(self, relation: Relation, part: Part, violated: torch.Tensor) -> None:
        """Add the instances of a batch on which the relation is asserted."""
        counted = relation.asserted & wide(part.valid, relation.lhs)
        counted &= ~open_entries(relation, part, violated)
        if not bool(counted.any()):
            return
        self.asserted += int(by_instance(counted).any(1).sum())
        for place, values in enumerate(self.values):
            if len(values) < 2:
                some = (relation.lhs, relation.rhs)[place].detach()[counted]
                values.update({relation.integers[place]} - {None})  # beside what was cut of it
                values.update((some[0].item(), *some[some != some[0]][:1].tolist()))
        self.visible.add(relation, counted, part)
        holds = counted & ~violated  # a violation is rounding, as the balls have shown
        if not self.killed:
            mutant = relation.strengthened()
            beyond = mutant.excess.detach() > mutant.tolerance.detach()
            self.killed = bool((beyond & holds).any())
        if SIGNS[relation.kind].bound:
            self._add_bound(relation, counted, holds, part)
        elif relation.kind == "eq":
            size = relation.size.detach().clamp(min=1.0)
            away = torch.where(counted, relation.excess.detach() / size, -torch.inf)
            self.deviation = max(self.deviation or 0.0, float(away.max()))

    def _add_bound(
        self, relation: Relation, counted: torch.Tensor, holds: torch.Tensor, part: Part
    ) -> None:
        lhs, rhs = (side.detach() for side in relation.proportions)
        self.gap = min(self.gap, float(_relative_gap(lhs, rhs)[counted].min()))
        positive = holds & (lhs > 0) & (rhs > relation.tolerance.detach())
        if not bool(positive.any()):
            return
        quotient = torch.where(positive, lhs, 0) / torch.where(positive, rhs, 1)
        ratios = by_instance(quotient).amax(1)
        best = float(ratios.max())
        self.ratio = max(self.ratio or 0.0, best)
        if self.sharpest is None or round(best, SAME) >= round(self.sharpest.ratio, SAME):
            record = part.instance(int(ratios.argmax()))
            candidate = Sharpest(best, record, part.family)
            if self.sharpest is None or candidate.rank > self.sharpest.rank:
                self.sharpest = candidate


@dataclass
class Tally:
    """What a search has seen.

    Attributes:
        counts: the instances.
        relations: by the place of a relation in what the body returns.
        reached: by name, how many instances had which value; see `reach`.
        raised: the instances inside the hypotheses on which the generator or the body raised.
        differs: how floats differ at the first instance that balls decide and rounding does not
            explain; see `Judgement.differs`.
        differing: on how many instances that were judged floats differ so.
        left: instances that are not counted: floats do not decide them, and balls were not asked.
        unseen: instances whose relations were not added, because one of them ended the search.
        singly: by reason, how many instances ran one at a time.
        visited: of a sweep, the discrete shapes that it has visited.
    """

    counts: Counts = field(default_factory=Counts)
    relations: dict[int, RelationTally] = field(default_factory=dict)
    reached: dict[str, Counter[int]] = field(default_factory=dict)
    raised: list[Raised] = field(default_factory=list)
    differs: str = ""
    differing: int = 0
    left: int = 0
    unseen: int = 0
    singly: Counter[str] = field(default_factory=Counter)
    visited: Visited = field(default_factory=Visited)

    @property
    def lost(self) -> bool:
        """Whether so many instances raised that the search ends."""
        return len(self.raised) >= CULPRITS

    def count(self, evaluation: Evaluation) -> None:
        """Count the instances of an evaluation, and keep those on which the claim raises."""
        self.counts += evaluation.counts
        if evaluation.singly:
            self.singly[evaluation.singly] += evaluation.alone
        if not self.lost:
            self.raised += evaluation.raised

    def add(self, part: Part, *, scout: bool = False) -> None:
        """Add the relations of a batch, where its instances are valid.

        Scouts are too many, and too small, to look for parts of the sides that are not needed.
        """
        left = torch.zeros_like(part.valid)
        for number, relation in enumerate(part.relations):
            entries = open_entries(relation, part, part.violated[number]) & relation.asserted
            left |= part.valid & by_instance(entries).any(1)
            if number not in self.relations:
                self.relations[number] = RelationTally(relation.kind, relation.label)
            self.relations[number].add(relation, part, part.violated[number])
        self.left += int(left.sum())

    def reach(self, claim: Claim, part: Part, *, sizes: bool = False) -> None:
        """Count what the instances of a batch reach; with `sizes`, nothing that is computed."""
        for name, counts in reached(claim, part, sizes=sizes).items():
            self.reached.setdefault(name, Counter()).update(counts)


def seen_in(tallies: Iterable[Tally]) -> dict[int, list[RelationTally]]:
    """By relation, in their order, what some searches have seen of it."""
    seen: dict[int, list[RelationTally]] = {}
    for tally in tallies:
        for number, relation in tally.relations.items():
            seen.setdefault(number, []).append(relation)
    return dict(sorted(seen.items()))


def hidden(claim: Claim, tallies: Iterable[Tally]) -> list[str]:
    """The relations that floats cannot see fail, for their tolerance, as sentences."""
    sentences = (
        swallowed(claim, seen[-1].label, number, sum((one.visible for one in seen), Seen()))
        for number, seen in seen_in(tallies).items()
    )
    return [sentence for sentence in sentences if sentence is not None]


def hollow(claim: Claim, number: int, seen: Sequence[RelationTally]) -> tuple[str, ...]:
    """Why a relation may say nothing: a side never varies, or both are one computation.

    Their derived mutants die. Natural are a side that is written as a number, an identity with one,
    and a constant other than 0 that is made of nothing that is drawn.
    """
    written = written_of(claim, number, seen[-1].label)
    if len(written) == 2 and ast.dump(written[0]) == ast.dump(written[1]):
        same = all(one.values[0] == one.values[1] for one in seen)
        return ("both sides are the same computation",) * same
    names, told = [_meant(side) - {*claim.parameters} for side in written], []
    if sum(one.asserted for one in seen) < ENOUGH or (seen[-1].kind == "eq" and not all(names)):
        return ()
    for place, used in enumerate(names):
        values = set[Any]().union(*(one.values[place] for one in seen))
        zero = values <= {0, torch.inf, -torch.inf}
        if len(values) == 1 and used & (used if zero else {*claim.arguments}):
            told.append(f"the {SIDES[place]} side is {values.pop():.6g} on every instance")
    return tuple(told)


def _meant(node: ast.AST) -> set[str]:
    """The names in an expression, without those that lend a number their shape or kind alone."""
    match node:
        case ast.Name(name):
            return {name}
        case ast.FloorDiv() | ast.Mod():
            return {"//"}
        case ast.BinOp(ast.Constant(0), ast.Mult()) | ast.BinOp(_, ast.Mult(), ast.Constant(0)):
            return set()
        case ast.Call(ast.Name(name) | ast.Attribute(attr=name)) if name in WRITTEN:
            return set()
    return set[str]().union(*map(_meant, ast.iter_child_nodes(node)))


def open_entries(relation: Relation, part: Part, violated: torch.Tensor) -> torch.Tensor:
    """Entries that fail by more than rounding or hold integers that wrapped, undecided by balls."""
    if not (part.wrapped or bool(violated.any())):
        return violated
    undecided = torch.ones_like(part.valid)
    undecided[list(part.satisfied)] = False
    far = violated & ~(relation.excess.detach() <= TOLERANCES * relation.tolerance.detach())
    return (far | part.wrapped) & wide(undecided, relation.lhs)


def _relative_gap(lhs: torch.Tensor, rhs: torch.Tensor) -> torch.Tensor:
    """How far a bound is from equality, relative to its larger side; 0 where both are 0."""
    lhs, rhs = lhs.to(torch.float64), rhs.to(torch.float64)
    size = torch.maximum(lhs.abs(), rhs.abs())
    gap = torch.where(size > 0, (rhs - lhs) / size, torch.zeros_like(size))
    # An infinite side is far from equality.
    return torch.where(gap.isnan(), torch.full_like(gap, torch.inf), gap)
