"""Collection: a claim becomes a test item, and no claim of a folder of claims is left out."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue import collect
from rankcheck.claims.catalogue.entry import CatalogueError
from rankcheck.claims.registry import DuplicateClaim
from rankcheck.faces.pytest_plugin.item import ClaimItem, MalformedItem, items_of
from rankcheck.faces.pytest_plugin.options import check_environment
from rankcheck.files import shown_path

if TYPE_CHECKING:
    from rankcheck.claims.claim import Claim


class Collection:
    """The hooks of collection. A claim that would silently not be checked is an error."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        if hasattr(self.config, "workerinput"):  # the controller of pytest-xdist checks
            return
        for folder in self.config.getini("rankcheck_claims"):
            if _wholly_collected(self.config, folder):
                problems = list(_problems(session, folder))
                if problems:
                    raise pytest.UsageError("\n".join(problems))

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: Any, name: str, obj: object
    ) -> Sequence[pytest.Item] | None:
        if isinstance(obj, registry.Malformed):
            if obj.file.resolve() != collector.path.resolve():
                return []
            return [MalformedItem.from_parent(collector, name=name, claim=obj)]
        if not is_claim(obj):
            return None
        claim: Claim = obj  # type: ignore[assignment]
        if claim.file.resolve() != collector.path.resolve():
            return []  # it is imported here, and collected where it is declared
        return items_of(collector, name, claim)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if any(isinstance(item, ClaimItem) for item in session.items):
            check_environment(self.config)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        with registry.recording() if isinstance(collector, pytest.Module) else nullcontext():
            report = yield
        error = getattr(getattr(report, "call", None), "excinfo", None)
        if error is not None and _is_rule(error.value):
            report.longrepr = f"{shown_path(collector.path)}: {error.value}"
        return report


def is_claim(obj: object) -> bool:
    """Whether an object is a claim. Does not import torch: no claim, no module of claims."""
    module = sys.modules.get("rankcheck.claims.claim")
    return module is not None and isinstance(obj, module.Claim)


def _is_rule(error: BaseException) -> bool:
    """Whether an error needs no traceback: a claim is malformed, or its id is taken."""
    module = sys.modules.get("rankcheck.claims.claim")
    return isinstance(error, DuplicateClaim) or (
        module is not None and isinstance(error, module.ClaimError)
    )


def _wholly_collected(config: pytest.Config, folder: Path) -> bool:
    arguments = (argument.split("::")[0] for argument in config.args)
    given = [(config.invocation_params.dir / argument).resolve() for argument in arguments]
    return any(folder.resolve().is_relative_to(path) for path in given)


def _problems(session: pytest.Session, folder: Path) -> Iterator[str]:
    """What is wrong with a folder of claims, a line each; reads its files without importing."""
    if not folder.is_dir():
        yield f"{folder} does not exist; rankcheck_claims names folders of claims"
        return
    try:
        files = list(collect.claim_files(folder))
        entries = collect.unique(entry for path in files for entry in collect.claims_of(path))
    except CatalogueError as error:
        yield str(error)
        return
    yield from collect.problems(entries)
    yield from collect.uncorrected(entries)
    for path in files:
        if not _collects(session, path, folder):
            yield (
                f"{shown_path(path)} is ignored, or does not match python_files; "
                "pytest has to collect every file of claims"
            )


def _collects(session: pytest.Session, path: Path, folder: Path) -> bool:
    """Whether pytest is configured to look for tests in a file.

    Files that are left out on the command line (`--ignore`, `--ignore-glob`) are not reported.
    """
    config = session.config
    hook = session.gethookproxy(path.parent)
    if not (config.option.ignore or config.option.ignore_glob):
        way = [path, *(parent for parent in path.parents if parent.is_relative_to(folder))]
        if any(hook.pytest_ignore_collect(collection_path=part, config=config) for part in way):
            return False
    return bool(hook.pytest_collect_file(file_path=path, parent=session))
