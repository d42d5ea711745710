"""Strict relations, minima for "or", integers and conditions come to the right verdict."""

import pytest
import torch

from rankcheck import eq, leq, lt
from rankcheck.claims.claim import ClaimError
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.hunt import hunt
from rankcheck.engine.verification.check import verify_claim


def counts(x):
    return (x > 0).sum(-1)


def gap(x):
    """x ≤ 1 or x ≥ 2, where it is not positive."""
    return torch.minimum(x - 1, 2 - x)


def signed(x, bound):
    """There is a sign s with `bound` ≤ s·x."""
    return leq(bound, torch.stack((x, -x), -1).amax(-1))


TRUE = {
    "a tautology": lambda x: leq(torch.minimum(x, -x), 0),
    "away from a gap": lambda x: leq(gap(x), 0, where=(x <= 1) | (x >= 2)),
    "there is a sign": lambda x: signed(x, x.abs()),
    "strict, at its limit": lambda x: lt(x * x / (1 + x * x), 1),
    "strict, nearer than floats": lambda x: lt((1000 * x * x) ** 9, (1000 * x * x) ** 9 + 1),
    "strict, though floats underflow": lambda x: lt(-torch.exp(-1000 * x.abs() - 700), 0),
    "strict, by a tiny share": lambda x: lt(x * x, x * x + 1e-30 * (1 + x * x)),
    "strict between integers": lambda x: lt(counts(x[..., None]), 2),
    "below what a tensor holds": lambda x: leq(counts(x[..., None]) + (2**63 - 2), 2**63),
}
FALSE = {
    "a gap": lambda x: leq(gap(x), 0),
    "a gap of one point": lambda x: lt(torch.minimum(x - 1, 1 - x), 0),
    "two values": lambda x: leq(torch.stack(((x * x - 1).abs(), x.abs(), 2 - x), -1).amin(-1), 0),
    "there is no such sign": lambda x: signed(x, x.abs() + (x > 1)),
    "strict, and equal": lambda x: lt(x, x + 0),
    "strict, and equal at zero": lambda x: lt(-x * x, 0),
    "strict, and wrong": lambda x: lt(x, 7),
    "strict, and equal integers": lambda x: lt(counts(x[..., None]), 1),
    "a difference that wraps": lambda x: leq(torch.full_like(counts(x[..., None]), 2**63 - 1), -2),
    "narrow integers": lambda x: leq((x > 0).to(torch.uint8), (x > 1).to(torch.uint8)),
    "truth values": lambda x: eq(x > 0, x > 1),
    "a wide integer": lambda x: leq(2**63, counts(x[..., None]) + (2**63 - 2)),
}


#: Of these a hunt says the same: each has another kind of sides.
HUNTED = {"away from a gap", "strict, nearer than floats"}
HUNTED |= {"a gap of one point", "there is no such sign", "a difference that wraps"}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_guarded(declare, scalars, verify, tmp_path, name):
    claim = declare(TRUE[name], scalars(), kind="conjecture")
    row = verify(claim)
    assert (row.verdict, row.messages) == ("guarded", ())
    if name in HUNTED:
        found = hunt(claim, None, rounds=1, workers=1, folder=tmp_path)
        assert found.verdict == "survived", found.message


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_refuted_and_replayed(declare, scalars, verify, tmp_path, name):
    claim = declare(FALSE[name], scalars(), kind="conjecture")
    row = verify(claim)
    assert row.verdict == "refuted", row.messages
    assert replay(row.certificate, claim=claim).refuted
    if name in HUNTED:
        found = hunt(claim, None, rounds=3, workers=1, folder=tmp_path / "hunted")
        assert found.verdict == "refuted", found.message
        assert replay(found.certificate, claim=claim).refuted


def test_equal_irrational_sides_are_neither_proved_nor_excused(declare, scalars, verify):
    def root(x):
        y = 2 + x * x
        return lt(y.sqrt() * (y + 1).sqrt(), (y * (y + 1)).sqrt())

    claim = declare(root, scalars(), kind="conjecture")
    row = verify(claim)
    assert row.verdict == "undecided"


WIDE = {
    "scale": lambda x: leq(x, 7, scale=x * 0 + 1e20),
    "the scale of an identity": lambda x: eq(x, 2 * x, scale=x * 0 + 1e20),
    "error": lambda x: leq(x, 7, error=9),
    "terms": lambda x: leq(x, 7, terms=2**60),
    "one of two": lambda x: (leq(x, 9), leq(x, 7, error=9)),
}
HONEST = {
    "a square": lambda x: eq((x + 1 / 3) ** 2 - x * x - 2 * x / 3, 1 / 9, scale=(x.abs() + 1) ** 2),
    "noise": lambda x: eq(((x + 1 / 3) - x) * 3 - 1, 0, scale=x.abs() + 1),
    "noise without balls": lambda x: eq((x.exp().log() - x) ** 3, 0, scale=x.abs() + 1),
    "zeros": lambda x: eq(x - x, 0, scale=x * 0 + 1e20),
    "a narrow band": lambda x: leq(x, 9, error=1e-3),
}


@pytest.mark.parametrize("no_ball", [None, "for a test"])
@pytest.mark.parametrize("name", WIDE)
def test_a_tolerance_that_hides_the_sides_is_said(
    declare, scalars, verify, tmp_path, name, no_ball
):
    claim = declare(WIDE[name], scalars(), kind="conjecture", no_ball=no_ball)
    which = "relation 2" if name == "one of two" else "relation 1"
    hides = f"the tolerance of {which} hides its sides on 100%"
    row = verify(claim)
    assert (row.verdict, len(row.messages)) == ("failed", 1)
    assert hides in row.messages[0]
    if name == "one of two":
        found = hunt(claim, None, rounds=1, workers=1, folder=tmp_path)
        assert found.verdict == "undecided"
        assert hides in found.message


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_tolerance_is_none_of_these(declare, scalars, verify, name):
    no_ball = "for a test" if "without balls" in name else None
    claim = declare(HONEST[name], scalars(), kind="conjecture", no_ball=no_ball)
    row = verify(claim)
    assert (row.verdict, row.messages) == ("guarded", ())


def test_asking_for_the_truth_of_a_relation_is_a_malformed_claim(declare, scalars):
    def body(x):
        both = leq(x, 0), leq(-x, 0)
        return both[0] or both[1]  # type: ignore[unreachable]

    claim = declare(body, scalars(), kind="conjecture")
    for start in (lambda: verify_claim(claim), lambda: hunt(claim, None, rounds=1)):
        with pytest.raises(ClaimError, match=r"t\.made-up: at test_relations\.py:\d+, a relation"):
            start()
