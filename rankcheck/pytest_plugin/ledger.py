"""The ledger of a pytest run: each report carries a row, and the end of the run shows them all."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any

import pytest

from rankcheck.pytest_plugin.item import ClaimItem
from rankcheck.pytest_plugin.options import Options
from rankcheck.pytest_plugin.properties import put, said_of
from rankcheck.terminal import table
from rankcheck.verification.ledger import Ledger, LedgerError, Row
from rankcheck.verification.one import stopped_by, unfinished

__all__ = ["LedgerHooks", "row_of"]

#: The attribute of a report that carries a row, as JSON; pytest-xdist passes it on.
_ROW = "rankcheck_row"


class LedgerHooks:
    """Collects the rows of a run; on a worker of pytest-xdist, those of its tests."""

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
        if not isinstance(item, ClaimItem):
            return (yield)
        row = _row(item, call)
        if row is not None:
            put(item.user_properties, said_of(item.claim, row))
        report = yield
        if row is not None:
            setattr(report, _ROW, json.dumps(row.to_json()))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        row = row_of(report)
        if row is not None:
            self.rows[row.id] = row

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        path = self.options.ledger
        if path is None or hasattr(self.config, "workerinput"):
            return
        settings = self.options.settings
        ledger = Ledger.of(
            self.rows.values(),
            profile=settings.profile.name,
            seed=settings.seed,
            seconds=time.monotonic() - self.start,
        )
        try:
            ledger.write(path)
        except LedgerError as error:
            self.unwritten = str(error)
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


def row_of(report: pytest.TestReport) -> Row | None:
    """The row that a report carries, if it does."""
    text = getattr(report, _ROW, None)
    return None if text is None else Row.from_json(json.loads(text))


def _row(item: ClaimItem, call: pytest.CallInfo[None]) -> Row | None:
    """The row of a claim after a phase of its test; None if there is none yet."""
    error: Any = None if call.excinfo is None else call.excinfo.value
    if call.when == "call" and item.row is not None:
        return item.row
    if error is None or call.when == "teardown":
        return None
    if isinstance(error, pytest.skip.Exception):
        return unfinished(item.claim, f"its test was skipped: {error}")
    return stopped_by(item.claim, error)
