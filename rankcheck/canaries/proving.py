"""Canaries of proofs: what is true is proved, what is false is not, and no forgery is accepted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import torch

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import declare
from rankcheck.claims.claim import Body, Claim
from rankcheck.claims.relations import Relation, eq, leq
from rankcheck.instances.scope import ScopeShape, shapes
from rankcheck.instances.source import Instances, Source, instances
from rankcheck.prove.checking import UnsoundError, check
from rankcheck.prove.controls import ProvedFalseError, controls
from rankcheck.prove.exact.algebra import prove_shape
from rankcheck.prove.proof import (
    Branch,
    Entry,
    Face,
    Factor,
    Factors,
    Goal,
    Leaf,
    Link,
    Node,
    Open,
    Proof,
    Ratio,
    Split,
    Substitution,
)
from rankcheck.prove.settings import Settings, Unproved

__all__ = ["CANARIES"]

#: A proof that takes more paths than this has lost its way; it ends there, and not by the clock.
SETTINGS = Settings(seconds=600.0, paths=64)


@instances
def _two(source: Source) -> Any:
    return source.tensor(), source.tensor()


_PAIRS: Instances = _two()


def _shape() -> ScopeShape:
    return shapes(_PAIRS, 2).shapes[0]


def _square(x: Any, y: Any, *, more: int = 0) -> Relation:
    """True, and false by any multiple of y² more."""
    return leq(2 * x * y + more * y * y, x * x + y * y)


def _number(x: Any, y: Any) -> Relation:
    """False for every negative x."""
    return leq(0 * x, x)


def _thin(x: Any, y: Any) -> Relation:
    """False at y = -1 alone: a product that is zero says nothing of one of its factors."""
    return eq(torch.where(x * (1 + y) == 0, x, 0 * x), 0 * x)


def _curve(x: Any, y: Any) -> Relation:
    """False on all of a curve but one point: it is solved for x, and x is not 0 there."""
    return eq(torch.where(x * (1 + y) + y * y == 0, x, 0 * x), 0 * x)


def _both(x: Any, y: Any) -> tuple[Relation, ...]:
    return leq(0 * x, x * x), leq(0 * x, x)


# Proofs by hand.


def _goal(polynomial: str, lhs: str, rhs: str, power: int = 0) -> Goal:
    """A goal that a power of x0 is not negative, or that 0 is 0."""
    sides = Ratio(num=lhs), Ratio(num=rhs)
    return Goal(
        polynomial=polynomial,
        signs="0+" if power else "0",
        certificate=Factors(scale="1", factors=(Factor(of="x0", power=power),))
        if power
        else Factors(scale="0"),
        lhs=sides[0],
        rhs=sides[1],
    )


def _leaf(*goals: Goal) -> Leaf:
    return Leaf(outcome="asserted", goals=goals)


def _split(of: str, *branches: str) -> Split:
    """A split; the branches go to the nodes that follow."""
    return Split(
        of=of, branches=tuple(Branch(signs=one, to=to) for to, one in enumerate(branches, 1))
    )


def _proof(*nodes: Node, beyond: tuple[Face, ...] = ()) -> Proof:
    """A proof about two numbers."""
    faces = (Face(nodes=nodes), *beyond)
    return Proof(
        integers=(),
        sizes={},
        entries=tuple(Entry(name=name, low="-8", high="8") for name in ("x0", "x1")),
        method="algebra",
        paths=sum(not isinstance(node, Split) for face in faces for node in face.nodes),
        faces=faces,
    )


_SQUARED = _goal("x0^2", "0", "x0^2", 2)
_ITSELF = _goal("x0", "0", "x0", 1)
_ZERO = _leaf(_goal("0", "0", "0"))
_X_IS_ZERO = Face(substitutions=(Substitution(variable="x0", by=Ratio(num="0")),), nodes=(_ZERO,))
_READ_AS_ZERO = _proof(
    _split("x0*x1 + x0", "-+", "0"),
    _ZERO,
    Link(zero="x0*x1 + x0", variable="x0", face=1),
    beyond=(_X_IS_ZERO,),
)


def _refused(body: Body, proof: Proof, says: str, folder: Path) -> str | None:
    """What is wrong if a forged proof is not refused with those words."""
    try:
        check(declare("a forged proof", body, _PAIRS, folder), proof)
    except UnsoundError as error:
        return None if says in str(error) else f"it is refused for something else: {error}"
    return "the second checker accepts it"


def _proved(folder: Path) -> str | None:
    claim = declare("a square", _square, _PAIRS, folder)
    found = prove_shape(claim, _shape(), SETTINGS)
    if isinstance(found, Unproved):
        return f"it is not proved: {found.reason}"
    checked = check(claim, found)
    return None if checked.reached == checked.leaves else f"no point is in a leaf: {checked}"


def _unproved(body: Body, folder: Path) -> str | None:
    found = prove_shape(declare("a false statement", body, _PAIRS, folder), _shape(), SETTINGS)
    proved = isinstance(found, Proof) and not found.exceptions
    return "it is proved" if proved else None


def _mutated(folder: Path) -> Claim:
    return declare("mutants", _square, _PAIRS, folder, mutants={"3/2 y²": {"more": 1}})


def _mutant(folder: Path) -> str | None:
    claim, shape = _mutated(folder), _shape()
    found = controls(claim, shape, lambda one: prove_shape(one, shape, SETTINGS))
    return None if found == {"3/2 y²": "false"} else f"of the mutant it is said: {found}"


def _proved_mutant(folder: Path) -> str | None:
    """A prover that proves everything."""
    try:
        found = controls(_mutated(folder), _shape(), lambda one: _proof(_ZERO))
    except ProvedFalseError:
        return None
    return f"of the mutant it is said: {found}"


CANARIES = (
    Canary("a square is not negative", "proofs", _proved),
    Canary("false on a curve", "proofs", partial(_unproved, _curve)),
    Canary("a proof that reads x p = 0 as x = 0", "proofs",
           partial(_refused, _thin, _READ_AS_ZERO, "may be zero on the path")),
    Canary("a proof without the case of equality", "proofs",
           partial(_refused, _number,
                   _proof(_split("x0", "+", "-"), _leaf(_ITSELF), _leaf(_ITSELF)),
                   "no branch has the sign 0")),
    Canary("a proof with a sign that nobody knows", "proofs",
           partial(_refused, _number, _proof(_leaf(_ITSELF)), "no more is known on the path")),
    Canary("a proof of another polynomial", "proofs",
           partial(_refused, _number, _proof(_leaf(_goal("x0^2", "0", "x0", 2))),
                   "and its sides give x0")),
    Canary("a proof about another statement", "proofs",
           partial(_refused, _number, _proof(_leaf(_SQUARED)), "the formula of the leaf gives")),
    Canary("a proof of one of two relations", "proofs",
           partial(_refused, _both, _proof(_leaf(_SQUARED)), "no goal proves it")),
    Canary("a proof with an open path", "proofs",
           partial(_refused, _number,
                   _proof(_split("x0", "0+", "-"), _leaf(_ITSELF), Open(reason="a canary")),
                   "nothing is proved there")),
    Canary("a mutant that is false at its shape", "proofs", _mutant),
    Canary("a false mutant that is proved", "proofs", _proved_mutant),
)  # fmt: skip
