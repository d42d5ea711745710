"""Errors whose message is shown without a traceback; code that may try to end the process."""

from __future__ import annotations

import errno
import signal
from collections.abc import Iterator
from contextlib import contextmanager

#: How libraries say that there is no memory, besides MemoryError: torch, C++, the dynamic linker.
_NO_MEMORY = (
    "can't allocate memory",
    "not enough memory",
    "out of memory",
    "bad_alloc",
    "annot allocate memory",
    "failed to map segment",
)


class InputError(ValueError):
    """The input is wrong. The message says what happened first, and the rule second."""


class ClaimFalse(AssertionError):
    """The verdict of a claim is not the one that its kind expects; the message says why."""


class InstallationError(RuntimeError):
    """A check of the installation came out wrong: no verdict of it can be trusted."""


class LeftEarly(RuntimeError):
    """Code of a claim file tried to end the process or a test instead of returning."""


@contextmanager
def contained() -> Iterator[None]:
    """Run code of a claim file; what would end the process or a test there becomes an error.

    `sys.exit(0)` in a body, or `pytest.skip`, would otherwise end a run without its verdicts.
    Ctrl-C passes, except in worker processes, which ignore it: there the code raised it itself. So
    does the control flow of Hypothesis.

    Raises:
        LeftEarly: naming what was raised.
    """
    try:
        yield
    except Exception:
        raise
    except BaseException as stop:
        if type(stop).__module__.partition(".")[0] == "hypothesis":
            raise
        if (
            isinstance(stop, KeyboardInterrupt)
            and signal.getsignal(signal.SIGINT) != signal.SIG_IGN
        ):
            raise
        text = " ".join(str(stop).split())
        raise LeftEarly(
            f"it raised {type(stop).__name__}{f' ({text})' if text else ''}; the code of a claim "
            "returns, or raises an Exception"
        ).with_traceback(stop.__traceback__) from None


def short_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory was short. That is no fact about a claim.

    >>> short_of_memory(MemoryError()), short_of_memory(RuntimeError("shapes differ"))
    (True, False)
    """
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    text = str(error)
    return isinstance(error, RuntimeError | ImportError) and any(one in text for one in _NO_MEMORY)
