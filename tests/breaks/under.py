"""Runs the tests that notice some breaks, each under its break and as it is.

    python -m tests.breaks.under BREAK ...

Prints a line for each break that its test does not notice, and for each test that fails without
one; the exit code says whether there was such a line. A process of its own, because what a test
keeps from an engine that is broken would reach other tests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pytest
from _pytest.runner import runtestprotocol

from .table import Break, breaks

QUIETLY = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "")
#: This process has imported some of what pytest would like to rewrite.
LOADED = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"


def path(one: Break) -> str:
    return f"tests/{one.test}"


class Breaking:
    """A plugin of pytest that runs tests under breaks; `problems` are its findings."""

    def __init__(self, some: Iterable[Break]) -> None:
        self.some = some
        self.problems: list[str] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for one in self.some:
            items = [item for item in session.items if item.nodeid.partition("[")[0] == path(one)]
            fails = next((item for item in items if not passes(item, one)), None)
            if fails is None:
                self.problems.append(f"{one.name}: {one.test} does not notice it")
            elif not passes(fails):
                self.problems.append(f"{one.name}: {fails.nodeid} fails without it, too")
        return True


def passes(item: pytest.Item, one: Break | None = None) -> bool:
    """Whether a test passes, under a break or as it is; what its fixtures do is left aside."""
    with pytest.MonkeyPatch.context() as patch:
        if one is not None:
            one.apply(patch)
        reports = runtestprotocol(item, nextitem=None, log=False)
    return all(report.passed for report in reports if report.when == "call")


def main(names: list[str]) -> int:
    """Print what is wrong with these breaks."""
    some = [breaks()[name] for name in names]
    plugin = Breaking(some)
    ended = pytest.main(
        [*QUIETLY, "-W", LOADED, *sorted({path(one) for one in some})], plugins=[plugin]
    )
    print(*plugin.problems, sep="\n")
    return 1 if plugin.problems else int(ended)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
