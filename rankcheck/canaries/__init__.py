"""Small tasks with known answers: does this installation still see what it has to see?

Most ledgers would not notice an engine that has gone blind, because nothing in them has to fail.
So claims that are false by a little, claims that only rounding breaks, and claims whose controls,
certificates or batches are broken go through the whole path. If one of them comes out wrong, no
verdict of this installation can be trusted: a part of rankcheck is broken, or a BLAS, torch, flint
or Hypothesis that it rests on. `rankcheck doctor` runs all of them, and every run some.

What lives here: canaries, a file for the stages that belong together, each caught by one stage
alone (`canary` says what one is, and `known` makes those that are claims); what runs them (`run`);
what every run begins with (`trust`), and why it need not (`stamp`).
May import: everything but `commands` and `pytest_plugin`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankcheck.doors import door

if TYPE_CHECKING:
    from rankcheck.canaries.canary import Canary
    from rankcheck.canaries.run import CANARIES, outcomes
    from rankcheck.canaries.trust import check_canaries

__all__ = ["CANARIES", "Canary", "check_canaries", "outcomes"]

__getattr__ = door(
    __name__,
    {
        ".canary": ("Canary",),
        ".run": ("CANARIES", "outcomes"),
        ".trust": ("check_canaries",),
    },
)
