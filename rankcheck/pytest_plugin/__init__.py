"""The pytest plugin: claims as tests, and their ledger at the end of the run.

A claim is an ordinary test function. The plugin gives the run a profile and a seed, carries each
claim's row with its test report (so that the ledger of a run with `-n 4` is whole), shows a false
claim as its message alone, and refuses to start where claims would silently not be checked.
Nothing here imports torch before a file of claims has done so.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankcheck import files
from rankcheck.catalogue import collect as catalogue
from rankcheck.catalogue.entry import CatalogueError, shown_path
from rankcheck.terminal import table
from rankcheck.verification import ledger
from rankcheck.verification import session as running
from rankcheck.verification.ledger import Row
from rankcheck.verification.profiles import PROFILES, profile
from rankcheck.verification.run import raised, single_thread, undecided

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim

#: The name under which a row travels with a report.
_PROPERTY = "rankcheck"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rankcheck", "claims and their ledger")
    group.addoption("--ledger", metavar="FILE", help="write the ledger of the claims, as JSON")
    group.addoption(
        "--rankcheck-profile",
        metavar="|".join(PROFILES),
        help="how much is drawn and swept (default: RANKCHECK_PROFILE, or quick)",
    )
    group.addoption(
        "--rankcheck-seed", metavar="N", type=int, default=0, help="seed of the claims (default 0)"
    )
    group.addoption(
        "--hunt",
        metavar="SECONDS",
        type=float,
        help="hunt each conjecture for so long, after it was verified",
    )
    parser.addini(
        "rankcheck_claims",
        "folders in which every Python file without a leading underscore holds claims",
        type="paths",
        default=[],
    )


def pytest_configure(config: pytest.Config) -> None:
    name = config.getoption("--rankcheck-profile") or os.environ.get("RANKCHECK_PROFILE", "quick")
    path = config.getoption("--ledger")
    seconds = config.getoption("--hunt")
    if seconds is not None and not seconds > 0:
        raise pytest.UsageError(f"rankcheck: a hunt takes some seconds; received --hunt {seconds}")
    try:
        settings = running.Session(profile(name), config.getoption("--rankcheck-seed"))
        if path is not None:
            files.check_writable(Path(path))
    except ValueError as error:
        raise pytest.UsageError(f"rankcheck: {error}") from error
    config.pluginmanager.register(_Ledger(config, settings), "rankcheck-ledger")


def claim_of(function: object) -> Claim | None:
    """The claim that a test function checks, if it is one."""
    module = sys.modules.get("rankcheck.claims.claim")
    claim = getattr(function, "claim", None)
    return claim if module is not None and isinstance(claim, module.Claim) else None


class _Ledger:
    """The ledger of a pytest run; on a worker of pytest-xdist, its part of it."""

    def __init__(self, config: pytest.Config, settings: running.Session) -> None:
        self.config = config
        self.settings = settings
        self.previous = running.begin(settings)
        self.start = time.monotonic()
        self.rows: dict[str, Row] = {}
        self.files: set[Path] = set()
        self.unwritten = ""

    @property
    def is_worker(self) -> bool:
        """Whether pytest-xdist runs this process for another that collects the reports."""
        return hasattr(self.config, "workerinput")

    def pytest_unconfigure(self) -> None:
        running.begin(self.previous)

    # Collection: what would silently not be checked is an error.

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        if self.is_worker:
            return
        for folder in self.config.getini("rankcheck_claims"):
            if _wholly_collected(self.config, folder):
                problems = list(_problems(session, folder))
                if problems:
                    raise pytest.UsageError("\n".join(problems))

    def pytest_pycollect_makemodule(self, module_path: Path) -> None:
        self.files.add(module_path.resolve())

    def pytest_pycollect_makeitem(self, collector: Any, name: str, obj: object) -> None:
        claim = claim_of(obj)
        if claim is None or claim.file.resolve() != collector.path.resolve():
            return
        if not collector.funcnamefilter(name):
            raise pytest.Collector.CollectError(
                f"{claim.id}: the function of a claim is named test_..., or pytest leaves it out; "
                f"received {name}"
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        error = getattr(getattr(report, "call", None), "excinfo", None)
        if error is not None and _is_rule(error.value):
            report.longrepr = f"{shown_path(collector.path)}: {error.value}"
        return report

    # Running: a row with each report.

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        claim = claim_of(getattr(item, "obj", None))
        if claim is None:
            return (yield)
        running.begin(self.settings)  # whatever a test before has begun and not ended
        with single_thread():
            yield
            if claim.kind == "conjecture" and self.config.getoption("--hunt") is not None:
                self._hunt(claim)

    def _hunt(self, claim: Claim) -> None:
        """Spend seconds on breaking a conjecture that was just verified."""
        __tracebackhide__ = True
        from rankcheck.hunt.guarding import row_of
        from rankcheck.hunt.run import hunt
        from rankcheck.verification.check import ClaimFalse

        settings = self.settings
        seconds = self.config.getoption("--hunt")
        found = hunt(claim, seconds, settings.seed, folder=settings.folder)
        known = [row for row in settings.rows if row.id == claim.id]
        settings.rows.append(row_of(found, known[-1] if known else None))
        if not settings.rows[-1].expected:
            raise ClaimFalse("\n".join(settings.rows[-1].messages))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        claim = claim_of(getattr(item, "obj", None))
        row = None if claim is None else self._row(claim, call)
        if row is not None:
            item.user_properties.append((_PROPERTY, json.dumps(row.to_json())))
        report = yield
        if call.excinfo is not None and claim is not None and _is_false(call.excinfo.value):
            report.longrepr = _shown(claim, str(call.excinfo.value))
        return report

    def _row(self, claim: Claim, call: pytest.CallInfo[None]) -> Row | None:
        """What was found of the claim in this phase of its test."""
        error = None if call.excinfo is None else call.excinfo.value
        if call.when == "call":
            found = [row for row in self.settings.rows if row.id == claim.id]
            if found:
                return found[-1]
        if error is None or call.when == "teardown":
            return None
        if isinstance(error, pytest.skip.Exception):
            return undecided(claim, f"its test was skipped: {error}")
        return undecided(claim, raised(error, claim.file))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._merge(value for name, value in report.user_properties if name == _PROPERTY)

    def _merge(self, rows: Iterator[Any]) -> None:
        for text in rows:
            row = Row.from_json(json.loads(text))
            self.rows[row.id] = row

    # The end: the ledger of all workers.

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._merge(iter(getattr(node, "workeroutput", {}).get(_PROPERTY, [])))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not (self.config.option.collectonly or self.config.option.keyword):
            cited = [json.dumps(row.to_json()) for row in _cited(self.files)]
            self._merge(iter(cited))
            if self.is_worker:
                self.config.workeroutput[_PROPERTY] = cited  # type: ignore[attr-defined]
        path = self.config.getoption("--ledger")
        if path is None or self.is_worker:
            return
        try:
            files.write_json(Path(path), self._ledger())
        except OSError as error:
            self.unwritten = f"the ledger cannot be written to {path}: {error.strerror}"
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _ledger(self) -> dict[str, Any]:
        return ledger.ledger(
            self.rows.values(),
            profile=self.settings.profile.name,
            seed=self.settings.seed,
            seconds=time.monotonic() - self.start,
        )

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
        terminalreporter.write_line(
            table.total(rows, seconds, self.settings.profile.name, self.settings.seed)
        )


def _wholly_collected(config: pytest.Config, folder: Path) -> bool:
    arguments = (argument.split("::")[0] for argument in config.args)
    given = [(config.invocation_params.dir / argument).resolve() for argument in arguments]
    return any(folder.resolve().is_relative_to(path) for path in given)


def _problems(session: pytest.Session, folder: Path) -> Iterator[str]:
    """What is wrong with a folder of claims, a line each, without importing anything."""
    if not folder.is_dir():
        yield f"rankcheck_claims names folders of claims; received {folder}"
        return
    try:
        files = list(catalogue.claim_files(folder))
        entries = catalogue.unique(entry for path in files for entry in catalogue.claims_of(path))
    except CatalogueError as error:
        yield str(error)
        return
    yield from catalogue.uncorrected(entries)
    for path in files:
        if not _collects(session, path, folder):
            yield (
                f"{shown_path(path)}: pytest collects every file of claims; this one is ignored, "
                "or does not match python_files"
            )


def _collects(session: pytest.Session, path: Path, folder: Path) -> bool:
    """Whether pytest would look for tests in a file, as it is configured.

    What a person leaves out on the command line (`--ignore`, `--ignore-glob`) is their decision.
    """
    config = session.config
    hook = session.gethookproxy(path.parent)
    if not (config.option.ignore or config.option.ignore_glob):
        way = [path, *(parent for parent in path.parents if parent.is_relative_to(folder))]
        if any(hook.pytest_ignore_collect(collection_path=part, config=config) for part in way):
            return False
    return bool(hook.pytest_collect_file(file_path=path, parent=session))


def _cited(files: set[Path]) -> Iterator[Row]:
    """The rows of the statements that the collected files only cite."""
    from rankcheck.claims import registry

    for claim in registry.declared().values():
        if claim.kind == "cited" and claim.file.resolve() in files:
            from rankcheck.verification.check import verify_claim

            yield verify_claim(claim)


def _is_rule(error: BaseException) -> bool:
    """Whether the message says it all: a claim is not well formed, or its id is taken."""
    from rankcheck.claims.registry import DuplicateClaim

    module = sys.modules.get("rankcheck.claims.claim")
    return isinstance(error, DuplicateClaim) or (
        module is not None and isinstance(error, module.ClaimError)
    )


def _is_false(error: BaseException) -> bool:
    module = sys.modules.get("rankcheck.verification.check")
    return module is not None and isinstance(error, module.ClaimFalse)


def _shown(claim: Claim, message: str) -> Any:
    """A failure that is its message alone, with the place of the claim."""
    from _pytest._code.code import ReprExceptionInfo, ReprFileLocation, ReprTracebackNative

    return ReprExceptionInfo(
        reprcrash=ReprFileLocation(str(claim.file), claim.line, message.split("\n", 1)[0]),
        reprtraceback=ReprTracebackNative([message + "\n"]),
    )
