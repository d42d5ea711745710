"""Running one function on many tasks: in this process, in worker processes, or on a Dask cluster.

A `Work` says what a worker prepares once, and what it then does with a task. `executor_for` finds
who does it, and `run` yields each task with its end as it ends, in any order:

    work = Work(partial(prepare, entries), files=[entry.file for entry in entries])
    with closing(executor_for(4, work)) as executor:
        for end in executor.run(tasks, Limits(seconds=60.0), progress):
            match end:
                case Done(task, answer): ...
                case Unfinished(task): ...  # end.why(): it took too long, or its worker died

where `prepare` is

    def prepare(entries):
        claims = load(entries)                        # once in each worker
        def run(task, progress):                      # for each task
            progress("half of it is done")            # any picklable value
            return verify_claim(claims[task])
        return run

* **Executors** are None (this process, one task after the other), a number of worker processes,
  `dask://host:port` or a `distributed.Client`, and whatever makes an `Executor` of a `Work`.
  Workers get the work, the tasks and the answers by pickle, so `prepare` is a function or a class
  at the top level of a module, or a `partial` of one. Tasks are taken from their iterable as they
  are handed out: a generator of large tasks is not kept in memory.
* **Limits**: seconds for a task, and a time by which all have to end. Only another process can be
  stopped: in this one, tasks run as long as they run. A task whose worker dies is `Unfinished`, or
  runs again while fewer than `deaths` workers have died of it. So is a task that runs out of
  memory. None of these costs another task anything.
* **Exceptions** of the function are raised by `run`, wherever it ran: an `InputError` or an
  `InstallationError` as it is, and what a line of one of the `files` raised as an `InputError` that
  names the line. A function whose exceptions are answers catches them.
* **progress** receives `Started(task)`, `Told(task, value)` for what the function passes on, and
  `Lost(how)` for a worker that ended and stopped nothing. A cluster reports none of these.
* **Arithmetic**: a task runs on one thread of one path through the BLAS, so that its answer does
  not depend on the executor.
* **Ctrl-C** ends the caller alone; closing an executor stops its workers, whatever they are doing,
  and they end with their parent.

`Alone` asks one question at a time, with a limit of its own. A time that tasks carry is a
`Deadline`.

An executor of another kind is a file here with `connect(work, address)`, found by the scheme of
`scheme://address`; or it is handed over as a function of the work.

What lives here: `executors` and `dask`, the `pool` of processes below them, `alone`, `arithmetic`,
and `traces`, which says in which line of a claim's file something happened.
May import: `catalogue`, for the names of files. Nothing here imports torch before a task runs.
"""

from rankcheck.engine.parallel.alone import Alone, Stopped
from rankcheck.engine.parallel.arithmetic import single_thread
from rankcheck.engine.parallel.events import Done, Lost, Started, Tell, Told
from rankcheck.engine.parallel.executors import (
    Deadline,
    Executor,
    Inline,
    Limits,
    Processes,
    Unfinished,
    Work,
    executor_for,
)
from rankcheck.engine.parallel.pool import PoolError

__all__ = [
    "Alone",
    "Deadline",
    "Done",
    "Executor",
    "Inline",
    "Limits",
    "Lost",
    "PoolError",
    "Processes",
    "Started",
    "Stopped",
    "Tell",
    "Told",
    "Unfinished",
    "Work",
    "executor_for",
    "single_thread",
]
