"""Hunts in a process of their own, which can be stopped whatever the body of a claim does.

A budget ends a hunt between two batches. A body, a generator or an import that does not end is
ended here: the process is stopped a number of seconds after the budget, and the others are hunted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import LoadError, load_each
from rankcheck.parallel.alone import Alone, Stopped
from rankcheck.parallel.pool import Tell
from rankcheck.verification.counts import Counts

if TYPE_CHECKING:
    from rankcheck.hunt.result import Progress

__all__ = ["Apart", "Known", "Report"]


@dataclass(frozen=True)
class Known:
    """What is known of a claim once its file is imported.

    Attributes:
        data: a hunt of it that has found nothing, as JSON.
        problem: why it is not well formed; empty if it is.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class Report:
    """The result of a hunt as plain data; the fields are those of `Hunt`.

    Attributes:
        data: the hunt as JSON.
        ended: whether the hunt ended by itself, with all of its shards.
    """

    id: str
    verdict: str
    message: str
    counts: Counts = field(default_factory=Counts)
    shapes: int = 0
    rounds: int = 0
    seconds: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict)
    strategy: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    ended: bool = True
    unwritten: str = ""


class Apart:
    """Hunts the claims of some files, in another process if there is a limit.

    Args:
        limit: seconds for the imports, and for each hunt after its budget. None: no limit, and the
            claims are hunted in this process.
    """

    def __init__(self, entries: Sequence[Entry], limit: float | None) -> None:
        self._entries = entries
        self._limit = limit
        self._known: dict[int, Known] = {}
        self._alone = Alone(partial(_prepare, entries), limit, entries, warm=_warm, nested=True)

    def close(self) -> None:
        """Stop the process."""
        self._alone.close()

    def known(self, index: int) -> Known:
        """What is known of the claim of a number. Imports all files.

        Raises:
            LoadError: if one of them cannot be imported, or not within the limit.
        """
        try:
            found: Known = self._alone.ask(("known", index))
        except Stopped as stopped:
            raise LoadError(f"the process that imports the files {stopped.how()}") from stopped
        self._known[index] = found
        return found

    def hunt(self, index: int, progress: Callable[[Progress], None], **arguments: Any) -> Report:
        """Hunt the claim of a number; `arguments` are those of `rankcheck.hunt.hunt`.

        With `control`, the name of a control, that is hunted in place of the claim.

        If a proved counterexample cannot be made small within the limit, or the process dies over
        it, it is reported as it was found.

        Raises:
            InputError: as `hunt`.
            RuntimeError: what nobody foresaw, in words.
        """
        last: Progress | None = None

        def told(value: Progress) -> None:
            nonlocal last
            last = value
            progress(value)

        budget, shrink = arguments["budget"], arguments["shrink"]
        limit = None if self._limit is None else budget + shrink + self._limit
        try:
            try:
                report: Report = self._alone.ask(("hunt", index, arguments), told, limit)
            except Stopped:
                found = last is not None and last.found == "refuted"
                if not (found and shrink and arguments["journal"] is not None):
                    raise
                arguments["shrink"] = 0.0  # the journal has the finding
                report = self._alone.ask(("hunt", index, arguments), told, limit)
        except Stopped as stopped:
            return self._stopped(index, stopped, last, arguments["seed"])
        return report

    def _stopped(self, index: int, stopped: Stopped, last: Progress | None, seed: int) -> Report:
        """The report of a hunt whose process was stopped, or died; `last` is its last progress."""
        entry = self._entries[index]
        message = f"{entry.id} is undecided: the hunt {stopped.how([entry.file])}"
        found: dict[str, Any] = {"seconds": stopped.seconds}
        if last is not None:
            found |= {"counts": last.counts, "shapes": last.shapes, "rounds": last.round}
            message += (
                f"\n  no counterexample in the {last.counts.evaluated} instances before"
                if last.found is None
                else "\n  a violation was found before; --shrink 0 reports it as it is"
            )
        report = Report(entry.id, "undecided", message, **found, ended=False)
        margin = None if last is None else last.margin
        found = found | {"counts": asdict(report.counts), "margin": margin, "seed": seed}
        return replace(report, data={**self._known[index].data, **found, "message": message})


def _warm() -> None:
    import rankcheck.hunt.run  # noqa: F401 -- torch


def _prepare(entries: Sequence[Entry]) -> Callable[[Any, Tell], Any]:
    """Import the files; returns what answers the questions of `Apart`."""
    claims = load_each(entries)
    from rankcheck.catalogue.loader import BrokenClaim
    from rankcheck.hunt.controls import hunt_variant
    from rankcheck.hunt.result import Hunt
    from rankcheck.hunt.run import hunt

    def run(task: Any, tell: Tell) -> Any:
        claim = claims[task[1]]
        if isinstance(claim, BrokenClaim):
            return Known(problem=claim.problem)
        if task[0] == "known":
            return Known(Hunt(claim, "undecided", 0).to_json())
        control, arguments = task[2].get("control"), {**task[2], "on_progress": tell}
        arguments.pop("control", None)
        found = (
            hunt(claim, **arguments)
            if control is None
            else hunt_variant(claim, control, **arguments)
        )
        data = found.to_json()
        return Report(
            claim.id,
            found.verdict,
            found.message,
            found.counts,
            found.shapes,
            found.rounds,
            found.seconds,
            dict(found.stages),
            found.strategy,
            data if control is None else {**data, "control": control},
            found.verdict == "refuted" or not (found.lost or found.unwritten),
            found.unwritten,
        )

    return run
