"""Hunts in a process of their own, which can be stopped whatever the body of a claim does.

A budget ends a hunt between two batches. A body, a generator or an import that does not end is
ended here: the process is stopped a number of seconds after the budget, and the others are hunted.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import LoadError, load_each
from rankcheck.errors import InputError
from rankcheck.verification.counts import Counts
from rankcheck.verification.pool import (
    Died,
    Done,
    Overran,
    Pool,
    PoolError,
    Tell,
    Told,
    UnpreparedError,
)
from rankcheck.verification.traces import place_in
from rankcheck.verification.workers import not_imported

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
        ended: whether the hunt ended by itself.
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
        self._here: Callable[[Any, Tell], Any] | None = None
        self._pool: Pool[Any] | None = None
        prepare = partial(_prepare, entries)
        if limit is not None:
            self._pool = Pool(prepare, 1, warm=_warm, limit=limit, nested=True)
        else:
            self._prepare = prepare

    def close(self) -> None:
        """Stop the process."""
        if self._pool is not None:
            self._pool.close()

    def known(self, index: int) -> Known:
        """What is known of the claim of a number. Imports all files.

        Raises:
            LoadError: if one of them cannot be imported, or not within the limit.
        """
        answer = self._ask(("known", index), self._limit, lambda _: None)
        if isinstance(answer, Known):
            self._known[index] = answer
            return answer
        raise LoadError(f"the process that imports the files {_how(answer)}")

    def hunt(self, index: int, progress: Callable[[Progress], None], **arguments: Any) -> Report:
        """Hunt the claim of a number; `arguments` are those of `rankcheck.hunt.hunt`.

        If a proved counterexample cannot be made small within the limit, it is reported as it was
        found.

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
        answer = self._ask(("hunt", index, arguments), limit, told)
        found = last is not None and last.found == "refuted"
        if isinstance(answer, Overran) and found and shrink and arguments["journal"] is not None:
            arguments["shrink"] = 0.0  # the journal has the finding
            answer = self._ask(("hunt", index, arguments), limit, told)
        match answer:
            case Report():
                return answer
            case InputError():
                raise answer
            case _Unforeseen(said, trace):
                error = RuntimeError(said)
                error.add_note(trace)
                raise error
        return self._stopped(index, answer, last, arguments["seed"])

    def _ask(self, task: Any, limit: float | None, told: Callable[[Any], None]) -> Any:
        """The answer to a task, or the event that ended it."""
        if self._pool is None:
            self._here = self._here or self._prepare()
            return self._here(task, told)
        self._pool.submit(task, limit=limit)
        try:
            with closing(self._pool.events()) as events:
                for event in events:
                    match event:
                        case Told(_, value):
                            told(value)
                        case Done(_, answer):
                            return answer
                        case Overran() | Died():
                            return event
        except UnpreparedError as error:
            raise not_imported(self._entries, error) from error
        except PoolError as error:
            raise LoadError(str(error)) from error
        raise AssertionError("a task ends with an event")

    def _stopped(self, index: int, event: Any, last: Progress | None, seed: int) -> Report:
        """The report of a hunt whose process was stopped, or died; `last` is its last progress."""
        entry = self._entries[index]
        message = f"{entry.id} is undecided: the hunt {_how(event, entry.file)}"
        found: dict[str, Any] = {"seconds": event.seconds if isinstance(event, Overran) else 0.0}
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


@dataclass(frozen=True)
class _Unforeseen:
    """An exception of a hunt that is no wrong input: in words, and its traceback."""

    said: str
    trace: str


def _how(event: Any, file: Path | None = None) -> str:
    if isinstance(event, Overran):
        place = "" if file is None else place_in(event.trace, [file])
        at = f"; it was at {place}" if place else ""
        return f"did not end within {event.seconds:g} s{at} (--limit gives it longer)"
    return f"lost its process ({event.how})"


def _warm() -> None:
    import rankcheck.hunt.run  # noqa: F401 -- torch


def _prepare(entries: Sequence[Entry]) -> Callable[[Any, Tell], Any]:
    """Import the files; returns what answers the questions of `Apart`."""
    claims = load_each(entries)
    from rankcheck.catalogue.loader import BrokenClaim
    from rankcheck.hunt.result import Hunt
    from rankcheck.hunt.run import hunt

    def run(task: Any, tell: Tell) -> Any:
        claim = claims[task[1]]
        if isinstance(claim, BrokenClaim):
            return Known(problem=claim.problem)
        if task[0] == "known":
            return Known(Hunt(claim, "undecided", 0).to_json())
        try:
            found = hunt(claim, on_progress=tell, **task[2])
        except InputError as error:
            return InputError(str(error))
        except Exception as error:
            return _Unforeseen(f"{type(error).__name__}: {error}", traceback.format_exc())
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
            found.to_json(),
        )

    return run
