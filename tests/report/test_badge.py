"""The badge of a ledger: what it says."""

import pytest

from rankcheck.report.badge import badge
from rankcheck.verification.ledger import Row

BADGES = [
    ((), "no claims", "lightgrey"),
    (("holds",), "1 claim as expected", "brightgreen"),
    (("holds",) * 252, "252 claims as expected", "brightgreen"),
    (("holds", "failed"), "1 of 2 claims not as expected", "red"),
    (("holds", "failed", "refuted", "undecided"), "3 of 4 claims not as expected", "red"),
    (("holds", "undecided"), "1 of 2 claims undecided", "yellow"),
]


@pytest.mark.parametrize(("verdicts", "message", "color"), BADGES)
def test_what_a_badge_says(verdicts, message, color):
    rows = [Row(id=f"t.n{n}", title="T", kind="bound", verdict=v) for n, v in enumerate(verdicts)]
    assert badge(rows) == {
        "schemaVersion": 1,
        "label": "rankcheck",
        "message": message,
        "color": color,
    }
