"""Reporting a violation: it is made small, certified, and put into words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.message import refuted_message, undecided_message
from rankcheck.counterexamples.shrinking.violations import BUDGET, Small, shrink_violation
from rankcheck.counterexamples.violation import Violation


@dataclass(frozen=True, eq=False)
class Found:
    """A reported violation.

    Attributes:
        proved: whether ball arithmetic proves it.
        message: its text for a person.
        certificate: the file, if the violation is proved and the file could be written.
        smallest: the violation on the smallest instance that was found.
        worst: the one with the largest violation relative to the sides.
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
        budget: seconds for shrinking; None keeps the instance as it is.
    """
    if not violation.proved:
        return Found(False, undecided_message(claim, violation), None, violation, violation)
    small = Small(violation, violation)
    if budget is not None:
        small = shrink_violation(claim, violation, budget)
    worst = small.worst if small.worst is not small.smallest else None
    try:
        path = certificates.write(folder, claim, small.smallest, worst)
        left = f"certificate: {shown_path(path)}      rankcheck replay {shown_path(path)}"
    except OSError as error:
        path, left = None, f"no certificate: {folder} cannot be written to ({error.strerror})"
    message = refuted_message(claim, small, left)
    return Found(True, message, None if path is None else str(path), small.smallest, small.worst)
