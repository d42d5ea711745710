"""The pytest plugin: claims as tests, and their ledger at the end of the run.

What lives here: `options`, `collect` (a claim becomes an item), `item` (the item verifies it),
`ledger` (the report of the item carries its row, so that a run with `-n 4` has one whole ledger;
annotations for GitHub), `properties` (what a report says of its claim, as in JUnit files).
May import: everything but `commands`. torch is imported only if a file of claims imports it.
"""

from __future__ import annotations

import pytest

from rankcheck.faces.pytest_plugin.collect import Collection
from rankcheck.faces.pytest_plugin.item import OPTIONS
from rankcheck.faces.pytest_plugin.ledger import LedgerHooks
from rankcheck.faces.pytest_plugin.options import add_options, options_of

__all__ = ["pytest_addoption", "pytest_configure"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of rankcheck."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Read the options, and register the hooks."""
    config.stash[OPTIONS] = options = options_of(config)
    config.pluginmanager.register(Collection(config), "rankcheck-collection")
    config.pluginmanager.register(LedgerHooks(config, options), "rankcheck-ledger")
