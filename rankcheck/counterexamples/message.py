"""What a person is told of a violation that is not proved, and how an instance is typed."""

from __future__ import annotations

import json
import shlex

from rankcheck import balls
from rankcheck.claims.labels import READABLE, at_entry, readable
from rankcheck.claims.sides import sides_of
from rankcheck.counterexamples.describe import describe_instance, selector
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.judge import PRECISIONS, exact_instance
from rankcheck.counterexamples.rounding import furthest
from rankcheck.instances.choices import write_choices
from rankcheck.instances.drivers import ReplaySource
from rankcheck.parallel.traces import innermost

#: Typed forms longer than this are left to the certificate.
TYPED = 200


def undecided_message(violation: Instance) -> str:
    """The text of a violation in floats that is not proved: the figures, and why it is not."""
    claim, judgement = violation.claim, violation.judgement
    entry = furthest(violation.relations)
    named = zip(("lhs", "rhs"), sides_of(claim, entry.number, entry.relation.label), strict=True)
    lines = [
        f"{claim.id} is undecided: {entry.describe()}",
        *(f"  {name} is {side}" for name, side in named if side),
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
    lines += [f"  {readable(described)}", f"  claimed: {claim.claimed}"]
    return "\n".join(lines + typed_lines(violation))


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


def typed_lines(violation: Instance) -> list[str]:
    """The line with what the generator drew, as `rankcheck certify` takes it.

    A long one is left to the certificate, if there is one.
    """
    typed = json.dumps(write_choices(violation.record))
    if len(typed) > (TYPED if violation.proved else READABLE):
        return []
    name = selector(violation.claim)
    if name is None or not violation.proved:
        return [f"  typed: {typed}"]
    tight = " --tight" if violation.family is violation.claim.tight else ""
    return [f"  typed: rankcheck certify {name}{tight} --instance {shlex.quote(typed)}"]
