"""Ctrl-C, at whatever moment it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from rankcheck.faces.commands import interrupts
from tests.claim_text import claim

# Where the tests run in the background, children would ignore the signal.
noticing = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
#: What swallows a KeyboardInterrupt, or prints it: a callback of the garbage collector, `__del__`,
#: code that catches everything.
COLLECTED = """
import gc
calls = []
def callback(phase, info):
    calls.append(phase)
    if len(calls) == 1: interrupt()
gc.callbacks.append(callback)
gc.collect()
"""
DELETED = """
class Gone:
    def __del__(self): interrupt()
Gone()
"""
CAUGHT = """
try: interrupt()
except BaseException: pass
"""
PROGRAM = """
import os, signal, sys, time
from rankcheck.faces.commands import cli, list
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
def run(args):
{code}
    {then}
list.run = run
sys.exit(cli.main(['list']))
"""
ENDING = "try: interrupt()\nfinally:\n    time.sleep(0.5)\n"


def program(code: str, then: str = "pass") -> tuple[int, str, str]:
    indented = "\n".join("    " + line for line in code.strip().splitlines())
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(code=indented, then=then)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=noticing,
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "then"),
    [(COLLECTED, "time.sleep(60)"), (DELETED, "while True: pass"), (CAUGHT, "while True: pass")],
)
def test_an_interrupt_that_is_swallowed_comes_again(code, then):
    ended, _, err = program(code, then)
    assert ended == 130
    assert err.endswith("rankcheck: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "out", "err"),
    [
        (f"{ENDING}    print('whole', flush=True)", "whole\n", "rankcheck: interrupted\n"),
        (f"{ENDING}    interrupt()\n    print('late')", "", "rankcheck: interrupted twice\n"),
    ],
    ids=["one", "two"],
)
def test_what_is_done_at_the_end_is_interrupted_by_a_second_one_alone(code, out, err):
    assert program(code) == (130, out, err)


def test_the_handler_is_taken_back_and_an_ignored_signal_stays_ignored():
    # Where the tests run in the background, the signal is ignored at first.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupts.handled():
            inside = signal.getsignal(signal.SIGINT)
            assert inside is not signal.default_int_handler
            with interrupts.handled():
                assert signal.getsignal(signal.SIGINT) is inside
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interrupts.handled():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("command", "delay"),
    [
        pytest.param("verify", 2.0, marks=pytest.mark.slow),
        *(
            pytest.param(command, delay, marks=pytest.mark.nightly)
            for command in ("verify", "hunt")
            for delay in (0.1, 0.3, 1.0, 3.0)
        ),
    ],
)
def test_an_interrupt_ends_a_command_at_any_moment(mine, command, delay):
    """While the workers start, import, run; no process is left, and no traceback is shown."""
    mine(claim("body", "time.sleep(600)"), claim("other"))
    code = (
        "import sys; from rankcheck.__main__ import main; sys.stdout.write('here\\n')\n"
        "sys.stdout.flush(); sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, command, "mine.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=noticing,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    try:
        # Workers hold the streams, so this waits for them, too.
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, err) == (130, "rankcheck: interrupted\n"), out
