"""Easy statements of benchmarks/statements, true and false, never end wrongly."""

from pathlib import Path

import pytest

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.verification.check import verify_claim
from rankcheck.verification.profiles import PROFILES, Settings

STATEMENTS = Path(__file__).parents[2] / "benchmarks" / "statements"
RIGHT = {"true": {"guarded", "undecided"}, "false": {"refuted", "undecided"}}
#: How many may be left undecided: one near the edge of a rank, an assignment, a QR of no full rank.
OPEN = {"true": 1, "false": 2}


@pytest.mark.slow
@pytest.mark.parametrize("kind", RIGHT)
def test_easy_statements_never_end_wrongly(kind, tmp_path):
    claims = load(select([str(STATEMENTS / f"easy_{kind}.py")]))
    settings = Settings(PROFILES["quick"], folder=tmp_path, shrink=0.01)
    verdicts = {claim.id: verify_claim(claim, settings).verdict for claim in claims}
    assert len(verdicts) >= 41
    assert {name for name, verdict in verdicts.items() if verdict not in RIGHT[kind]} == set()
    assert list(verdicts.values()).count("undecided") <= OPEN[kind], verdicts
