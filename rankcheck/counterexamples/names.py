"""The names in a body with their values: what leads to two sides, and where floats and balls part.

The body runs once, and its local variables are looked at where it returns.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from typing import Any

import torch

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.claims.rewriting import assignments, changed
from rankcheck.claims.sides import definition
from rankcheck.counterexamples.rounding import beyond_rounding
from rankcheck.networks import Network

__all__ = ["assigned", "first_difference", "named_values"]

#: Longer expressions are left out.
CODE = 160


def first_difference(claim: Claim, floats: tuple[Any, ...], exact: tuple[Any, ...]) -> str:
    """What a body assigns first that floats and balls differ on: `S = symmetric_sqrt(A)`.

    It is empty if nothing that has a name in the body differs, as in a body of one line.
    """
    in_balls = named_values(claim, exact)
    for name, value in named_values(claim, floats, exactly=False).items():
        if any(_differ(*pair) for pair in _pairs(value, in_balls.get(name))):
            code = assigned(claim).get(name)
            return f"{name} = {code}" if code else name
    return ""


def named_values(
    claim: Claim, arguments: tuple[Any, ...], *, exactly: bool = True
) -> dict[str, Any]:
    """The local variables of the body where it returns, without its arguments."""
    found: dict[str, Any] = {}
    code = getattr(claim.body, "__code__", None)

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "return" and frame.f_code is code:
            taken = code.co_argcount + code.co_kwonlyargcount
            found.update(
                (name, frame.f_locals[name])
                for name in code.co_varnames[taken:]
                if name in frame.f_locals
            )

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        with balls.conventions() if exactly else nullcontext():
            claim.relations(arguments)
    finally:
        sys.setprofile(before)
    return found


def assigned(claim: Claim) -> dict[str, str]:
    """By name, the expression that the body assigns to it, of names that nothing else changes.

    Of several names for the parts of one value, `f(x)[0]` and so on. Long ones are left out.
    """
    tree = definition(claim)
    if tree is None:
        return {}
    found: dict[str, str] = {}
    for target, value in chain.from_iterable(map(assignments, ast.walk(tree))):
        code = ast.unparse(value)
        if isinstance(target, ast.Name):
            found[target.id] = code
        elif isinstance(target, ast.Tuple):
            for i, part in enumerate(target.elts):
                if not isinstance(part, ast.Name):  # what comes behind a star has another place
                    break
                found[part.id] = f"{code}[{i}]"
    often = changed(tree)
    return {name: code for name, code in found.items() if name not in often and len(code) <= CODE}


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
    return beyond_rounding(value.double(), other.midpoints(), other.radii()) is not None
