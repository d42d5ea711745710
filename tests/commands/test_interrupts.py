"""Ctrl-C, at whatever moment it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from rankcheck.commands import interrupts

from .test_limits import HEAD, claim

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
from rankcheck.commands import cli, list
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)
def run(args):
{code}
    {then}
list.run = run
sys.exit(cli.main(['list']))
"""


def program(code: str, then: str) -> subprocess.CompletedProcess[str]:
    indented = "\n".join("    " + line for line in code.strip().splitlines())
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(code=indented, then=then)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.slow
@pytest.mark.parametrize("code", [COLLECTED, DELETED, CAUGHT])
@pytest.mark.parametrize("then", ["time.sleep(60)", "while True: pass"])
def test_an_interrupt_that_is_swallowed_comes_again(code, then):
    ended = program(code, then)
    assert ended.returncode == 130
    assert ended.stderr.endswith("rankcheck: interrupted\n")


@pytest.mark.slow
def test_what_is_done_at_the_end_is_not_interrupted_again():
    code = "try: interrupt()\nfinally:\n    time.sleep(1.0)\n    print('whole', flush=True)"
    ended = program(code, "pass")
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        130,
        "whole\n",
        "rankcheck: interrupted\n",
    )


@pytest.mark.slow
def test_a_second_interrupt_ends_at_once():
    code = "try: interrupt()\nfinally:\n    time.sleep(0.5)\n    interrupt()\n    print('late')"
    ended = program(code, "pass")
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr == "rankcheck: interrupted twice\n"


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


@pytest.mark.slow
@pytest.mark.parametrize("command", ["verify", "hunt"])
def test_an_interrupt_ends_a_command_at_any_moment(tmp_path, command):
    """While the workers start, import, run; no process is left, and no traceback is shown."""
    (tmp_path / "mine.py").write_text(HEAD + claim("body", "time.sleep(600)") + claim("other"))
    code = (
        "import sys; from rankcheck.__main__ import main; sys.stdout.write('here\\n')\n"
        "sys.stdout.flush(); sys.exit(main())"
    )
    for delay in (0.1, 0.3, 2.0):
        process = subprocess.Popen(
            [sys.executable, "-c", code, command, "mine.py"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
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
        assert process.returncode == 130, (delay, out, err)
        assert err == "rankcheck: interrupted\n", (delay, out, err)
