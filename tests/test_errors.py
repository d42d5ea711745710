"""Code of claim files that tries to end the process or a test."""

import sys

import pytest

from rankcheck.errors import LeftEarly, contained


@pytest.mark.parametrize(
    ("leave", "said"),
    [
        (lambda: sys.exit(0), r"it raised SystemExit \(0\)"),
        (lambda: sys.exit("no"), r"it raised SystemExit \(no\)"),
        (lambda: pytest.skip("later"), r"it raised Skipped \(later\)"),
        (lambda: pytest.fail("so"), r"it raised Failed \(so\)"),
    ],
)
def test_leaving_early_is_an_error(leave, said):
    with pytest.raises(LeftEarly, match=said) as raised, contained():
        leave()
    assert any(entry.frame.code.name == "<lambda>" for entry in raised.traceback)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_errors_and_interrupts_pass(error):
    with pytest.raises(error), contained():
        raise error


def test_hypothesis_may_stop_a_test():
    from hypothesis.errors import StopTest

    with pytest.raises(StopTest), contained():
        raise StopTest(1)
