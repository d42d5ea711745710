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
    lhs, rhs, sign = relation.lhs, relation.rhs, SIGNS[relation.kind].holds
    label = f"{relation.label}: " if relation.label else ""
    if is_ball(lhs) or is_ball(rhs):
        return f"<{label}{_in_balls(lhs, sign, rhs)}>"
    entries = lhs.numel()
    if entries != 1:
        return f"<{label}{sign} at {entries} entries, {_outcome(relation)}>"
    return f"<{label}lhs {float(lhs):.6g} {sign} rhs {float(rhs):.6g}, {_outcome(relation)}>"


def _in_balls(lhs: Any, sign: str, rhs: Any) -> str:
    shown = [f"{n} {side.describe(6)}" for n, side in (("lhs", lhs), ("rhs", rhs))]
    if max(map(len, shown)) > LONGEST:
        shown = [f"{n} of shape {tuple(side.shape)}" for n, side in (("lhs", lhs), ("rhs", rhs))]
    return f"{shown[0]} {sign} {shown[1]}"


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
