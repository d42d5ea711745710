"""How many inputs are tried, and what each of them must end in.

RANKCHECK_PROFILE chooses the number: some hundreds by default and under `ci`, more than ten
thousand under `deep`. Each case that runs is counted in `RAN`, under the name of its test.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hypothesis import HealthCheck, Phase, settings

from rankcheck.commands.cli import main

#: Read at import: a fixture of the suite removes the variable.
PROFILE = os.environ.get("RANKCHECK_PROFILE", "")
#: By this the numbers of a test are multiplied, under `deep` by the first.
DEEP = 15
TIMES = DEEP if PROFILE == "deep" else 1
#: Seconds after which a single case counts as a hang; the slowest takes less than one.
HANG = 120

RAN: Counter[str] = Counter()


def cases(number: int) -> settings:
    """Settings of a test that tries so many inputs, and many more under `deep`."""
    return settings(
        max_examples=number * TIMES,
        derandomize=TIMES == 1,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


class Hang(BaseException):
    """A case does not end."""


@contextlib.contextmanager
def watched(name: str) -> Iterator[None]:
    """Count a case, and end it if it hangs."""
    RAN[name] += 1
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        raise Hang(f"{name} does not end within {HANG} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(HANG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True)
class Ended:
    """What a command ended with."""

    code: int
    out: str
    err: str


#: Names of errors that are no answer to a wrong input.
_NO_ANSWER = ("Traceback", "internal error", "AttributeError: '", "KeyError(", "IndexError(")


def run(name: str, *arguments: object) -> Ended:
    """Run a command in this process and check how it ends.

    Exit codes are 0 to 4, an error is one line of moderate length that is no internal error, and
    there is no traceback.
    """
    out, err = io.StringIO(), io.StringIO()
    with watched(name), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse
            code = stop.code if isinstance(stop.code, int) else 1
    ended = Ended(int(code), out.getvalue(), err.getvalue())
    assert 0 <= ended.code <= 4, ended
    assert ended.err.count("\n") <= 1, ended
    assert len(ended.err) < 3000, ended
    assert not any(word in ended.err for word in _NO_ANSWER), ended
    assert "Traceback" not in ended.out, ended
    if ended.code in (2, 4):
        assert ended.err.startswith("rankcheck: "), ended
    return ended


def refused(
    name: str,
    kinds: tuple[type[Exception], ...],
    call: Callable[[], object],
    *,
    quotes: str = "",
) -> str:
    """The message of the error of these kinds that a call raises; empty if there is none.

    It says a rule in words. After `quotes` it may say what the code of a claim file raised.
    """
    with watched(name):
        said = None
        try:
            call()
        except kinds as error:
            said = str(error)
    if said is None:
        return ""
    own = said.partition(quotes)[0] if quotes else said
    assert own.strip()
    assert not any(word in own for word in ("object has no attribute", "unpack")), said
    return said
