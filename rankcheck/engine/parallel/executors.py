"""Executors: this process and worker processes; the door of this room says how they are used."""

from __future__ import annotations

import importlib
import math
import pickle
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from rankcheck.engine.parallel.arithmetic import single_thread
from rankcheck.engine.parallel.events import Died, Done, Lost, Overran, Prepare, Started, Tell, Told
from rankcheck.engine.parallel.pool import Pool, PoolError, UnpreparedError
from rankcheck.engine.parallel.traces import place_in, place_of, ran_out
from rankcheck.errors import InputError, InstallationError, short_of_memory
from rankcheck.files import shown_path

Task = TypeVar("Task")

#: What a message about a limit of a command ends with.
LONGER = "(--limit gives it longer)"


@dataclass(frozen=True)
class Work:
    """What is done with tasks.

    Attributes:
        prepare: runs once in each worker; returns the function of a task and of what reports its
            progress.
        files: of code that is not rankcheck's own: messages name their lines.
        limit: seconds for `prepare` in a worker process.
        warm: runs before the first task, without a limit: slow imports besides that of torch.
        nested: whether tasks may start processes.
    """

    prepare: Prepare
    files: Sequence[Path] = ()
    limit: float | None = None
    warm: Callable[[], object] | None = None
    nested: bool = False


@dataclass(frozen=True)
class Limits:
    """When a task is given up.

    Attributes:
        seconds: for each task, from when it begins.
        until: a time on `time.monotonic()` by which tasks end by themselves. One that has not ended
            `grace` seconds later is given up, and those that have not begun then have no end.
        deaths: a task is given up after so many of its workers have died.
    """

    seconds: float = math.inf
    until: float = math.inf
    grace: float = math.inf
    deaths: int = 1

    def left(self) -> float:
        """Seconds for a task that begins now."""
        return min(self.seconds, self.grace + max(0.0, self.until - time.monotonic()))


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Unfinished(Generic[Task]):
    """A task without an answer.

    Attributes:
        how: why, as what follows "its check".
        seconds: its limit; 0 if that was not reached.
        trace: where it was then, as `faulthandler` writes it; empty where that is not known.
    """

    task: Task
    how: str
    seconds: float = 0.0
    trace: str = ""

    def why(self, files: Iterable[Path] = ()) -> str:
        """Why, and at which line of some files."""
        place = place_in(self.trace, files)
        return self.how + (f"; it was at {place}" if place else "")


End: TypeAlias = Done[Task] | Unfinished[Task]
Progress: TypeAlias = Callable[[Started[Task] | Told[Task] | Lost], object]


def ignore(event: object) -> None:
    """Reports nothing."""


def _tell(progress: Progress[Task], task: Task, value: Any) -> None:
    progress(Told(task, value))


class Executor(Protocol):
    """Does a work."""

    def run(
        self,
        tasks: Iterable[Task],
        limits: Limits = NO_LIMITS,
        progress: Progress[Task] = ignore,
    ) -> Iterator[End[Task]]:
        """The end of each task, in any order.

        A caller that needs no more ends closes the iterator, and then the executor.

        Raises:
            PoolError: if no worker can be prepared, or the cluster is lost.
            Exception: what the function of the work raises.
        """

    def close(self) -> None:
        """Stop the workers, whatever they are doing."""


class Inline:
    """Runs the tasks in this process, one after the other; no limit is looked at."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._function: Callable[[Any, Tell], Any] | None = None

    def run(
        self,
        tasks: Iterable[Task],
        limits: Limits = NO_LIMITS,
        progress: Progress[Task] = ignore,
    ) -> Iterator[End[Task]]:
        if self._function is None:
            self._function = guarded(self._work)
            if self._work.warm is not None:
                self._work.warm()
        for task in tasks:
            progress(Started(task))
            yield end_of(task, self._function(task, partial(_tell, progress, task)))

    def close(self) -> None:
        """Does nothing: there are no workers."""


class Processes:
    """Worker processes on this machine.

    Raises:
        InputError: if the work cannot be sent to a process.
    """

    def __init__(self, work: Work, workers: int) -> None:
        self._work = work
        self._workers = workers
        try:
            self._pool = Pool[tuple[int, Any]](
                partial(_numbered, work),
                workers,
                warm=partial(_warm, work.warm),
                limit=work.limit,
                nested=work.nested,
            )
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(
                f"the work cannot be sent to workers: {error}; what is sent is at the top level of "
                "a module"
            ) from error

    def run(
        self,
        tasks: Iterable[Task],
        limits: Limits = NO_LIMITS,
        progress: Progress[Task] = ignore,
    ) -> Iterator[End[Task]]:
        waiting: Iterator[tuple[int, Task]] = enumerate(
            tasks
        )  # numbers, because tasks may be equal
        deaths: Counter[int] = Counter()

        def submit(task: tuple[int, Task], *, first: bool = False) -> None:
            self._pool.submit(task, first=first, limit=limits.left)  # it asks when the task begins

        for each in islice(waiting, self._workers):
            submit(each)
        try:
            with closing(self._pool.events()) as events:
                for event in events:
                    match event:
                        case Started((_, task)):
                            progress(Started(task))
                            continue
                        case Told((_, task), value):
                            progress(Told(task, value))
                            continue
                        case Lost():
                            progress(event)
                            continue
                        case Done((_, task), answer):
                            end = end_of(task, answer)
                        case Died((number, task), how):
                            deaths[number] += 1
                            if deaths[number] < limits.deaths:
                                progress(Lost(f"a worker process ended ({how})"))
                                submit((number, task), first=True)
                                continue
                            end = Unfinished(task, f"lost its process ({how})")
                        case Overran((_, task), seconds, trace):
                            end = Unfinished(
                                task, f"did not end within {seconds:g} s", seconds, trace
                            )
                            if time.monotonic() >= limits.until:  # the others may hang, too
                                waiting = iter(())
                                self._pool.withdraw()
                    for each in islice(waiting, 1):
                        submit(each)
                    yield end
        except UnpreparedError as error:
            raise PoolError(self._unprepared(error)) from error

    def _unprepared(self, error: UnpreparedError) -> str:
        """That the imports of a worker did not end, and where."""
        files = tuple(dict.fromkeys(self._work.files))
        if not files:
            return str(error)
        which = place_in(error.trace, files) or ", ".join(shown_path(path) for path in files[:3])
        return f"{which}: the import did not end within {error.seconds:g} s {LONGER}"

    def close(self) -> None:
        self._pool.close()


def _warm(warm: Callable[[], object] | None) -> None:
    """What is slow, then torch, which every task needs for `single_thread`."""
    if warm is not None:
        warm()
    import torch  # noqa: F401


def _numbered(work: Work) -> Callable[[tuple[int, Any], Tell], Any]:
    """As `guarded`, for tasks with their numbers: tasks may be equal."""
    function = guarded(work)
    return lambda task, progress: function(task[1], progress)


def executor_for(executor: Any, work: Work) -> Executor:
    """The executor that an argument asks for, to do a work; its user closes it.

    Args:
        executor: None, a number of worker processes, `scheme://address`, a `distributed.Client`, or
            a function of the work.

    Raises:
        InputError: if there is no such executor, or nobody answers at the address.
    """
    if executor is None:
        return Inline(work)
    if isinstance(executor, int) and not isinstance(executor, bool) and executor > 0:
        return Processes(work, executor)
    if hasattr(executor, "submit"):
        return _connect("dask")(work, executor)
    if isinstance(executor, str) and (connect := _connect(executor.partition("://")[0])):
        return connect(work, executor)
    if callable(executor):
        return executor(work)  # type: ignore[no-any-return]
    raise InputError(
        f"the executor is {executor!r}; an executor is a number of worker processes, "
        "dask://host:port, or a distributed.Client"
    )


def _connect(scheme: str) -> Any:
    """What connects to the addresses of a scheme: `connect` of the file of that name; or None."""
    name = f"{__package__}.{scheme}"
    if not scheme.isidentifier() or find_spec(name) is None:
        return None
    return getattr(importlib.import_module(name), "connect", None)


@dataclass(frozen=True)
class Deadline:
    """A time on `time.monotonic()` that tasks carry.

    The clocks of two machines differ, so what is sent is the number of seconds that are left.
    """

    at: float

    def __reduce__(self) -> tuple[Any, ...]:
        return _in, (self.at - time.monotonic(),)


def _in(seconds: float) -> Deadline:
    return Deadline(time.monotonic() + seconds)


@dataclass(frozen=True)
class Raised:
    """What the function of a work raised; an answer that is raised where it arrives.

    From another process it arrives as an error that can be sent, with its traceback as a note.
    """

    error: Exception

    def __reduce__(self) -> tuple[Any, ...]:
        return Raised, (_portable(self.error),)


def end_of(task: Task, answer: Any) -> End[Task]:
    """The end of a task whose guarded function has answered."""
    if isinstance(answer, Raised):
        raise answer.error
    if isinstance(answer, Unfinished):
        return Unfinished(task, answer.how)
    return Done(task, answer)


def guarded(work: Work) -> Callable[[Any, Tell], Any]:
    """Prepare a work; its function runs on one thread, with its exceptions as answers."""
    function = work.prepare()

    def run(task: Any, progress: Tell) -> Any:
        try:
            with single_thread():
                return function(task, progress)
        except (InputError, InstallationError) as error:
            return Raised(error)
        except Exception as error:
            if short_of_memory(error):
                how = ran_out(error, work.files)
                traceback.clear_frames(error.__traceback__)  # they hold what was allocated
                return Unfinished(None, how)
            if at := place_of(error, work.files):
                message = " ".join(str(error).split())
                text = f"{at}: the code of a claim raised {type(error).__name__}: {message}"
                plain = InputError(text)
                plain.__cause__ = error
                return Raised(plain)
            return Raised(error)

    return run


def _portable(error: Exception) -> Exception:
    """An error that can be pickled: of the same kind, as far as its reader can tell kinds apart."""
    known = isinstance(error, InputError | InstallationError)
    if known or (isinstance(error, OSError) and error.errno is not None):
        with suppress(Exception):
            pickle.loads(pickle.dumps(error))
            return error
    if known:
        return (InputError if isinstance(error, InputError) else InstallationError)(str(error))
    plain = RuntimeError(f"{type(error).__name__}: {error}")
    plain.add_note("".join(traceback.format_exception(error)))
    return plain
