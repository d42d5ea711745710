"""A relation in a line, for a prompt."""

from __future__ import annotations

from typing import Any

from rankcheck.balls import is_ball
from rankcheck.claims.signs import SIGNS

__all__ = ["relation_text"]

#: A side on balls with more characters is shown by its shape.
LONGEST = 80


def relation_text(relation: Any) -> str:
    """Both sides of a `Relation`, and whether they satisfy it; of many entries, how many do not.

    >>> from rankcheck import leq
    >>> import torch
    >>> leq(torch.tensor([3.0, 0.0]), 1, label="size")
    <size: ≤ at 2 entries, fails at 1 of them by up to 2>
    >>> leq(torch.tensor(0.5), 1)
    <lhs 0.5 ≤ rhs 1, holds>
    """
    parts = relation.parts
    label = f"{relation.label}: " if relation.label else ""
    if any(is_ball(side) for part in parts for side in (part.lhs, part.rhs)):
        return f"<{label}{' or '.join(_in_balls(part) for part in parts)}>"
    entries = relation.lhs.numel()
    signs = " or ".join(SIGNS[part.kind].holds for part in parts)
    if entries != 1:
        return f"<{label}{signs} at {entries} entries, {_outcome(relation)}>"
    sides = " or ".join(
        f"lhs {float(part.lhs):.6g} {SIGNS[part.kind].holds} rhs {float(part.rhs):.6g}"
        for part in parts
    )
    return f"<{label}{sides}, {_outcome(relation)}>"


def _in_balls(part: Any) -> str:
    lhs, rhs = part.lhs, part.rhs
    shown = [f"{n} {side.describe(6)}" for n, side in (("lhs", lhs), ("rhs", rhs))]
    if max(map(len, shown)) > LONGEST:
        shown = [f"{n} of shape {tuple(side.shape)}" for n, side in (("lhs", lhs), ("rhs", rhs))]
    return f"{shown[0]} {SIGNS[part.kind].holds} {shown[1]}"


def _outcome(relation: Any) -> str:
    """What floats say of it."""
    entries, asserted = relation.lhs.numel(), int(relation.asserted.sum())
    if not asserted:
        return "not asserted"
    violated = relation.violated()
    failing = int(violated.sum())
    if not failing:
        return "holds" + (f" ({asserted} of them asserted)" if asserted < entries else "")
    by = f"{float(relation.excess.double()[violated].max()):.6g}"
    if entries > 1:
        return f"fails at {failing} of them by up to {by}"
    return f"fails by {by} (tolerance {float(relation.tolerance.max()):.2g})"
