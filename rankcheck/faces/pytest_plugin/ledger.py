"""The ledger of a pytest run: each report carries a row, and the end of the run shows them all.

In GitHub Actions the claims that are not as expected are annotated, and the job has a summary.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Generator
from typing import Any

import pytest

from rankcheck.engine.verification.ledger import Ledger, Row
from rankcheck.engine.verification.one import stopped_by
from rankcheck.faces.pytest_plugin.item import ClaimItem
from rankcheck.faces.pytest_plugin.options import Options
from rankcheck.faces.pytest_plugin.properties import CLAIM, properties_of, put
from rankcheck.faces.terminal import table
from rankcheck.faces.terminal.github import Annotation, add_summary, in_actions, summary

#: The attribute of a report that carries a row, as JSON; pytest-xdist passes it on.
_ROW = "rankcheck_row"


class LedgerHooks:
    """Collects the rows of a run, and what is to be annotated.

    With pytest-xdist reports arrive in the controller, which shows them; a worker has its own.
    """

    def __init__(self, config: pytest.Config, options: Options) -> None:
        self.config = config
        self.options = options
        self.start = time.monotonic()
        self.rows: dict[str, Row] = {}
        self.annotations: dict[str, Annotation] = {}
        self.unwritten = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        if not isinstance(item, ClaimItem):
            return (yield)
        row = _row(item, call)
        if row is not None:
            put(item.user_properties, properties_of(item.claim, row))
        report = yield
        if row is not None:
            setattr(report, _ROW, json.dumps(row.to_json()))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        id_, row = dict(report.user_properties).get(CLAIM), _carried(report)
        if row is not None:
            self.rows[row.id] = row
        if not isinstance(id_, str) or not in_actions():
            return
        file, line, _ = report.location
        place = self.config.rootpath / file, (line or 0) + 1
        if row is not None and not row.expected and not hasattr(report, "wasxfail"):
            self.annotations[id_] = Annotation.of(row, *place)
        elif report.failed:
            why = str(report.longrepr).strip()
            self.annotations.setdefault(id_, Annotation("error", id_, "failed", why, *place))

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
        except OSError as error:
            self.unwritten = f"{path} cannot be written: {error.strerror}"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if hasattr(self.config, "workerinput"):  # the controller has the rows of all workers
            return
        if self.unwritten:
            terminalreporter.write_line(f"rankcheck: {self.unwritten}", red=True)
        annotations = sorted(self.annotations.values(), key=lambda one: one.id)
        for one in annotations:
            terminalreporter.write_line(str(one))
        rows, settings = sorted(self.rows.values(), key=lambda row: row.id), self.options.settings
        seconds = time.monotonic() - self.start
        total = table.total(rows, seconds, settings.profile.name, settings.seed)
        shown = in_actions() and (rows or annotations)
        if shown and (problem := add_summary(summary(total, annotations))):
            terminalreporter.write_line(f"rankcheck: {problem}", red=True)
        if not rows:
            return
        terminalreporter.section("rankcheck ledger")
        if terminalreporter.verbosity >= 0:
            width = shutil.get_terminal_size().columns if terminalreporter.isatty else None
            heading, *lines = table.lines(rows, width)
            terminalreporter.write_line(heading, bold=True)
            for row, line in zip(rows, lines, strict=True):
                terminalreporter.write_line(line, red=not row.expected)
        terminalreporter.write_line(total)


def _carried(report: pytest.TestReport) -> Row | None:
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
    if isinstance(error, pytest.skip.Exception | pytest.xfail.Exception):
        return None  # the claim was not put to the test
    return stopped_by(item.claim, error)
