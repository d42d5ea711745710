"""Statements of benchmarks/statements: easy ones never end wrongly, and traps catch nobody."""

from pathlib import Path

import pytest

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.errors import InputError
from rankcheck.hunt import hunt
from rankcheck.verification.check import verify_claim
from rankcheck.verification.profiles import PROFILES, Settings

STATEMENTS = Path(__file__).parents[2] / "benchmarks" / "statements"
RIGHT = {"true": {"guarded", "undecided"}, "false": {"refuted", "undecided"}}
#: How many may be left undecided: one near the edge of a rank, an assignment, a QR of no full rank.
OPEN = {"true": 1, "false": 2}
#: How each trap has to end, under `verify` and under `hunt`, which refuses some as input.
TRAPS = {
    "trap.norm-of-a-batch": ("failed", None),
    "trap.mean-of-a-batch": ("failed", None),
    "trap.scaled-by-a-batch": ("failed", None),
    "trap.inverse": ("refuted", "refuted"),
    # A hunt comes to matrices that are invertible but not in floats, where the body raises.
    "trap.inverse-true": ("guarded", "undecided"),
    "trap.eigenvalues": ("refuted", "refuted"),
    "trap.eigenvalues-true": ("guarded", "survived"),
    "trap.no-ball-form": ("undecided", "undecided"),
    "trap.no-ball-form-true": ("guarded", "survived"),
    "trap.wrong-floats": ("undecided", "undecided"),
    "trap.slightly-wrong-floats": ("undecided", "undecided"),
    # A sweep meets it at about every second seed.
    "trap.equality-set": ("guarded or refuted", "refuted"),
}


def statements(name):
    return load(select([str(STATEMENTS / name)]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", RIGHT)
def test_easy_statements_never_end_wrongly(kind, tmp_path):
    settings = Settings(PROFILES["quick"], folder=tmp_path, shrink=0.01)
    claims = statements(f"easy_{kind}.py")
    verdicts = {claim.id: verify_claim(claim, settings).verdict for claim in claims}
    assert len(verdicts) >= 41
    assert {name for name, verdict in verdicts.items() if verdict not in RIGHT[kind]} == set()
    assert list(verdicts.values()).count("undecided") <= OPEN[kind], verdicts


@pytest.mark.slow
def test_traps_catch_no_verification(tmp_path):
    settings = Settings(PROFILES["quick"], folder=tmp_path, shrink=0.01)
    verdicts = {claim.id: verify_claim(claim, settings).verdict for claim in statements("traps.py")}
    assert verdicts.keys() == TRAPS.keys()
    assert {
        n for n, verdict in verdicts.items() if verdict not in TRAPS[n][0].split(" or ")
    } == set()


@pytest.mark.nightly
def test_traps_catch_no_hunt(tmp_path):
    verdicts: dict[str, str | None] = {}
    for claim in statements("traps.py"):
        try:
            verdicts[claim.id] = hunt(claim, 10.0, 0, folder=tmp_path, shrink=0.01).verdict
        except InputError:
            verdicts[claim.id] = None
    assert verdicts == {name: verdict for name, (_, verdict) in TRAPS.items()}
