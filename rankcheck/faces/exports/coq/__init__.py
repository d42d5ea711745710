"""A counterexample as a file for the proof assistant Coq.

The file defines the instance, the numbers that are computed from it, and both sides; it has a lemma
for each comparison that was decided on the way, and ends with the theorem that the relation fails.
Rationals are those of ``Q``, decided by computation. If a number is irrational, all are real
numbers: then each has a lemma that says what it is, or between which decimals it lies, from the
lemmas before, by ``lra`` and by the tactic ``interval``. Nothing is admitted.
"""

from __future__ import annotations

from rankcheck.faces.exports.coq.rationals import RationalWriter
from rankcheck.faces.exports.coq.reals import RealWriter
from rankcheck.faces.exports.coq.writer import Writer, comment, wrapped
from rankcheck.faces.exports.evaluate import Account
from rankcheck.faces.exports.plan import plan

__all__ = ["comment", "coq_file", "wrapped"]


def coq_file(account: Account, heading: str) -> str:
    """The file as text.

    Args:
        heading: what the claim says, and where, for the comment at the top.

    Raises:
        NotExportable: if the enclosures of irrational numbers do not decide everything.
    """
    chosen = plan(account)
    writer: Writer = RationalWriter(chosen) if chosen.rational else RealWriter(chosen)
    return "\n".join(writer.lines(heading)) + "\n"
