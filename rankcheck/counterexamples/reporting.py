"""Reporting a violation: it is made small, certified, and put into words."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.agreement import DisagreementError
from rankcheck.counterexamples.certificate import CertificateError
from rankcheck.counterexamples.message import refuted_message, undecided_message
from rankcheck.counterexamples.replay import replay
from rankcheck.counterexamples.shrinking.violations import BUDGET, Small, shrink_violation
from rankcheck.counterexamples.violation import Violation
from rankcheck.instances.choices import write_choices

#: The worst instance is told apart from the smallest if it violates the claim by this factor more.
WORSE = Fraction(101, 100)


@dataclass(frozen=True, eq=False)
class Found:
    """A reported violation.

    Attributes:
        proved: whether ball arithmetic proves it.
        message: its text for a person.
        certificate: the file, if the violation is proved and the file could be written. If it
            held a smaller counterexample before, it still does.
        smallest: the violation on the smallest instance that was found.
        worst: the one with the largest violation relative to the sides; the smallest, unless that
            of another is larger by 1 %.
    """

    proved: bool
    message: str
    certificate: str | None
    smallest: Violation
    worst: Violation


def report_violation(
    claim: Claim, violation: Violation, folder: Path, *, budget: float | None = BUDGET
) -> Found:
    """Make a violation small, write its certificate if it is proved, and describe it.

    If the certificate cannot be written, the proof still stands and the message says so.

    Args:
        folder: where the certificate is written.
        budget: seconds for shrinking; 0 or None keeps the instance as it is.
    """
    if not violation.proved:
        return Found(False, undecided_message(claim, violation), None, violation, violation)
    small = Small(violation, violation)
    if budget:
        small = shrink_violation(claim, violation, budget)
    if not _much_worse(small):
        small = replace(small, worst=small.smallest)
    worst = small.worst if small.worst is not small.smallest else None
    try:
        kept = smaller_certificate(folder, claim, small.smallest)
        path = kept or certificates.write(folder, claim, small.smallest, worst)
        left = f"certificate: {shown_path(path)}      "
        left += f"rankcheck replay {shlex.quote(shown_path(path))}"
        if kept:
            left += "\n  not replaced: that certificate holds a smaller counterexample"
    except OSError as error:
        path, left = None, f"no certificate: {folder} cannot be written to ({error.strerror})"
    message = refuted_message(claim, small, left)
    return Found(True, message, None if path is None else str(path), small.smallest, small.worst)


def smaller_certificate(folder: Path, claim: Claim, violation: Violation) -> Path | None:
    """The certificate in `folder`, if it refutes the same text of the claim with less.

    An instance is smaller if it has fewer numbers, or as many and a shorter typed form. A file that
    does not prove its counterexample does not count.
    """
    path = folder / f"{claim.id}.json"
    try:
        instance = certificates.read(path)["smallest"]["instance"]
        if _size(instance) >= _size(write_choices(violation.record)):
            return None
        replayed = replay(path, claim=claim)
    except (CertificateError, DisagreementError):
        return None
    return None if replayed.changed else path


def _size(choices: list[Any]) -> tuple[int, int]:
    """The number of numbers in a typed instance, and the length of its text."""
    return _numbers(choices), len(json.dumps(choices))


def _numbers(given: Any) -> int:
    return sum(map(_numbers, given)) if isinstance(given, list) else 1


def _much_worse(small: Small) -> bool:
    worst, smallest = small.worst.judgement, small.smallest.judgement
    return worst.relative_excess > WORSE * smallest.relative_excess
