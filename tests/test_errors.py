"""Code of claim files that tries to end the process or a test."""

import signal
import sys

import pytest

from rankcheck.errors import LeftEarly, contained


@pytest.mark.parametrize(
    ("leave", "said"),
    [
        (lambda: sys.exit(0), r"it raised SystemExit \(0\)"),
        (lambda: sys.exit("no"), r"it raised SystemExit \(no\)"),
        (lambda: raising(GeneratorExit), "it raised GeneratorExit"),
        (lambda: pytest.skip("later"), r"it raised Skipped \(later\)"),
        (lambda: pytest.fail("so"), r"it raised Failed \(so\)"),
    ],
)
def test_leaving_early_is_an_error(leave, said):
    with pytest.raises(LeftEarly, match=said) as raised, contained():
        leave()
    assert any(entry.frame.code.name == "<lambda>" for entry in raised.traceback)


def raising(error):
    raise error


@pytest.fixture
def on_interrupt():
    """Set what an interrupt does, as at a terminal or as in a worker process, which ignores it."""
    before = signal.getsignal(signal.SIGINT)
    yield lambda handler: signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_nobody_sent_is_an_error(on_interrupt):
    """A worker process ignores Ctrl-C, so the code of the claim has raised it."""
    on_interrupt(signal.SIG_IGN)
    with pytest.raises(LeftEarly, match="it raised KeyboardInterrupt"), contained():
        raise KeyboardInterrupt


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_errors_and_interrupts_pass(on_interrupt, error):
    on_interrupt(signal.default_int_handler)
    with pytest.raises(error), contained():
        raise error


def test_hypothesis_may_stop_a_test():
    from hypothesis.errors import StopTest

    with pytest.raises(StopTest), contained():
        raise StopTest(1)
