"""Statements of benchmarks/statements: easy ones never end wrongly, and traps catch nobody."""

from pathlib import Path

import pytest

from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import PROFILES, Settings
from rankcheck.errors import InputError

STATEMENTS = Path(__file__).parents[2] / "benchmarks" / "statements"
#: How the easy statements have to end.
RIGHT = {"true": "guarded", "false": "refuted"}
#: Those that may be undecided, and what the message names. The first two are near the edge of a
#: rank.
OPEN = {
    "easy-true.pseudo-determinant": "rank",
    "easy-true.schur-product": "needs scale=",
    "easy-false.jacrev": "no ball form: the transforms of torch.func",
    "easy-false.qr": "the QR decomposition is not unique",
    "easy-false.vmap": "no ball form: the transforms of torch.func",
}
#: How each trap has to end, under `verify` and under `hunt`, which refuses some as input.
TRAPS = {
    "trap.norm": ("guarded", "survived"),
    "trap.mean": ("guarded", "survived"),
    "trap.scaled": ("guarded", "survived"),
    "trap.inverse": ("refuted", "refuted"),
    # A hunt comes to matrices that are invertible but not in floats, where the body raises.
    "trap.inverse-true": ("guarded", "undecided"),
    "trap.eigenvalues": ("refuted", "refuted"),
    "trap.eigenvalues-true": ("guarded", "survived"),
    "trap.no-ball-form": ("undecided", "undecided"),
    "trap.no-ball-form-true": ("guarded", "survived"),
    # Balls decide both. A hunt has them decide a few of the instances alone, and of the first each
    # one is violated in floats, so that it has asserted nothing.
    "trap.wrong-floats": ("guarded", "undecided"),
    "trap.slightly-wrong-floats": ("guarded", "survived"),
    # A sweep meets it at about every second seed.
    "trap.equality-set": ("guarded or refuted", "refuted"),
}


def statements(name):
    return load(select([str(STATEMENTS / name)]))


@pytest.mark.slow
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", RIGHT)
def test_easy_statements_end_rightly_or_say_what_is_missing(kind, every, tmp_path):
    settings = Settings(PROFILES["quick"], folder=tmp_path, shrink=0.01)
    chosen = statements(f"easy_{kind}.py")[::every]
    rows = {claim.id: verify_claim(claim, settings) for claim in chosen}
    others = {name: row for name, row in rows.items() if row.verdict != RIGHT[kind]}

    assert {row.verdict for row in others.values()} <= {"undecided"}
    assert [name for name in others if name not in OPEN] == []
    assert all(OPEN[name] in "\n".join(row.messages) for name, row in others.items())


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
            rounds = 2 if claim.id == "trap.inverse-true" else 1
            found = hunt(claim, None, rounds=rounds, folder=tmp_path, shrink=0.01)
            verdicts[claim.id] = found.verdict
        except InputError:
            verdicts[claim.id] = None
    assert verdicts == {name: verdict for name, (_, verdict) in TRAPS.items()}
