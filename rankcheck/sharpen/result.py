"""The result of a sharpening, and its JSON; the text and the page are made from the JSON alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from rankcheck.claims.claim import Claim
from rankcheck.claims.signs import RelationKind
from rankcheck.engine.counterexamples.refutation import Refutation
from rankcheck.engine.verification.counts import Counts
from rankcheck.files import shown_path
from rankcheck.notebook import InNotebooks, Readable
from rankcheck.sharpen.dial import Frontier
from rankcheck.sharpen.extremal import Extremal
from rankcheck.sharpen.recognise import LooksLike
from rankcheck.sharpen.trend import Trend
from rankcheck.sharpen.words import message

SCHEMA = 1


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Sharp(Readable):
    """What is known of one relation: all ratios are proved, so they are lower bounds.

    Attributes:
        best: the largest ratio of a bound, or deviation of an identity; None without one.
        small: an instance that keeps the ratio nearly, and is easier to read.
        special: sentences on what is special about it.
        how: `attained` if its ratio is known exactly, and is what the number looks like.
        groups: the best instance of the shapes with the same sizes, sorted by these.
        looks_like: closed forms that the ratio agrees with.
        trend: what the ratios by size tend to.
        growing: of a ratio without bound in sight, instances with ever larger ones.
        record: the ratio of the record that the run began with.
        history: by seconds, how the ratio grew.
        measured: of the instances on which it was asserted, the share with a ratio. The right side
            of the others was not positive.
        why: if there is no ratio, why.
        broken: whether it is proved to fail at an instance where it has no ratio.
    """

    name: str
    label: str
    kind: RelationKind
    best: Extremal | None = None
    small: Extremal | None = None
    special: tuple[str, ...] = ()
    how: str = "approached"
    groups: tuple[Extremal, ...] = ()
    looks_like: tuple[LooksLike, ...] = ()
    trend: Trend | None = None
    growing: tuple[Extremal, ...] = ()
    record: str | None = None
    history: tuple[tuple[float, float], ...] = ()
    measured: float = 1.0
    why: str = ""
    broken: bool = False

    @property
    def refuted(self) -> bool:
        """Whether it is proved to fail."""
        return self.broken or (self.best is not None and self.best.attained.refutes)

    @property
    def ratio(self) -> float | None:
        """The proved lower bound of the supremum of lhs / rhs, or of the deviation."""
        return None if self.best is None else self.best.attained.value

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "name": self.name,
            "label": self.label,
            "kind": self.kind,
            "refuted": self.refuted,
            "best": None if self.best is None else self.best.to_json(),
            "small": None if self.small is None else self.small.to_json(),
            "special": list(self.special),
            "how": self.how,
            "by": [{"key": list(one.key), "best": one.to_json()} for one in self.groups],
            "looks_like": [asdict(one) for one in self.looks_like],
            "trend": None if self.trend is None else asdict(self.trend),
            "growing": [one.to_json() for one in self.growing],
            "record": self.record,
            "history": [list(one) for one in self.history],
            "measured": self.measured,
            "why": self.why,
        }


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Sharpened(InNotebooks):
    """The result of a sharpening.

    Attributes:
        relations: what is known of each relation, in the order of the body.
        by: the names of the sizes that group shapes.
        dial: where a parameter makes the claim false, if one was given.
        counts: the instances inside and outside the hypotheses.
        shapes: how many discrete shapes were visited.
        interrupted: whether Ctrl-C ended the search.
        troubles: by reason, how many searches ended early.
        certificate: the file of a counterexample, if a relation is proved to fail.
        counterexample: it, as the arguments of the body; None without one.
        record_file: where the instances of the run were left.
    """

    claim: Claim
    seed: int
    budget: float | None
    seconds: float
    relations: tuple[Sharp, ...]
    by: tuple[str, ...] = ()
    dial: Frontier | None = None
    counts: Counts = Counts()  # noqa: RUF009 -- it does not change
    shapes: int = 0
    interrupted: bool = False
    troubles: Mapping[str, int] = field(default_factory=dict)
    certificate: str | None = None
    counterexample: Refutation | None = None
    record_file: str | None = None

    @property
    def refuted(self) -> bool:
        """Whether a relation is proved to fail."""
        return any(one.refuted for one in self.relations)

    @property
    def verdict(self) -> Literal["refuted", "survived", "undecided"]:
        """`refuted`: a relation is proved to fail. `undecided`: nothing is certified."""
        if self.refuted:
            return "refuted"
        return "survived" if self.certified else "undecided"

    @property
    def certified(self) -> bool:
        """Whether anything is."""
        dial = self.dial is not None and self.dial.certified
        return dial or any(one.best is not None or one.broken for one in self.relations)

    def relation(self, name: str) -> Sharp:
        """The relation of that name.

        Raises:
            KeyError: if there is none.
        """
        for one in self.relations:
            if name in (one.name, one.label):
                return one
        raise KeyError(f"there is no relation {name!r}; there are {_names(self.relations)}")

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, schema 1, with the text."""
        return {**self._data, "message": self.message}

    @cached_property
    def message(self) -> str:
        """The result in words."""
        return message(self._data)

    def __str__(self) -> str:
        return self.message

    @cached_property
    def _data(self) -> dict[str, Any]:
        claim = self.claim
        return {
            "schema": SCHEMA,
            "claim": claim.id,
            "title": claim.title,
            "statement": claim.statement,
            "statement_sha256": claim.statement_hash,
            "file": shown_path(claim.file),
            "seed": self.seed,
            "budget": self.budget,
            "seconds": self.seconds,
            "shapes": self.shapes,
            "counts": asdict(self.counts),
            "by": list(self.by),
            "interrupted": self.interrupted,
            "troubles": dict(self.troubles),
            "relations": [one.to_json() for one in self.relations],
            "dial": None if self.dial is None else self.dial.to_json(),
            "certificate": self.certificate,
            "record_file": self.record_file,
        }


def _names(relations: Sequence[Sharp]) -> str:
    return ", ".join(one.name for one in relations)
