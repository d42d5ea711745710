"""The names in a body with their values: what leads to two sides, and where floats and balls part.

The body runs once, and its local variables are looked at where it returns.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import torch

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.claims.sides import definition
from rankcheck.counterexamples.rounding import beyond_rounding
from rankcheck.networks import Network

__all__ = ["assigned", "first_difference", "named_values"]

#: Longer expressions are left out.
CODE = 160


def first_difference(claim: Claim, floats: tuple[Any, ...], exact: tuple[Any, ...]) -> str:
    """What a body assigns first that floats and balls differ on: `S = symmetric_sqrt(A)`.

    It is empty if nothing that has a name in the body differs, as in a body of one line.

    Args:
        floats, exact: the arguments of the body, in floats and in exact numbers.
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
    """By name, the expression that the body assigns to it, of names that it assigns once.

    Of several names for the parts of one value, `f(x)[0]` and so on. Long ones are left out.
    """
    tree = definition(claim)
    nodes = [] if tree is None else list(ast.walk(tree))
    stored = Counter(
        n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    found: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Assign([ast.Name(name)], value):
                found[name] = ast.unparse(value)
            case ast.Assign([ast.Tuple(parts)], ast.Tuple(values)):
                pairs = zip(parts, values, strict=False)
                found |= {p.id: ast.unparse(v) for p, v in pairs if isinstance(p, ast.Name)}
            case ast.Assign([ast.Tuple(parts)], value):
                for i, part in enumerate(parts):
                    if isinstance(part, ast.Name):
                        found[part.id] = f"{ast.unparse(value)}[{i}]"
                    else:  # what comes behind a star has another place
                        break
    return {name: code for name, code in found.items() if stored[name] == 1 and len(code) <= CODE}


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
