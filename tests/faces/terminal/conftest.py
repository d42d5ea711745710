"""Rows and terminals that are made up."""

import io

import pytest

from rankcheck.engine.verification.counts import Counts
from rankcheck.engine.verification.ledger import Mutants, RelationFacts, Row, Scope


@pytest.fixture
def row():
    """`row(number, **values)`: a row with the widest cells that occur."""

    def make(number: int = 0, **values) -> Row:
        common = {
            "id": f"bottleneck.second-correction-limit-as-{number:05}",
            "title": "T",
            "kind": "construction",
            "verdict": "undecided",
            "scope": Scope(
                8, 400, 99_999, counts=Counts(99_999), text="all 99 999 small instances"
            ),
            "drawn": Counts(99_999),
            "swept": Counts(1_234_000),
            "tight_swept": Counts(567),
            "relations": (RelationFacts(ratio=0.87654, asserted=1.0),),
            "seconds": 123.4,
            "mutants": Mutants(12, 12),
        }
        return Row(**{**common, **values})

    return make


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of 100 columns and 40 lines that can redraw."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")
    return Terminal()
