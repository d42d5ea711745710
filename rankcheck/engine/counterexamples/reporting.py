"""Reports a violation: it is made small, certified, and put into words."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.certificates import CertificateError, read
from rankcheck.claims.catalogue.entry import at_prompt
from rankcheck.claims.counterexample import Counterexample
from rankcheck.claims.labels import READABLE, at_entry, readable
from rankcheck.claims.sides import sides_of
from rankcheck.engine.counterexamples import certificate as certificates
from rankcheck.engine.counterexamples.describe import describe_instance, selector
from rankcheck.engine.counterexamples.instance import DisagreementError, Instance
from rankcheck.engine.counterexamples.refutation import Refutation, explained
from rankcheck.engine.counterexamples.replay import replay
from rankcheck.engine.counterexamples.rounding import furthest
from rankcheck.engine.counterexamples.shrinking.violations import BUDGET, shrink_violation
from rankcheck.files import shown_path
from rankcheck.notebook import Readable
from rankcheck.theory.instances.choices import write_choices
from rankcheck.theory.instances.drivers import ReplaySource

#: The worst instance is told apart from the smallest if it violates the claim by this factor more.
WORSE = Fraction(101, 100)
#: Typed forms longer than this are left to the certificate.
TYPED = 200


@dataclass(frozen=True, eq=False, repr=False)
class Found(Readable):
    """A reported violation.

    Attributes:
        message: its text for a person.
        certificate: the file, if the violation is proved and the file could be written. If it
            held a smaller counterexample before, it still does.
        smallest: the violation on the smallest instance that was found.
        worst: the one with the largest violation relative to the sides; the smallest, unless that
            of another is larger by 1 %.
        counterexample: the smallest one as the arguments of the body; None unless it is proved.
    """

    message: str
    certificate: str | None
    smallest: Instance
    worst: Instance
    counterexample: Refutation | None = None

    @property
    def proved(self) -> bool:
        """Whether ball arithmetic proves it."""
        return self.smallest.proved


def report_violation(violation: Instance, folder: Path, *, budget: float | None = BUDGET) -> Found:
    """Make a violation small, write its certificate if it is proved, and describe it.

    If the certificate cannot be written, the proof still stands and the message says so.

    Args:
        folder: where the certificate is written.
        budget: seconds for shrinking; 0 or None keeps the instance as it is.
    """
    if not violation.proved:
        return Found(undecided_message(violation), None, violation, violation)
    smallest, left_out = shrink_violation(violation, budget) if budget else (violation, None)
    worst = violation if _much_worse(violation, smallest) else None
    try:
        smaller = smaller_certificate(folder, smallest)
        path = smaller or certificates.write(folder, smallest, worst)
        again = f"rankcheck replay {shlex.quote(shown_path(path))}"
        if at_prompt(violation.claim.file):  # no command finds the claim
            again = f"rankcheck.engine.counterexamples.replay({shown_path(path)!r}, claim=claim)"
        left = f"certificate: {shown_path(path)}      {again}"
        if smaller:
            left += "\n  not replaced: that certificate holds a smaller counterexample"
    except OSError as error:
        path, left = None, f"no certificate: {folder} cannot be written to ({error.strerror})"
    claim = violation.claim
    found = explained(smallest, None if path is None else str(path))
    lines = [*found.lines(f"{claim.id} is false", "certified"), f"  claimed: {claim.claimed}"]
    if worst is not None:
        sentence = Counterexample.of(certificates.section(worst)).sentence
        lines.append(f"  at worst: {sentence} (in the certificate as well)")
    lines.append(f"  {left}")
    if left_out is not None:
        lines.append(f"  it may not be the smallest: {left_out}")
    message = "\n".join(lines + typed_lines(smallest))
    return Found(message, found.certificate, smallest, worst or smallest, found)


def smaller_certificate(folder: Path, violation: Instance) -> Path | None:
    """The certificate in `folder`, if it refutes the same text of the claim with less.

    An instance is smaller if it has fewer numbers, or as many and a shorter typed form. A file that
    does not prove its counterexample does not count.
    """
    path = folder / f"{violation.claim.id}.json"
    try:
        instance = read(path)["smallest"]["instance"]
        if _size(instance) >= _size(write_choices(violation.record)):
            return None
        replayed = replay(path, claim=violation.claim)
    except (CertificateError, DisagreementError):
        return None
    return None if replayed.changed else path


def _size(choices: list[Any]) -> tuple[int, int]:
    """The number of numbers in a typed instance, and the length of its text."""
    return _numbers(choices), len(json.dumps(choices))


def _numbers(given: Any) -> int:
    return sum(map(_numbers, given)) if isinstance(given, list) else 1


def _much_worse(violation: Instance, smallest: Instance) -> bool:
    return violation.in_balls.relative_excess > WORSE * smallest.in_balls.relative_excess


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


def typed_lines(violation: Instance) -> list[str]:
    """The line with what the generator drew, as `rankcheck certify` takes it.

    A long one is left to the certificate, if there is one.
    """
    typed = json.dumps(write_choices(violation.record))
    if len(typed) > (TYPED if violation.proved else READABLE):
        return []
    name = selector(violation.claim)
    if name is None or not violation.proved or violation.family is violation.claim.tight:
        return [f"  typed: {typed}"]  # `certify` reads a list as one of the other family
    return [f"  typed: rankcheck certify {name} --instance {shlex.quote(typed)}"]
