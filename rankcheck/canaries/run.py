"""Runs the canaries."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from rankcheck.canaries import (
    arithmetic,
    batching,
    certificates,
    controls,
    hunting,
    judging,
    processes,
    proving,
    records,
    rows,
    searching,
    sharpening,
)
from rankcheck.canaries.canary import Canary
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.parallel.traces import named

__all__ = ["CANARIES", "outcomes"]

#: The canaries, in the order in which they run.
CANARIES: tuple[Canary, ...] = (
    *searching.CANARIES,
    *arithmetic.CANARIES,
    *judging.CANARIES,
    *controls.CANARIES,
    *batching.CANARIES,
    *certificates.CANARIES,
    *records.CANARIES,
    *hunting.CANARIES,
    *sharpening.CANARIES,
    *proving.CANARIES,
    *rows.CANARIES,
    *processes.CANARIES,
)


def outcomes(names: Collection[str] | None = None) -> Iterator[tuple[Canary, str | None]]:
    """Run canaries; of each, what came out wrong, or None.

    Args:
        names: of those that run; by default all.
    """
    with single_thread():
        for canary in CANARIES:
            if names is not None and canary.name not in names:
                continue
            with tempfile.TemporaryDirectory(prefix="rankcheck-") as folder:
                try:
                    wrong = canary.check(Path(folder))
                except Exception as error:
                    wrong = f"it raised {named(error)}"
            yield canary, wrong
