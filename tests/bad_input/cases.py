"""How many inputs are tried, and what each of them must end in."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from rankcheck.faces.commands.cli import main

#: By this the number of inputs is multiplied in the nightly lane: some 20 000 in all.
NIGHTLY = 20


def cases(number: int, **strategies: SearchStrategy[Any]) -> Callable[[Any], Any]:
    """A test of so many inputs, drawn from the strategies, in the slow lane.

    In the nightly lane they are other ones each time, and `NIGHTLY` times as many.
    """

    def setting(times: int) -> settings:
        return settings(
            max_examples=number * times,
            derandomize=times == 1,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def tries(times: int, **fixtures: Any) -> None:
            @setting(times)
            @given(**strategies)
            def one(**drawn: Any) -> None:
                test(**fixtures, **drawn)

            one()

        tries.__name__, tries.__doc__ = test.__name__, test.__doc__
        rest = [
            parameter
            for name, parameter in inspect.signature(test).parameters.items()
            if name not in strategies
        ]
        times = inspect.Parameter("times", inspect.Parameter.KEYWORD_ONLY)
        tries.__signature__ = inspect.Signature([*rest, times])  # type: ignore[attr-defined]
        lanes = [
            pytest.param(1, marks=pytest.mark.slow),
            pytest.param(NIGHTLY, marks=pytest.mark.nightly),
        ]
        return pytest.mark.parametrize("times", lanes)(tries)

    return decorate


@dataclass(frozen=True)
class Ended:
    """What a command ended with."""

    code: int
    out: str
    err: str


#: Names of errors that are no answer to a wrong input.
_NO_ANSWER = ("Traceback", "internal error", "AttributeError: '", "KeyError(", "IndexError(")


def run(*arguments: object) -> Ended:
    """Run a command in this process and check how it ends.

    Exit codes are 0 to 4, an error is one line of moderate length that is no internal error (`list`
    and `show` have one for each claim that is malformed), and there is no traceback.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:  # argparse
            code = stop.code if isinstance(stop.code, int) else 1
    ended = Ended(int(code), out.getvalue(), err.getvalue())
    assert 0 <= ended.code <= 4, ended
    assert ended.err.count("\n") <= (3 if arguments[0] in ("list", "show") else 1), ended
    assert len(ended.err) < 3000, ended
    assert not any(word in ended.err for word in _NO_ANSWER), ended
    assert "Traceback" not in ended.out, ended
    if ended.code in (2, 4):
        assert ended.err.startswith("rankcheck: "), ended
    return ended


def refused(kinds: tuple[type[Exception], ...], call: Callable[[], object]) -> str:
    """The message of the error of these kinds that a call raises; empty if there is none.

    It says a rule in words.
    """
    try:
        call()
    except kinds as error:
        message = str(error)
        assert message.strip()
        assert not any(word in message for word in ("object has no attribute", "unpack")), message
        return message
    return ""
