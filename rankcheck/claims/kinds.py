"""The kinds of claims, each the name of a decorator: what they mean, and what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rankcheck.claims.verdicts import Verdict

Kind = Literal[
    "bound",
    "identity",
    "construction",
    "limit",
    "statistical",
    "conjecture",
    "refuted",
    "step",
    "cited",
]


@dataclass(frozen=True)
class KindFacts:
    """What a kind of claims says.

    Attributes:
        meaning: a clause without a full stop.
        expects: the verdict of such a claim if all is well.
        false: whether the claim is false: its counterexample is stored and replayed.
        weights: of a false claim, which weights its errata may have.
    """

    meaning: str
    expects: Verdict = "holds"
    false: bool = False
    weights: tuple[str, ...] = ()


KINDS: Mapping[Kind, KindFacts] = {
    "bound": KindFacts("a proved inequality"),
    "identity": KindFacts("a proved equation"),
    "construction": KindFacts("what a construction does"),
    "limit": KindFacts("what holds at every finite size, with the rate"),
    "statistical": KindFacts("the outcome of a random experiment"),
    "conjecture": KindFacts("no proof is known", expects="guarded"),
    "refuted": KindFacts("false as printed", "refuted", false=True, weights=("formula", "theorem")),
    "step": KindFacts("a wrong step of a proof", "refuted", false=True, weights=("step",)),
    "cited": KindFacts("cannot be checked here", expects="cited"),
}
FALSE = tuple(kind for kind, facts in KINDS.items() if facts.false)
