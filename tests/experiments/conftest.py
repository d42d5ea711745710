"""The made-up experiment of `coins.py`, and its record."""

import sys

import pytest

from rankcheck.experiments import records

from .coins import install, write_record


@pytest.fixture
def coins(monkeypatch, tmp_path):
    """The experiment, with its record in `tmp_path / "recorded"`."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    before = set(sys.modules)
    made = install(folder, monkeypatch.setattr)
    write_record(folder)
    made.made.clear()
    yield made
    records.recorded.cache_clear()
    for name in set(sys.modules) - before:
        if name.endswith("t_coins"):
            del sys.modules[name]


@pytest.fixture
def record(coins, tmp_path):
    """`record()` makes the record anew, and returns its path."""
    return lambda: write_record(tmp_path / "recorded")
