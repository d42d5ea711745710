"""What a worker process of the pool does: prepare, then run the tasks that come."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any

from rankcheck.engine.parallel.arithmetic import fix_arithmetic
from rankcheck.errors import InputError, short_of_memory

#: A worker that runs too long gets this signal, and writes where it is.
WHERE = getattr(signal, "SIGUSR1", None) if hasattr(faulthandler, "register") else None


def work(connection: Connection, dumped: Connection, pickled: bytes) -> None:
    """The main function of a worker: prepare, then run the tasks that come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    if WHERE is not None:
        faulthandler.register(WHERE, file=dumped.fileno(), all_threads=True)
    fix_arithmetic()
    threading.Thread(target=_exit_with_parent, daemon=True).start()

    def tell(kind: str, value: Any = None) -> None:
        with suppress(OSError):  # the pipe is closed: this process is about to be stopped
            connection.send((kind, value))

    try:
        warm, prepare = pickle.loads(pickled)
        if warm is not None:
            warm()
        tell("warm")
        run = prepare()
    except InputError as error:
        tell("refused", error)
        return
    except Exception as error:
        if not short_of_memory(error):
            raise
        tell("refused", InputError("a worker process ran out of memory before it was prepared"))
        return
    tell("ready")
    allowed = _limits()
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        tell("begun")
        answer = run(task, partial(tell, "told"))
        for stream in (sys.stdout, sys.stderr):  # what a body has printed; a worker is killed later
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        if _limits() != allowed:  # other tasks would meet what this one has set, as RLIMIT_AS
            tell("last", answer)
            return
        tell("done", answer)


def _limits() -> list[tuple[int, int]]:
    """The limits of this process, soft and hard."""
    try:
        import resource
    except ImportError:  # Windows
        return []
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    return [resource.getrlimit(getattr(resource, name)) for name in sorted(names)]


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
