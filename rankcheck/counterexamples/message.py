"""Puts a violation into words: both sides, the instance, the statement, and how to repeat it."""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path

from rankcheck import balls
from rankcheck.claims.claim import Claim
from rankcheck.claims.labels import at_entry
from rankcheck.claims.relations import Relation
from rankcheck.claims.sides import sides_of
from rankcheck.claims.signs import SIGNS
from rankcheck.counterexamples.describe import (
    approximately,
    approximately_both,
    describe_drawn,
    describe_exact,
    describe_instance,
    middle,
    readable,
    selector,
)
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.judge import PRECISIONS, Judgement, exact_instance
from rankcheck.counterexamples.rounding import furthest
from rankcheck.errors import short_of_memory
from rankcheck.files import shown_path
from rankcheck.instances.choices import write_choices
from rankcheck.instances.drivers import ReplaySource
from rankcheck.instances.record import Record
from rankcheck.instances.source import Instances
from rankcheck.parallel.traces import innermost, named

#: Typed forms longer than this are left to the certificate.
TYPED = 200


def refuted_message(
    smallest: Instance, worst: Instance | None, certificate: str, left_out: str | None = None
) -> str:
    """The text of a proved violation.

    Args:
        worst: an instance with a larger violation, if there is one.
        certificate: a line about it.
        left_out: why it may not be the smallest, if there is a reason.
    """
    claim, judgement = smallest.claim, smallest.in_balls
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    instance = describe_exact(smallest)
    exactly = f"lhs = {judgement.lhs.describe()}, rhs = {judgement.rhs.describe()}"
    if tolerance := _tolerance(smallest):
        exactly += f"; tolerance in floats {tolerance:.2g}"
    lines = [
        f"{claim.id} is false: {sides(judgement)} (certified, {judgement.bits}-bit balls)",
        *side_lines(claim, judgement),
        f"  {readable(instance)}",
        *_drawn_lines(smallest, instance),
        f"  claimed: {claim.claimed}",
        f"  exactly: {exactly}",
    ]
    if worst is not None:
        lines.append(f"  at worst: {sides(worst.in_balls)} (in the certificate as well)")
    lines.append(f"  {certificate}")
    if left_out is not None:
        lines.append(f"  it may not be the smallest: {left_out}")
    return "\n".join(lines + _typed_lines(smallest))


def undecided_message(violation: Instance) -> str:
    """The text of a violation in floats that is not proved: the figures, and why it is not."""
    claim, judgement = violation.claim, violation.judgement
    entry = furthest(violation.relations)
    relation = entry.relation
    label = f"{relation.label}: " if relation.label else ""
    lines = [
        f"{claim.id} is undecided: {label}{_in_floats(relation, entry.place)}{entry.at}",
        *_named(claim, entry.number, relation.label),
        *(
            []
            if entry.violated
            else ["  violated in a batch of instances, whose last digits may differ"]
        ),
        f"  not certified: {judgement.reason}",
    ]
    if judgement.lhs is not None and judgement.rhs is not None:
        lines.append(
            f"  in balls{at_entry(judgement.entry, judgement.entries)}: "
            f"lhs = {judgement.lhs.describe()}, rhs = {judgement.rhs.describe()}"
        )
    described = describe_instance(claim, violation.family(ReplaySource(violation.record)))
    lines += [
        f"  {readable(described)}",
        *_drawn_lines(violation, described),
        f"  claimed: {claim.claimed}",
    ]
    return "\n".join(lines + _typed_lines(violation))


def raised_message(
    claim: Claim, record: Record, family: Instances, error: BaseException, *, by: str = "body"
) -> str:
    """The text of a body that raises on an instance: the line, the exception, the numbers.

    Args:
        record: of one instance, without a batch axis.
        family: its generator.
        error: what was raised, with its traceback.
        by: what raised it, the body or the generator.
    """
    frame = innermost(error, [claim.file], elsewhere=True)
    lines = [
        f"{claim.id} is undecided: its {by} ran out of memory ({named(error)})"
        if short_of_memory(error)
        else f"{claim.id} failed: its {by} raised {named(error)}"
    ]
    if frame is not None:
        lines.append(f"  at {shown_path(Path(frame.filename))}:{frame.lineno}: {frame.line}")
    typed = json.dumps(write_choices(record))
    try:
        described = describe_instance(claim, family(ReplaySource(record)))
    except Exception:  # the generator may be what raises
        return "\n".join([*lines, f"  drawn: {readable(f'{family}: {typed}')}"])
    lines += [f"  {readable(described)}", f"  drawn: {readable(f'{family}: {typed}')}"]
    return "\n".join(lines)


def obstacle(instance: Instance) -> str | None:
    """The line of the body at which ball arithmetic ends: `FILE:LINE: its text`.

    None if the body runs on balls, or the claim declares that it does not.
    """
    claim = instance.claim
    if claim.no_ball is not None:
        return None
    with balls.precision(PRECISIONS[-1]):
        try:
            claim.relations(exact_instance(instance.family, instance.record))
        except Exception as error:
            frame = innermost(error, [claim.file])
        else:
            return None
    if frame is None:
        return None
    return f"{claim.file.name}:{frame.lineno}: {frame.line or ''}".rstrip(": ")


def sides(judgement: Judgement) -> str:
    """`lhs 1 > rhs 0.9 by 0.1` of a proved violation, so that the sides differ; the entry."""
    assert judgement.lhs is not None
    assert judgement.rhs is not None
    lhs, rhs = approximately_both(middle(judgement.lhs), middle(judgement.rhs))
    label = f"{judgement.label}: " if judgement.label else ""
    text = f"{label}lhs {lhs} {SIGNS[judgement.kind].fails} rhs {rhs}"
    text += f" by {approximately(judgement.excess)}" if judgement.excess else ""
    return text + at_entry(judgement.entry, judgement.entries)


def side_lines(claim: Claim, judgement: Judgement) -> list[str]:
    """What lhs and rhs of a proved violation are in the body, a line for each that says it."""
    return _named(claim, judgement.relation, judgement.label)


def _named(claim: Claim, number: int, label: str) -> list[str]:
    sides = zip(("lhs", "rhs"), sides_of(claim, number, label), strict=True)
    return [f"  {name} is {side}" for name, side in sides if side]


def _in_floats(relation: Relation, entry: int) -> str:
    """Both sides of an entry of a relation, and by how much it fails."""
    lhs, rhs, tolerance = (
        float(side.reshape(-1)[entry]) for side in (relation.lhs, relation.rhs, relation.tolerance)
    )
    if not bool(relation.violated().reshape(-1)[entry]) or not math.isfinite(lhs - rhs):
        return f"lhs {lhs:.17g} and rhs {rhs:.17g} in floats (tolerance {tolerance:.3g})"
    return (
        f"lhs {lhs:.17g} {SIGNS[relation.kind].fails} rhs {rhs:.17g} by {abs(lhs - rhs):.6g} in "
        f"floats (tolerance {tolerance:.3g})"
    )


def _typed_lines(violation: Instance) -> list[str]:
    """The line with the instance as `rankcheck certify` takes it, unless that is long."""
    typed = json.dumps(write_choices(violation.record))
    if len(typed) > TYPED:
        return []
    name = selector(violation.claim)
    if name is None or not violation.proved:
        return [f"  typed: {typed}"]
    tight = " --tight" if violation.family is violation.claim.tight else ""
    return [f"  typed: rankcheck certify {name}{tight} --instance {shlex.quote(typed)}"]


def _drawn_lines(violation: Instance, description: str) -> list[str]:
    """The line with what was drawn, if the instance is built from it and does not show it."""
    drawn = describe_drawn(violation, description)
    return [f"  drawn: {readable(drawn)}"] if drawn else []


def _tolerance(violation: Instance) -> float | None:
    """The tolerance in floats of the relation that is violated; None if it has none."""
    relation = violation.relations[violation.in_balls.relation]
    return None if relation.exact else float(relation.tolerance.max())
