"""One trial: the mutated file is written into a copy of the project, and a fork runs the tests.

The parent has imported torch, Hypothesis and pytest, but not rankcheck. A fork imports rankcheck
from the copy, so a change at module level counts, and processes that a test starts see it as well.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mutating.reach import ARGUMENTS

Answer = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """How a mutant fared: `killed` (by which test), `timeout` or `survived`; in what time."""

    status: str
    by: str
    seconds: float


class Chosen:
    """A pytest plugin: runs the chosen tests in the given order; keeps the first that failed."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._place = {test: place for place, test in enumerate(tests)}
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        kept = [item for item in items if item.nodeid in self._place]
        items[:] = sorted(kept, key=lambda item: self._place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed = self.failed or f"import of {report.nodeid}"


def warm_up() -> None:
    """Import what is slow to import and never mutated."""
    import flint  # noqa: F401
    import hypothesis.strategies  # noqa: F401
    import numpy  # noqa: F401
    import rich.live  # noqa: F401
    import scipy.special  # noqa: F401
    import torch

    torch.set_num_threads(1)
    if "rankcheck" in sys.modules:
        raise RuntimeError("rankcheck is imported already; a fork would not see the mutant")


def copy_of(root: Path, folder: Path) -> Path:
    """A copy of what git knows or would add, in a new folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout
    for name in listed.decode().split("\0"):
        if name and (root / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name, follow_symlinks=False)
    return folder


def in_fork(work: Callable[[], Answer], folder: Path, limit: float) -> Answer | None:
    """What `work` answers in a fork with `folder` as its directory; None after `limit` seconds.

    An empty answer: the fork died.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reading)
        answer: Answer = {}
        try:
            os.chdir(folder)
            sys.path.insert(0, str(folder))
            sys.dont_write_bytecode = True
            os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
            nothing = os.open(
                os.environ.get("MUTATION_LOG", os.devnull), os.O_RDWR | os.O_CREAT | os.O_APPEND
            )
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            answer = work()
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(OSError):
                os.write(writing, json.dumps(answer).encode())
            os._exit(0)
    os.close(writing)
    text, until = b"", time.monotonic() + limit
    with os.fdopen(reading, "rb", 0) as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                break
            part = pipe.read(65536)
            text += part
            if not part or text.endswith(b"}"):
                break
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # and what its tests have left running
    os.waitpid(child, 0)
    return json.loads(text or b"{}") if ready else None


def run_tests(tests: Sequence[str]) -> Answer:
    """Run these tests in this order up to the first failure: `{"code", "by"}`."""
    plugin = Chosen(tests)
    files = sorted({test.partition("::")[0] for test in tests})
    code = int(pytest.main([*ARGUMENTS, "-x", *files], plugins=[plugin]))
    return {"code": code, "by": plugin.failed}


class Bench:
    """A copy of the project in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._turn = 0

    def _write(self, file: str, source: str) -> None:
        path = self._folder / file
        path.write_text(source, encoding="utf-8")
        # Bytecode is matched by time and size: no two versions may share a time.
        self._turn += 1
        os.utime(path, (self._turn, self._turn))

    def try_out(
        self, file: str, changed: str, stages: Collection[Sequence[str]], limit: float
    ) -> Outcome:
        """Run the stages, each in a fork of its own, until one of the tests fails."""
        begin = time.monotonic()
        original = (self._folder / file).read_text(encoding="utf-8")
        self._write(file, changed)
        status, by = "survived", ""
        try:
            for tests in stages:
                if not tests:
                    continue
                answer = in_fork(partial(run_tests, tests), self._folder, limit)
                if answer is None:
                    status, by = "timeout", f"{limit:.0f} s"
                elif answer.get("code") not in (0, 5):
                    status, by = "killed", answer.get("by") or "the process ended"
                if status != "survived":
                    break
        finally:
            self._write(file, original)
        return Outcome(status, by, time.monotonic() - begin)
