"""The result of `rankcheck prove`: what is proved at which shapes, its text and its JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from rankcheck.claims.catalogue.entry import at_prompt
from rankcheck.claims.proved import METHODS
from rankcheck.decide.prove.proof import Proof
from rankcheck.decide.prove.sentences import (
    NOTHING_ELSE,
    controls,
    counted,
    open_mutants,
    sentence,
    shape_text,
)
from rankcheck.decide.prove.target import Target
from rankcheck.notebook import InNotebooks, Readable

SCHEMA = 1
#: So many proofs, and so many reasons why there is none, are written out.
SHOWN, REASONS = 3, 4


@dataclass(frozen=True, kw_only=True, repr=False)
class Outcome(Readable):
    """What became of a claim at a shape.

    Attributes:
        proof: it has passed the second checker; None without one.
        reason, place: why there is none, and where in the code of the claim.
        paths: how many paths were gone through.
        seconds: for all of it: the proof, its check, and the controls.
        checked: what the second checker took of them.
        whole: of a range, whether it has all instances.
    """

    target: Target
    proof: Proof | None = None
    reason: str = ""
    place: str = ""
    paths: int = 0
    seconds: float = 0.0
    checked: float = 0.0
    whole: bool = False

    @property
    def text(self) -> str:
        """The shape in words; of a range, its instances."""
        one = self.target
        if self.proof is not None and self.proof.method == "range":
            return ("all " if self.whole else "") + counted(self.paths, "instance")
        return shape_text(one.sizes, one.integers, twin=one.twin)

    @property
    def sentence(self) -> str:
        """What is proved there, and how much the mutants say of that; empty without a proof."""
        if self.proof is None:
            return ""
        return f"{sentence(self.proof, self.text, whole=self.whole)}. {controls(self.proof)}"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; a proof itself is in the file of proofs."""
        proof = self.proof
        return {
            "integers": list(self.target.integers),
            "sizes": dict(self.target.sizes),
            "entries": self.target.entries,
            "text": self.text,
            "method": None if proof is None else proof.method,
            "paths": self.paths if proof is None else proof.paths,
            "exceptions": [] if proof is None else list(proof.exceptions),
            "controls": {} if proof is None else dict(proof.controls),
            "whole": self.whole,
            "sentence": self.sentence,
            "reason": self.reason,
            "place": self.place,
            "seconds": round(self.seconds, 3),
        }


def weight(outcome: Outcome) -> tuple[bool, bool, int, int]:
    """By what proofs are ordered: how much they say."""
    proof = outcome.proof
    assert proof is not None
    return (
        open_mutants(proof) > 0,
        not proof.exceptions,
        outcome.target.entries,
        proof.paths,
    )


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A claim that is to be proved, in plain values: its text, and its shapes.

    Attributes:
        file: where the claim is, as it is shown.
        entries: the shapes have at most so many entries.
        targets: the shapes that are chosen, the smallest first; of a range, one without integers.
        ranged: whether the instances are integers alone.
        complete: whether these are all shapes with so many entries.
    """

    claim: str
    title: str
    statement: str
    statement_sha256: str
    file: str
    entries: int
    targets: tuple[Target, ...]
    ranged: bool = False
    complete: bool = False


@dataclass(frozen=True)
class Progress:
    """How far a run is: seconds of a budget, shapes done of all, proved ones, and what is done."""

    seconds: float
    budget: float
    done: int
    shapes: int
    proved: int
    doing: str = ""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Result(InNotebooks):
    """What is proved of a claim.

    Attributes:
        plan: the claim and its shapes.
        outcomes: what became of the shapes that were tried, in their order.
        interrupted: whether Ctrl-C ended the run.
        left: the file where the proofs were left.
    """

    plan: Plan
    outcomes: tuple[Outcome, ...]
    seed: int = 0
    budget: float = 0.0
    seconds: float = 0.0
    interrupted: bool = False
    left: str | None = None

    @cached_property
    def proved(self) -> tuple[Outcome, ...]:
        """The shapes where the claim is proved: those where a mutant is not, then larger ones."""
        found = [one for one in self.outcomes if one.proof and not one.proof.exceptions]
        return tuple(sorted(found, key=weight, reverse=True))

    @cached_property
    def nearly(self) -> tuple[Outcome, ...]:
        """The shapes where it is proved except possibly on sets without inner points."""
        found = [one for one in self.outcomes if one.proof and one.proof.exceptions]
        return tuple(sorted(found, key=weight, reverse=True))

    @property
    def verdict(self) -> Literal["proved", "not proved"]:
        """Whether anything is proved; `not proved` says nothing against the claim."""
        return "proved" if self.proved else "not proved"

    @property
    def counterexample(self) -> None:
        """None: a run that proves nothing refutes nothing. A hunt looks for counterexamples."""
        return None

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """Their proofs, in this order."""
        return tuple(one.proof for one in self.proved if one.proof is not None)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, schema 1, with the text."""
        plan = self.plan
        return {
            "schema": SCHEMA,
            "claim": plan.claim,
            "title": plan.title,
            "statement": plan.statement,
            "statement_sha256": plan.statement_sha256,
            "file": plan.file,
            "seed": self.seed,
            "budget": self.budget,
            "seconds": self.seconds,
            "entries": plan.entries,
            "shapes": len(plan.targets),
            "complete": plan.complete,
            "proved": len(self.proved),
            "interrupted": self.interrupted,
            "outcomes": [one.to_json() for one in self.outcomes],
            "left": self.left,
            "message": self.message,
        }

    @cached_property
    def message(self) -> str:
        """The result in words."""
        return "\n".join(self._lines())

    def __str__(self) -> str:
        return self.message

    def _lines(self) -> list[str]:
        plan, proved = self.plan, self.proved
        lines = [f"{plan.claim}: {self._headline()}"]
        lines += [f"  {one.sentence}." for one in proved[:SHOWN]]
        if len(proved) > SHOWN:
            lines.append(f"  Also {counted(len(proved) - SHOWN, 'other shape')}: {self._others()}.")
        lines += [f"  {one.sentence}." for one in self.nearly[:1]]
        if len(self.nearly) > 1:
            more = counted(len(self.nearly) - 1, "other shape")
            lines.append(f"  With exceptions also {more}.")
        lines += self._unproved()
        untried = len(plan.targets) - len(self.outcomes)
        if untried:
            why = "interrupted" if self.interrupted else "the seconds were spent"
            lines.append(f"  {counted(untried, 'shape')} not tried: {why} (--seconds S).")
        if plan.targets and not (plan.ranged or plan.complete):
            lines.append("  There are other shapes of so many entries; --shape chooses some.")
        if proved and not plan.ranged:
            lines.append(f"  {NOTHING_ELSE}.")
        budget = f" of {self.budget:g}" if self.budget else ""
        lines.append(f"  {self.seconds:.1f}{budget} s, seed {self.seed}")
        if self.left is not None:
            again = "" if at_prompt(Path(plan.file)) else f"      rankcheck replay {self.left}"
            lines.append(f"  proofs: {self.left}{again}")
        return lines

    def _headline(self) -> str:
        """How much is proved, without its full stop."""
        plan, proved = self.plan, self.proved
        if plan.ranged:
            whole = proved and proved[0].whole
            how = "proved" if whole else "proved for a range of its instances"
            return how if proved else "not proved; that says nothing against it"
        if not plan.targets:
            most = counted(plan.entries, "entry", "entries")
            return f"it has no shape of at most {most}; --entries N takes larger ones"
        shapes = counted(len(plan.targets), "shape")
        of = f"{shapes} of at most {counted(plan.entries, 'entry', 'entries')}"
        nearly = f", with exceptions at {len(self.nearly)}" if self.nearly else ""
        if not proved:
            return f"proved at none of {of}{nearly}; that says nothing against it"
        methods = Counter[str](proof.method for proof in self.proofs)
        by = ", ".join(f"{METHODS[name]}: {methods[name]}" for name in METHODS if methods[name])
        return f"proved at {len(proved)} of {of} ({by}){nearly}"

    def _others(self) -> str:
        """The largest of the other shapes."""
        largest = max(self.proved[SHOWN:], key=lambda one: one.target.entries)
        return f"the largest has {counted(largest.target.entries, 'entry', 'entries')}"

    def _unproved(self) -> list[str]:
        """Why there is no proof, each reason once, with the shape that it stopped first."""
        reasons: dict[tuple[str, str], list[Outcome]] = {}
        for one in self.outcomes:
            if one.proof is None:
                reasons.setdefault((one.reason, one.place), []).append(one)
        lines = []
        for (reason, place), where in list(reasons.items())[:REASONS]:
            first, more = where[0], len(where) - 1
            others = f" and {counted(more, 'other shape')}" if more else ""
            there = "" if self.plan.ranged else f" for {first.text}{others}"
            code = f" ({place})" if place else ""
            paths = (
                f", after {counted(first.paths, 'path')}"
                if first.paths and "path" not in reason
                else ""
            )
            lines.append(f"  Not proved{there}: {reason}{code}{paths}.")
        if len(reasons) > REASONS:
            lines.append(f"  Not proved for {counted(len(reasons) - REASONS, 'other reason')}.")
        return lines
