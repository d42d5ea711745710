"""An instance of a claim: judged in floats and balls, made small, described, certified, replayed.

What lives here: everything that happens to a given instance of one claim. Nothing here searches.
May import: `catalogue`, `claims`, and what is below them.
"""

from rankcheck.counterexamples.certificate import (
    CertificateError,
    folder_of,
    read,
    stored_path,
    write,
)
from rankcheck.counterexamples.describe import describe_instance
from rankcheck.counterexamples.given import NotRefutedError, from_choices, read_instance, recertify
from rankcheck.counterexamples.instance import DisagreementError, Instance
from rankcheck.counterexamples.judge import Judgement, exact_instance, judge
from rankcheck.counterexamples.message import undecided_message
from rankcheck.counterexamples.replay import Replayed, find, replay
from rankcheck.counterexamples.reporting import Found, report_violation
from rankcheck.counterexamples.shrinking import shrink_violation

__all__ = [
    "CertificateError",
    "DisagreementError",
    "Found",
    "Instance",
    "Judgement",
    "NotRefutedError",
    "Replayed",
    "describe_instance",
    "exact_instance",
    "find",
    "folder_of",
    "from_choices",
    "judge",
    "read",
    "read_instance",
    "recertify",
    "replay",
    "report_violation",
    "shrink_violation",
    "stored_path",
    "undecided_message",
    "write",
]
