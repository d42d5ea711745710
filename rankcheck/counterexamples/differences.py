"""Where floats and balls part: the first assignment of a body that has another value in floats."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Any

import torch

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.claims.sides import definition
from rankcheck.counterexamples.rounding import beyond_rounding
from rankcheck.networks import Network

__all__ = ["first_difference"]

#: Longer expressions are cut.
LONGEST = 72


def first_difference(claim: Claim, floats: tuple[Any, ...], exact: tuple[Any, ...]) -> str:
    """What a body assigns first that floats and balls differ on: `S = symmetric_sqrt(A)`.

    It is empty if nothing that has a name in the body differs, as in a body of one line.

    Args:
        floats, exact: the arguments of the body, in floats and in exact numbers.
    """
    with balls.conventions():
        in_balls = _named(claim, exact)
    in_floats = _named(claim, floats)
    for name, value in in_floats.items():
        if any(_differ(*pair) for pair in _pairs(value, in_balls.get(name))):
            return _assignment(claim, name)
    return ""


def _named(claim: Claim, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The local variables of the body where it returns, in the order of their assignment."""
    found: dict[str, Any] = {}
    code = getattr(claim.body, "__code__", None)

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            found.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        claim.relations(arguments)
    finally:
        sys.setprofile(before)
    return found


def _pairs(value: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """A value in floats with that on balls; for lists and networks, pairs of their parts."""
    if isinstance(value, Network) and isinstance(other, Network):
        value, other = (*value.weights, *value.biases), (*other.weights, *other.biases)
    if isinstance(value, tuple | list) and isinstance(other, tuple | list):
        for pair in zip(value, other, strict=False):
            yield from _pairs(*pair)
    else:
        yield value, other


def _differ(value: Any, other: Any) -> bool:
    if not isinstance(other, BallArray) or not isinstance(value, torch.Tensor):
        return False
    if value.shape != other.shape or other.dtype.is_complex:
        return False
    middles = other.midpoints()
    return beyond_rounding(value.double(), middles, other.radii()) is not None


def _assignment(claim: Claim, name: str) -> str:
    """The assignment of a name, as the text of the body has it."""
    tree = definition(claim)
    for statement in [] if tree is None else ast.walk(tree):
        if isinstance(statement, ast.Assign) and name in {
            node.id
            for target in statement.targets
            for node in ast.walk(target)
            if isinstance(node, ast.Name)
        }:
            text = " ".join(ast.unparse(statement).split())
            return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return name
