"""Annotations of claims for GitHub, at the end of a run, and the summary of the job."""

from __future__ import annotations

import time

import pytest

from rankcheck.pytest_plugin.ledger import row_of
from rankcheck.pytest_plugin.options import Options
from rankcheck.pytest_plugin.properties import CLAIM
from rankcheck.terminal import table
from rankcheck.terminal.github import Annotation, add_summary, summary
from rankcheck.verification.ledger import Row

__all__ = ["AnnotationHooks"]


class AnnotationHooks:
    """Collects the claims whose test failed, or whose row is not as expected, and shows them.

    Registered where reports arrive: with pytest-xdist, in the controller.
    """

    def __init__(self, config: pytest.Config, options: Options) -> None:
        self.config = config
        self.options = options
        self.start = time.monotonic()
        self.rows: dict[str, Row] = {}
        self.found: dict[str, Annotation] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        id_ = dict(report.user_properties).get(CLAIM)
        if not isinstance(id_, str):
            return
        row = row_of(report)
        if row is not None:
            self.rows[id_] = row
        file, line, _ = report.location
        place = self.config.rootpath / file, (line or 0) + 1
        if row is not None and not row.expected:
            self.found[id_] = Annotation.of(row, *place)
        elif report.failed:
            said = str(report.longrepr).strip()
            self.found.setdefault(id_, Annotation("error", id_, "failed", said, *place))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        found = sorted(self.found.values(), key=lambda one: one.id)
        for one in found:
            terminalreporter.write_line(str(one))
        if not (self.rows or found):
            return
        settings = self.options.settings
        seconds = time.monotonic() - self.start
        rows = list(self.rows.values())
        total = table.total(rows, seconds, settings.profile.name, settings.seed)
        if problem := add_summary(summary(total, found)):
            terminalreporter.write_line(f"rankcheck: {problem}", red=True)
