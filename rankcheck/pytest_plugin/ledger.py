"""The ledger of a pytest run: a row travels with each report, and all are shown at the end."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any

import pytest

from rankcheck import files
from rankcheck.pytest_plugin.item import ClaimItem
from rankcheck.pytest_plugin.options import Options
from rankcheck.terminal import table
from rankcheck.verification import ledger
from rankcheck.verification.ledger import Row
from rankcheck.verification.run import raised, unfinished

__all__ = ["Ledger"]

#: The name under which a row travels with a report.
_PROPERTY = "rankcheck"


class Ledger:
    """The rows of a run; on a worker of pytest-xdist, its part of them."""

    def __init__(self, config: pytest.Config, options: Options) -> None:
        self.config = config
        self.options = options
        self.start = time.monotonic()
        self.rows: dict[str, Row] = {}
        self.unwritten = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        row = _row(item, call) if isinstance(item, ClaimItem) else None
        if row is not None:
            item.user_properties.append((_PROPERTY, json.dumps(row.to_json())))
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name == _PROPERTY:
                row = Row.from_json(json.loads(str(value)))
                self.rows[row.id] = row

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        path = self.options.ledger
        if path is None or hasattr(self.config, "workerinput"):
            return
        settings = self.options.settings
        found = ledger.ledger(
            self.rows.values(),
            profile=settings.profile.name,
            seed=settings.seed,
            seconds=time.monotonic() - self.start,
        )
        try:
            files.write_json(path, found)
        except OSError as error:
            self.unwritten = f"the ledger cannot be written to {path}: {error.strerror}"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unwritten:
            terminalreporter.write_line(f"rankcheck: {self.unwritten}", red=True)
        if not self.rows:
            return
        terminalreporter.section("rankcheck ledger")
        rows = sorted(self.rows.values(), key=lambda row: row.id)
        if terminalreporter.verbosity >= 0:
            heading, *lines = table.lines(rows)
            terminalreporter.write_line(heading, bold=True)
            for row, line in zip(rows, lines, strict=True):
                terminalreporter.write_line(line, red=not row.expected)
        seconds = time.monotonic() - self.start
        settings = self.options.settings
        terminalreporter.write_line(
            table.total(rows, seconds, settings.profile.name, settings.seed)
        )


def _row(item: ClaimItem, call: pytest.CallInfo[None]) -> Row | None:
    """What was found of the claim in this phase of its test."""
    error: Any = None if call.excinfo is None else call.excinfo.value
    if call.when == "call" and item.row is not None:
        return item.row
    if error is None or call.when == "teardown":
        return None
    if isinstance(error, pytest.skip.Exception):
        return unfinished(item.claim, f"its test was skipped: {error}")
    return unfinished(item.claim, raised(error, item.claim.file))
