"""Code of claims in a process of its own, which can be stopped whatever that code does.

`hunt`, `certify`, `replay` and `doctor` put their questions to such a process, one at a time:

    with closing(Alone(partial(prepare, entries), limit, entries)) as alone:
        answer = alone.ask(question)

With a limit there is a process, and a question that is not answered within it is a `Stopped`.
Without one, this process answers, as a debugger needs it, with the arithmetic of such a process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rankcheck.claims.catalogue.entry import Entry
from rankcheck.engine.parallel.arithmetic import fix_arithmetic
from rankcheck.engine.parallel.events import Lost, Prepare, Started, Told
from rankcheck.engine.parallel.executors import (
    LONGER,
    Limits,
    Unfinished,
    Work,
    executor_for,
)


def how(end: Unfinished[Any], files: Iterable[Path] = ()) -> str:
    """Why a question, or a claim, has no answer; `--limit` is named where it would have helped."""
    return end.why(files) + (f" {LONGER}" if end.seconds else "")


class Stopped(Exception):
    """The process was stopped at its limit, died, or ran out of memory, before it had answered.

    Attributes:
        seconds, trace: as in `Unfinished`.
    """

    def __init__(self, end: Unfinished[Any]) -> None:
        super().__init__(how(end))
        self._end = end
        self.seconds = end.seconds
        self.trace = end.trace

    def how(self, files: Iterable[Path] = ()) -> str:
        """What follows "the hunt" in a message."""
        return how(self._end, files)


class Alone:
    """Answers questions in another process if there is a limit, else in this one.

    Args:
        prepare: runs before the first question; returns what answers one.
        limit: seconds for `prepare`, and for a question that is asked with no other limit.
        entries: the claims whose files `prepare` imports.
        warm: slow imports of rankcheck's own, which take as long as they take.
        nested: whether answers may start processes.
    """

    def __init__(
        self,
        prepare: Prepare,
        limit: float | None,
        entries: Sequence[Entry] = (),
        *,
        warm: Callable[[], object] | None = None,
        nested: bool = False,
    ) -> None:
        files = tuple(dict.fromkeys(entry.file for entry in entries))
        self._limit = limit
        if limit is None:
            fix_arithmetic()
        work = Work(prepare, files, limit, warm, nested)
        self._executor = executor_for(None if limit is None else 1, work)

    def close(self) -> None:
        """Stop the process."""
        self._executor.close()

    def ask(
        self,
        question: Any,
        progress: Callable[[Any], object] | None = None,
        limit: float | None = None,
    ) -> Any:
        """The answer to a question.

        Args:
            progress: called with what the answering code reports meanwhile.
            limit: seconds, in place of those of the constructor.

        Raises:
            Stopped: if it is not answered within the limit, or the process dies, or memory is
                short.
            PoolError: if the files cannot be imported, or not within the limit.
            Exception: as the answering code; an `InputError` for what the code of a claim raises
                there.
        """

        def told(event: Started[Any] | Told[Any] | Lost) -> None:
            if progress is not None and isinstance(event, Told):
                progress(event.value)

        seconds = limit or self._limit
        limits = Limits() if seconds is None else Limits(seconds)
        [end] = self._executor.run([question], limits, told)
        if isinstance(end, Unfinished):
            raise Stopped(end)
        return end.answer
