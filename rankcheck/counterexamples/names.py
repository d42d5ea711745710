"""The names in a body with their values: what leads to two sides.

The body runs once, and its local variables are looked at where it returns.
"""

from __future__ import annotations

import ast
import sys
from itertools import chain
from typing import Any

from rankcheck import balls
from rankcheck.claims.claim import Claim
from rankcheck.claims.sides import assignments, changed, definition

#: Longer expressions are left out.
CODE = 160


def named_values(claim: Claim, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The local variables of the body where it returns, on exact arguments, without these."""
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
        with balls.conventions():
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
