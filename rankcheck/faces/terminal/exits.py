"""The exit codes of the command, for all sub-commands."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

from rankcheck.claims.verdicts import VERDICTS

if TYPE_CHECKING:
    from rankcheck.engine.verification.ledger import Row


class Exit(IntEnum):
    """What a run of the command ended with."""

    EXPECTED = 0
    REFUTED = 1
    USAGE = 2
    UNDECIDED = 3
    INTERNAL = 4
    INTERRUPTED = 130
    #: The reader of the output went away; this is what a shell reports after SIGPIPE.
    CLOSED = 141


HELP = (
    "Exit codes: 0 as expected; 1 a counterexample is proved where none was expected, or a claim "
    "failed; 2 wrong input, or a file that cannot be read or written; 3 undecided; 4 internal "
    "error, or an installation that cannot be trusted; 130 interrupted. Of several, the worst: "
    "4 before 2, 2 before 1, 1 before 3."
)
#: The codes in this order; the first of them that a part of a run ends with is that of the run.
WORST = (Exit.INTERNAL, Exit.USAGE, Exit.REFUTED, Exit.UNDECIDED)


def worst(codes: Iterable[Exit]) -> Exit:
    """The code of a run of several parts; see `WORST`.

    >>> worst([Exit.EXPECTED, Exit.UNDECIDED, Exit.REFUTED]).name, worst([]).name
    ('REFUTED', 'EXPECTED')
    """
    ended = set(codes)
    return next((code for code in WORST if code in ended), Exit.EXPECTED)


def of_rows(rows: Iterable[Row]) -> Exit:
    """The code of a run that verified claims."""
    return worst(
        Exit.EXPECTED
        if row.expected
        else Exit.UNDECIDED
        if VERDICTS[row.verdict].open
        else Exit.REFUTED
        for row in rows
    )
