"""Which tests run a line: coverage.py with one context for each test.

The map is kept in `.mutation/`. A change below `rankcheck/` renews it; after a change of a test
file only that file is measured again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

#: The warm process has imported Hypothesis before pytest could rewrite the asserts of its plugin.
_REWRITTEN = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
ARGUMENTS = ["-q", "-p", "no:cacheprovider", *_REWRITTEN]


@dataclass(frozen=True)
class Reach:
    """The passing tests with their seconds, and the tests of each line of each file."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]

    def tests(self, file: str, first: int, last: int) -> set[str]:
        """The tests that run one of these lines."""
        by_line = self.lines.get(file, {})
        return {test for line in range(first, last + 1) for test in by_line.get(line, ())}

    def of_file(self, file: str) -> set[str]:
        """The tests that run any line of the file inside of a function."""
        return {test for tests in self.lines.get(file, {}).values() for test in tests}


class Contexts:
    """A pytest plugin: names the context of coverage.py, and times each test."""

    def __init__(self, coverage: Any) -> None:
        self._coverage = coverage
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        result = yield
        self._coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.outcome != "passed":
            self.failed.add(report.nodeid)


def measure(store: Path, files: Iterable[str]) -> dict[str, int]:
    """Run the tests of these files in the working directory; what they reach goes to `store`.

    Answers how many tests passed and did not.
    """
    from coverage import Coverage

    coverage = Coverage(
        data_file=str(store / "coverage"), config_file=False, source=["rankcheck"], branch=False
    )
    coverage.set_option("run:relative_files", True)
    plugin = Contexts(coverage)
    coverage.start()
    pytest.main([*ARGUMENTS, *files], plugins=[plugin])
    coverage.stop()
    coverage.save()
    passed = {t: s for t, s in plugin.seconds.items() if t not in plugin.failed}
    (store / "seconds.json").write_text(json.dumps(passed))
    (store / "failed.json").write_text(json.dumps(sorted(plugin.failed)))
    return {"passed": len(passed), "not passed": len(plugin.failed)}


def combine(store: Path, parts: Iterable[Path], files: Iterable[str]) -> None:
    """Add to `store` what was measured in the folders `parts`, which hold the tests of `files`.

    What is known of these files is replaced; the folders are removed.
    """
    from coverage import CoverageData

    path = store / "seconds.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    of = tuple(f"{file}::" for file in files)
    known = {test: seconds for test, seconds in known.items() if not test.startswith(of)}
    data, failed = CoverageData(str(store / "coverage")), []
    data.read()
    for part in parts:
        more = CoverageData(str(part / "coverage"))
        more.read()
        data.update(more)
        known |= json.loads((part / "seconds.json").read_text())
        failed += json.loads((part / "failed.json").read_text())
        shutil.rmtree(part)
    data.write()
    path.write_text(json.dumps(known))
    (store / "failed.json").write_text(json.dumps(sorted(failed)))


def load(store: Path) -> Reach:
    """The map in `store`."""
    from coverage import CoverageData

    data = CoverageData(str(store / "coverage"))
    data.read()
    seconds = json.loads((store / "seconds.json").read_text())
    lines = {}
    for file in data.measured_files():
        by_line = data.contexts_by_lineno(file)
        lines[file] = {
            line: [test for test in tests if test in seconds] for line, tests in by_line.items()
        }
    return Reach(seconds, lines)


def hashes(root: Path, files: Iterable[str]) -> dict[str, str]:
    """A digest of each file."""
    return {file: hashlib.sha256((root / file).read_bytes()).hexdigest() for file in files}
