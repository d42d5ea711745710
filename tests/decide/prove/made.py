"""Proofs made by hand, and an engine that hands them out."""

from __future__ import annotations

from functools import partial

from rankcheck.decide.prove.checking import Checked
from rankcheck.decide.prove.proof import Entry, Face, Factors, Goal, Leaf, Proof, Ratio
from rankcheck.decide.prove.settings import Unproved


def proof(shape=(), entries=1, **fields):
    """A proof that says that 0 is at least 0, whatever the claim says."""
    goal = Goal(
        polynomial="0",
        signs="0+",
        certificate=Factors(scale="0"),
        lhs=Ratio(num="x0"),
        rhs=Ratio(num="x0"),
    )
    common = {
        "integers": tuple(shape),
        "sizes": {},
        "entries": tuple(Entry(name=f"x{n}", low="-8", high="8") for n in range(entries)),
        "method": "algebra",
        "paths": 1,
        "faces": (Face(nodes=(Leaf(outcome="asserted", goals=(goal,)),)),),
    }
    return Proof(**common | fields)


class Engine:
    """What `prove_shape`, `check` and `controls` are in a test, and what they were asked.

    Attributes:
        unproved: by the number of entries, why there is no proof.
        left: what becomes of the mutants, by the number of entries.
        refused: whether the second checker refuses what it is shown.
    """

    def __init__(self):
        self.unproved: dict[int, Unproved | Exception] = {}
        self.left: dict[int, dict[str, str]] = {}
        self.refused: Exception | None = None
        self.false: Exception | None = None
        self.checked: list[tuple[int, ...]] = []
        self.shapes: list[tuple[int, ...]] = []
        self.fields: dict[str, object] = {}

    def prove_shape(self, claim, shape, settings):
        self.shapes.append(shape.integers)
        found = self.unproved.get(shape.entries)
        if isinstance(found, BaseException):
            raise found
        return found or proof(shape.integers, shape.entries, **self.fields)

    def check(self, claim, proof, *, seed=0, points=40, scope=729):
        self.checked.append(proof.integers)
        if self.refused is not None:
            raise self.refused
        return Checked(points=40)

    def controls(self, claim, shape, prove_one):
        if self.false is not None:
            raise self.false
        return self.left.get(shape.entries, {})


def _called(engine, name, *arguments, **named):
    return getattr(engine, name)(*arguments, **named)


def install(monkeypatch) -> Engine:
    """Put an engine in the place of the real one."""
    engine = Engine()
    for name in ("prove_shape", "check", "controls"):
        called = partial(_called, engine, name)
        monkeypatch.setattr(f"rankcheck.decide.prove.prover.{name}", called)
    for where in ("again", "checking"):  # a replay, and a verification
        monkeypatch.setattr(
            f"rankcheck.decide.prove.{where}.check", partial(_called, engine, "check")
        )
    return engine
