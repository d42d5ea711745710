"""How audits evaluate a claim on a trained network, as its `audit=` says.

    audit="at points: |a| ≤ 1, rank ≥ 1; ranks, heavy"
    audit="left out: it compares two networks"

First comes on what the claim is evaluated: *at points* (the relations are checked at each of them),
*at pairs* of points, *on data* as a whole, or *on the network* alone. Then come the hypotheses, by
their names in `HYPOTHESES`; what has points asks for no kinks besides. Behind a semicolon stands
what the body takes, by the words of `MANNERS`. A theorem that is evaluated is true for every
network and all data that meet its hypotheses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from rankcheck.audit.theorems import hypotheses
from rankcheck.audit.theorems.hypotheses import Condition
from rankcheck.catalogue.collect import project
from rankcheck.catalogue.loader import load
from rankcheck.claims.claim import Claim

__all__ = ["LEFT_OUT", "Theorem", "theorem_of", "theorems"]

Widths: TypeAlias = tuple[int, ...]

#: How the `audit=` of a claim begins that audits do not evaluate; the reason follows.
LEFT_OUT = "left out: "
#: What a claim may be evaluated on, in the order in which audits list the claims.
PLACES = ("at points", "at pairs", "on data", "on the network")
HYPOTHESES: Mapping[str, Condition] = {
    "|a| ≤ 1": hypotheses.bounded_slope,
    "0 ≤ a ≤ 1": hypotheses.nonnegative_slope,
    "ReLU": hypotheses.relu,
    "L ≥ 2": hypotheses.hidden_layer,
    "L = 2": hypotheses.depth_two,
    "one input": hypotheses.one_input,
    "one output": hypotheses.one_output,
    "balanced": hypotheses.balance,
    "rank ≥ 1": hypotheses.positive_rank,
    "one rank": hypotheses.same_rank,
    "varying outputs": hypotheses.varying_outputs,
    "two points": hypotheses.two_points,
    "one region": hypotheses.shared_pattern,
}
MANNERS: Mapping[str, str] = {
    "ranks": "the numerical rank of Jf",
    "directions": "the directions of a domain beside a point; all of them are taken",
    "spectra": "the singular values of the weights or of other matrices as large",
    "heavy": "singular values in every layer at every point",
    "inputs × outputs": "a square matrix with so many rows",
    "points × outputs": "a square matrix with so many rows",
    "far apart": "pairs of points where the values, and the Jacobians, differ most",
}

#: Numbers in the largest array of a statement about data.
NUMBERS = 2**23
#: Rows of a matrix over outputs, in floats and in balls.
ROWS, PROVABLE_ROWS = 2048, 40
#: Points of a statement about data in balls.
PROVABLE_POINTS = 128
#: Up to this width a decomposition takes a second or so; it is not interrupted.
WIDEST = 1024


@dataclass(frozen=True)
class Theorem:
    """A claim that applies to networks, and how it is evaluated.

    Attributes:
        claim: its id.
        on: one of `PLACES`.
        conditions: its hypotheses.
        manner: what its body takes, words of `MANNERS`.
    """

    claim: str
    on: str
    conditions: tuple[Condition, ...]
    manner: frozenset[str]

    @property
    def balanced(self) -> bool:
        """Whether it is about balanced parameters: others have it evaluated after balancing."""
        return hypotheses.balance in self.conditions

    @property
    def ranked(self) -> bool:
        """Whether it depends on the numerical rank of Jf."""
        return "ranks" in self.manner

    def numbers(self, widths: Widths) -> int:
        """How many numbers the arrays of the body have for each point, about."""
        each = sum(widths) * (widths[0] + widths[-1])
        if "heavy" in self.manner:
            each += sum(widths) * max(widths)
        if "inputs × outputs" in self.manner:
            each += (widths[0] * widths[-1]) ** 2
        return 4 * each

    def most(self, widths: Widths) -> int:
        """The largest number of points of the data: the differences of all pairs fit."""
        if "points × outputs" in self.manner:
            return ROWS // widths[-1]
        return int((NUMBERS / max(widths)) ** 0.5)

    def fits(self, widths: Widths) -> bool:
        """Whether no matrix is so large that the body would take minutes at one point."""
        decomposes = bool(self.manner & {"heavy", "spectra"})
        rows = widths[0] * widths[-1] if "inputs × outputs" in self.manner else 0
        return rows <= ROWS and not (decomposes and max(widths) > WIDEST)

    def provable(self, widths: Widths, number: int) -> bool:
        """Whether ball arithmetic is fast enough for so many points."""
        if "inputs × outputs" in self.manner:
            return widths[0] * widths[-1] <= PROVABLE_ROWS
        if "points × outputs" in self.manner:
            return number * widths[-1] <= PROVABLE_ROWS // 2
        return number <= PROVABLE_POINTS


def theorem_of(claim: str, text: str) -> Theorem:
    """What the `audit=` of a claim says.

    Raises:
        ValueError: it is not of the form above.

    >>> theorem_of("mine.claim", "at points: |a| ≤ 1; ranks").ranked
    True
    """
    head, _, body = text.partition("; ")
    on, _, needed = head.partition(": ")
    conditions, manner = (part.split(", ") if part else [] for part in (needed, body))
    unknown = [*({on} - {*PLACES}), *({*conditions} - {*HYPOTHESES}), *({*manner} - {*MANNERS})]
    if unknown:
        raise ValueError(
            f"{claim}: audit= has {unknown[0]!r}; it begins with one of {', '.join(PLACES)}, has "
            f"hypotheses among {', '.join(HYPOTHESES)}, and behind a semicolon words among "
            f"{', '.join(MANNERS)}; or it is {LEFT_OUT!r} and why"
        )
    kinks = () if on == "on the network" else (hypotheses.no_kinks,)
    checks = tuple(HYPOTHESES[name] for name in conditions)
    return Theorem(claim, on, (*kinks, *checks), frozenset(manner))


@cache
def theorems() -> dict[Theorem, Claim]:
    """The theorems in the order in which an audit lists them, with their claims."""
    entries = [e for e in project() if e.audit and not e.audit.startswith(LEFT_OUT)]
    claims = {claim.id: claim for claim in load(entries)}
    known = [theorem_of(entry.id, entry.audit or "") for entry in entries]
    known.sort(key=lambda theorem: PLACES.index(theorem.on))
    return {theorem: claims[theorem.claim] for theorem in known}
