"""Where the parts of an experiment are trained: in this process, or in worker processes."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeAlias

from rankcheck.errors import InputError, short_of_memory
from rankcheck.experiments.base import Experiment, Part, Place
from rankcheck.experiments.folder import Finished, Folder
from rankcheck.experiments.result import rounded
from rankcheck.parallel.arithmetic import single_thread
from rankcheck.parallel.pool import Died, Done, Pool, Started, Tell, Told
from rankcheck.stored import build

__all__ = ["DEATHS", "NOTICE", "Job", "PartError", "here", "in_processes"]

#: A part whose worker dies so often ends the experiment.
DEATHS = 2
#: Seconds that a worker has to write its checkpoint when the experiment is stopped.
NOTICE = 5.0
#: The largest share of a part that is not finished.
_NEARLY = 0.999

#: Called with the name of a part, the share that is done, and a few words.
Listener: TypeAlias = Callable[[str, float, str], None]


class PartError(RuntimeError):
    """A part that cannot be finished; the message says why."""


class Stopped(Exception):
    """The worker was told to end."""


@dataclass(frozen=True)
class Job:
    """What is run for every part.

    Attributes:
        folder: None keeps nothing.
    """

    made: Experiment
    folder: Folder | None
    device: str

    def run(self, part: Part, told: Callable[[float, str], None]) -> Finished:
        """Train and measure a part on one thread; it is kept in the folder.

        Raises:
            PartError: if it diverges, or measures what is no finite number.
        """
        from rankcheck.experiments.training import spent

        folder = self.folder
        if folder is None:
            return self._run(part, Place(self.device, None, told), "", 0.0)
        found = folder.finished(part)  # a worker may have died after it was written
        if found is None:
            place = Place(self.device, folder.path, told, folder.head.hash)
            before = sum(map(spent, folder.checkpoints(part)))
            found = self._run(part, place, folder.identity(part), before)
            folder.keep_part(part, found)
        return found

    def _run(self, part: Part, place: Place, identity: str, before: float) -> Finished:
        """Train and measure a part that took some seconds before; the numbers are rounded."""
        since = time.process_time()
        try:
            with single_thread():
                runs = [asdict(run) for run in self.made.run(part, place)]
        except FloatingPointError as error:
            raise PartError(f"part {part.name}: {error}") from error
        seconds = before + time.process_time() - since
        try:
            written: Any = rounded({"identity": identity, "seconds": seconds, "runs": runs})
            found = build(Finished, written)  # as it will be read again
            found.check(part)
        except (ValueError, TypeError) as error:
            raise PartError(f"part {part.name}: {error}") from error
        return found


def here(job: Job, parts: Sequence[Part], told: Listener) -> dict[str, Finished]:
    """Run the parts in this process, one after the other."""
    done = {}
    for part in parts:
        told(part.name, 0.0, "begun")
        done[part.name] = job.run(part, partial(_below_one, told, part.name))
        told(part.name, 1.0, "done")
    return done


def _below_one(told: Listener, name: str, share: float, words: str) -> None:
    """Pass on what a part says, which is not finished as long as it says something."""
    told(name, min(share, _NEARLY), words)


@dataclass(frozen=True)
class _Failed:
    """How a part failed in a worker.

    Attributes:
        error: an error that is shown in one line; None for any other one, which is shown as `said`.
    """

    error: Exception | None
    said: str


def in_processes(
    job: Job,
    parts: Sequence[Part],
    workers: int,
    told: Listener,
    noticed: Callable[[str], None],
) -> dict[str, Finished]:
    """Run the parts in worker processes.

    A part whose worker dies is run once again, from its checkpoint. Whatever ends the experiment,
    workers write their checkpoints first.

    Raises:
        PartError: if a part fails.
        InputError: if a checkpoint cannot be read, or no worker can be prepared.
        OSError: if a file cannot be written.
    """
    done: dict[str, Finished] = {}
    if not parts:
        return done
    deaths: Counter[str] = Counter()
    count = min(workers, len(parts))
    with Pool[Part](partial(_prepare, job), count, notice=NOTICE) as pool:
        for part in parts:
            pool.submit(part)
        with closing(pool.events()) as events:
            for event in events:
                match event:
                    case Started(part):
                        told(part.name, 0.0, "begun")
                    case Told(part, (share, words)):
                        _below_one(told, part.name, share, words)
                    case Done(part, Finished() as found):
                        done[part.name] = found
                        told(part.name, 1.0, "done")
                    case Done(part, _Failed(error, said)):
                        raise error or PartError(f"part {part.name}: {said}")
                    case Died(part, how) | Done(part, how):
                        deaths[part.name] += 1
                        if deaths[part.name] == DEATHS:
                            raise PartError(
                                f"part {part.name}: its worker ended {DEATHS} times ({how}); fewer "
                                "--workers need less memory, and the same command goes on"
                            )
                        noticed(
                            f"the worker of part {part.name} ended ({how}); another one goes on "
                            "from its checkpoint"
                        )
                        pool.submit(part, first=True)
    return done


def _prepare(job: Job) -> Callable[[Part, Tell], Any]:
    """What a worker does first: from then on, SIGTERM ends a part where it has a checkpoint."""
    stopped = False

    def stop(number: int, frame: object) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)

    def run(part: Part, tell: Tell) -> Any:
        """The finished part; how it failed; or in words why the worker ended it."""
        nonlocal stopped
        stopped = False

        def told(share: float, words: str) -> None:
            tell((share, words))
            if stopped:
                raise Stopped

        try:
            return job.run(part, told)
        except Stopped:
            return "SIGTERM"
        except (InputError, PartError, OSError) as error:
            return _Failed(error, "")
        except Exception as error:
            if short_of_memory(error):
                said = f"out of memory ({type(error).__name__}); fewer --workers need less"
                return _Failed(None, said)
            if os.environ.get("RANKCHECK_TRACEBACK"):
                traceback.print_exc()
            name, said = type(error).__name__, " ".join(str(error).split())
            return _Failed(
                None,
                f"internal error: {name}{said and f': {said}'} "
                "(RANKCHECK_TRACEBACK=1 shows the traceback)",
            )

    return run
