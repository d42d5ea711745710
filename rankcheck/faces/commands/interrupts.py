"""Ctrl-C ends a command, wherever it comes.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a callback of the garbage
collector, in `__del__`, or in an import that catches everything, it is printed or swallowed, and
the command would run on. Here it is raised again until it arrives. A second Ctrl-C ends the process
at once.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

#: A second Ctrl-C counts after so many seconds: some wrappers pass the first one on twice.
TWICE = 0.3
#: Seconds between two looks whether the interrupt has arrived.
PAUSE = 0.2
_CODE = 130


@contextmanager
def handled() -> Iterator[None]:
    """Handle Ctrl-C inside, unless it is ignored, or is handled already.

    Once it has come, the block ends with KeyboardInterrupt, or the process with exit code 130.
    """
    main = threading.main_thread()
    if (
        threading.current_thread() is not main
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    handler = _Handler()
    signal.signal(signal.SIGINT, handler)
    try:
        yield
        if handler.since is not None and not handler.over:
            raise KeyboardInterrupt
    finally:
        handler.end()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def arrived() -> None:
    """Say that the interrupt has been dealt with; it is not raised again."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, _Handler):
        handler.over = True


class _Handler:
    """The handler of SIGINT, with a thread that sends it again.

    Attributes:
        since: when the first Ctrl-C came, on `time.monotonic()`.
        over: whether nothing more is to be raised.
    """

    def __init__(self) -> None:
        self.since: float | None = None
        self.over = False
        self._again = False
        self._sending = threading.Lock()  # not for the handler
        # A pipe: a lock that the handler takes could be held by the code that it interrupts.
        self._read, self._write = os.pipe()
        threading.Thread(target=self._repeat, daemon=True).start()

    def end(self) -> None:
        """Raise nothing more, send nothing more, and end the thread."""
        with self._sending:
            self.over = True
        os.close(self._write)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._again:
            self._again = False
            if not self.over and not _within(sys.exception()):
                raise KeyboardInterrupt
        elif self.since is None:
            self.since = time.monotonic()
            os.write(self._write, b"!")
            raise KeyboardInterrupt
        elif time.monotonic() - self.since > TWICE:
            _leave()

    def _repeat(self) -> None:
        """Send the signal again until it has arrived; the first Ctrl-C starts this."""
        begun = os.read(self._read, 1)
        os.close(self._read)
        while begun:
            time.sleep(PAUSE)
            with self._sending:
                if self.over:
                    return
                self._again = True
                main = threading.main_thread().ident
                if hasattr(signal, "pthread_kill") and main is not None:
                    signal.pthread_kill(main, signal.SIGINT)  # also ends a system call that waits
                else:
                    import _thread

                    _thread.interrupt_main()


def _within(error: BaseException | None) -> bool:
    """Whether an interrupt is being handled: in `finally`, `except` or `__exit__`."""
    seen = 0
    while error is not None and seen < 100:
        if isinstance(error, KeyboardInterrupt):
            return True
        error, seen = error.__context__, seen + 1
    return False


def _leave() -> None:
    """End the process now. Worker processes end with it."""
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, b"\x1b[?25h")  # the live display hides the cursor
        os.write(2, b"rankcheck: interrupted twice\n")
    os._exit(_CODE)
