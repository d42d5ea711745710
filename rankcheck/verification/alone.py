"""Code of claims in a process of its own, which can be stopped whatever that code does.

`hunt`, `certify`, `replay` and `doctor` put their questions to such a process, one at a time:

    with closing(Alone(partial(prepare, entries), limit, entries)) as alone:
        answer = alone.ask(question)

With a limit there is a process, and a question that is not answered within it is a `Stopped`.
Without one, this process answers, as a debugger needs it, with the arithmetic of such a process.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rankcheck.catalogue.entry import Entry
from rankcheck.catalogue.loader import LoadError
from rankcheck.errors import InputError, InstallationError, short_of_memory
from rankcheck.verification.arithmetic import fix_arithmetic
from rankcheck.verification.ended import how, not_imported
from rankcheck.verification.pool import (
    Died,
    Done,
    Overran,
    Pool,
    PoolError,
    Prepare,
    Tell,
    Told,
    UnpreparedError,
)
from rankcheck.verification.traces import place_of, ran_out

__all__ = ["Alone", "Stopped"]


class Stopped(Exception):
    """The process was stopped at its limit, died, or ran out of memory, before it had answered.

    Attributes:
        seconds: the limit; 0 if it was not reached.
    """

    def __init__(self, event: Overran[Any] | Died[Any] | str) -> None:
        super().__init__(event if isinstance(event, str) else how(event))
        self._event = event
        self.seconds = event.seconds if isinstance(event, Overran) else 0.0

    def how(self, files: Iterable[Path] = ()) -> str:
        """What follows "the hunt" in a message; see `rankcheck.verification.ended.how`."""
        return self._event if isinstance(self._event, str) else how(self._event, files)


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
        self._prepare = partial(
            _answering, prepare, tuple(dict.fromkeys(entry.file for entry in entries))
        )
        self._entries = entries
        self._here: Callable[[Any, Tell], Any] | None = None
        self._pool: Pool[Any] | None = None
        if limit is None:
            fix_arithmetic()
        else:
            self._pool = Pool(self._prepare, 1, warm=warm, limit=limit, nested=nested)

    def close(self) -> None:
        """Stop the process."""
        if self._pool is not None:
            self._pool.close()

    def ask(
        self,
        question: Any,
        told: Callable[[Any], None] = lambda value: None,
        limit: float | None = None,
    ) -> Any:
        """The answer to a question.

        Args:
            told: called with what the answering code tells meanwhile.
            limit: seconds, in place of those of the constructor.

        Raises:
            Stopped: if it is not answered within the limit, or the process dies, or memory is
                short.
            LoadError: if the files cannot be imported, or not within the limit.
            InputError: as the answering code, and for what the code of a claim raises there.
            InstallationError, OSError: as the answering code.
            RuntimeError: in words, what nobody foresaw, with its traceback as a note.
        """
        answer = self._asked(question, told, limit)
        if isinstance(answer, _Raised):
            raise answer.error()
        return answer

    def _asked(self, question: Any, told: Callable[[Any], None], limit: float | None) -> Any:
        if self._pool is None:
            self._here = self._here or self._prepare()
            return self._here(question, told)
        self._pool.submit(question, limit=limit)
        try:
            with closing(self._pool.events()) as events:
                for event in events:
                    match event:
                        case Told(_, value):
                            told(value)
                        case Done(_, answer):
                            return answer
                        case Overran() | Died():
                            raise Stopped(event)
        except UnpreparedError as error:
            raise not_imported(self._entries, error) from error
        except PoolError as error:
            raise LoadError(str(error)) from error
        raise AssertionError("a question ends with an event")


@dataclass(frozen=True)
class _Raised:
    """An exception of the answering code, as what a pipe carries."""

    kind: str
    said: str
    trace: str = ""
    system: tuple[int, str, str] | None = None

    @classmethod
    def of(cls, error: Exception, files: Iterable[Path]) -> _Raised:
        for kind in (InputError, InstallationError):
            if isinstance(error, kind):
                return cls(kind.__name__, str(error))
        trace = traceback.format_exc()
        if short_of_memory(error):
            said = ran_out(error, files)
            traceback.clear_frames(error.__traceback__)  # they hold what was allocated
            return cls("Stopped", said)
        if at := place_of(error, files):
            said = " ".join(str(error).split())
            return cls(
                "InputError", f"{at}: the code of a claim raised {type(error).__name__}: {said}"
            )
        if isinstance(error, OSError) and error.errno is not None:
            name = "" if error.filename is None else str(error.filename)
            return cls("OSError", str(error), trace, (error.errno, error.strerror or "", name))
        return cls("RuntimeError", f"{type(error).__name__}: {error}", trace)

    def error(self) -> Exception:
        """The exception that is raised in the asking process."""
        if self.kind == "InputError":
            return InputError(self.said)
        if self.kind == "Stopped":
            return Stopped(self.said)
        if self.kind == "InstallationError":
            return InstallationError(self.said)
        error: Exception = RuntimeError(self.said)
        if self.system is not None:
            number, said, name = self.system
            error = OSError(number, said, name) if name else OSError(number, said)
        error.add_note(self.trace)
        return error


def _answering(prepare: Prepare, files: Iterable[Path]) -> Callable[[Any, Tell], Any]:
    """What answers questions, with its exceptions as answers."""
    run = prepare()

    def answer(question: Any, tell: Tell) -> Any:
        try:
            return run(question, tell)
        except Exception as error:
            return _Raised.of(error, files)

    return answer
