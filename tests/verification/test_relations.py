"""Claims with strict relations, disjunctions, integers and conditions come to the right verdict."""

import json

import pytest
import torch

from rankcheck import any_of, eq, leq, lt, there_is
from rankcheck.catalogue.kept import digest
from rankcheck.claims.claim import ClaimError
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples import replay
from rankcheck.counterexamples.certificate import CertificateError
from rankcheck.hunt import hunt
from rankcheck.report.tex import paragraph
from rankcheck.verification.check import verify_claim
from rankcheck.verification.ledger import Row


def counts(x):
    return (x > 0).sum(-1)


def signed(x, bound, *, exhaustive=True):
    """There is a sign s with `bound` ≤ s·x."""
    both = torch.stack((x, -x), -1)
    return there_is(leq(bound[..., None], both), dim=-1, exhaustive=exhaustive)


TRUE = {
    "a tautology": lambda x: any_of(leq(x, 0), leq(-x, 0)),
    "one of three signs": lambda x: any_of(lt(x, 0), eq(x, 0), lt(0, x)),
    "away from a gap": lambda x: any_of(leq(x, 1), leq(2, x), where=(x <= 1) | (x >= 2)),
    "a part is vacuous": lambda x: any_of(leq(x, -1, where=x.abs() > 1), leq(1, x)),
    "there is a sign": lambda x: signed(x, x.abs()),
    "strict, at its limit": lambda x: lt(x * x / (1 + x * x), 1),
    "strict, nearer than floats": lambda x: lt((1000 * x * x) ** 9, (1000 * x * x) ** 9 + 1),
    "strict, though floats underflow": lambda x: lt(-torch.exp(-1000 * x.abs() - 700), 0),
    "strict, by a tiny share": lambda x: lt(x * x, x * x + 1e-30 * (1 + x * x)),
    "strict between integers": lambda x: lt(counts(x[..., None]), 2),
    "below what a tensor holds": lambda x: leq(counts(x[..., None]) + (2**63 - 2), 2**63),
}
FALSE = {
    "a gap": lambda x: any_of(leq(x, 1), leq(-x, -2)),
    "a gap of one point": lambda x: any_of(lt(x, 1), lt(1, x)),
    "two values": lambda x: any_of(eq(x * x, 1), eq(x, 0), leq(2, x.abs())),
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
HUNTED = {"a part is vacuous", "strict, nearer than floats"}
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


def test_no_list_of_some_witnesses_is_a_refutation(declare, scalars, verify):
    claim = declare(
        lambda x: signed(x, x.abs() + (x > 1), exhaustive=False), scalars(), kind="conjecture"
    )
    row = verify(claim)
    assert row.verdict == "undecided"
    assert "there may be others" in row.messages[0]


def test_equal_irrational_sides_are_neither_proved_nor_excused(declare, scalars, verify):
    def root(x):
        y = 2 + x * x
        return lt(y.sqrt() * (y + 1).sqrt(), (y * (y + 1)).sqrt())

    claim = declare(root, scalars(), kind="conjecture")
    row = verify(claim)
    assert row.verdict == "undecided"
    assert " >= rhs " in row.messages[0]


@pytest.fixture
def gap(declare, scalars, verify, tmp_path):
    """A refuted disjunction: its claim, its row, and the path of its certificate."""

    def body(x):
        return any_of(leq(x, 1, label="small"), leq(-x * 3 / 2, -3), label="either")

    claim = declare(body, scalars(), kind="conjecture")
    row = verify(claim)
    return claim, row, tmp_path / "t.made-up.json"


def test_a_disjunction_is_told_with_all_its_sides(gap):
    _, row, path = gap
    first, exactly = row.messages[0].split("\n")[0], row.messages[0].split("exactly: ")[1]
    for place, figures in (
        (first, ("small: lhs 1.5 > rhs 1 by 0.5", "lhs -2.25 > rhs -3 by 0.75")),
        (exactly, ("lhs = 3/2, rhs = 1", "lhs = -9/4, rhs = -3")),
        (row._repr_html_(), ("<b>-9/4</b>", "<b>3/2</b>", "fails too")),
        (paragraph(certificates.read(path)), (r"\mathrm{lhs} &= 3/2", "one was to hold")),
    ):
        assert all(figure in place for figure in figures), place
    small = certificates.read(path)["smallest"]
    parts = [small, *small["also"]]
    assert [(part["lhs"], part["rhs"]) for part in parts] == [("-9/4", "-3"), ("3/2", "1")]
    assert Row.from_json(json.loads(json.dumps(row.to_json()))).counterexample == row.counterexample
    assert row.counterexample.also[0].lhs == "3/2"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda small: small.pop("also"), "says also None"),
        (lambda small: small["also"][0].update(lhs="7"), "says also"),
        (lambda small: small["also"].append(small["also"][0]), "says also"),
        (lambda small: small.update(also=[3]), "is an object"),
        (lambda small: small["also"][0].update(kind="gt"), "one of leq, lt, eq"),
        (lambda small: small.update(kind="gt"), "one of leq, lt, eq"),
    ],
)
def test_a_changed_disjunction_is_not_believed(gap, change, said):
    claim, _, path = gap
    data = json.loads(path.read_text())
    change(data["smallest"])
    del data["sha256"]
    path.write_text(json.dumps({**data, "sha256": digest(data)}))
    with pytest.raises(CertificateError, match=said):
        replay(path, claim=claim)


def test_equal_sides_are_told_without_a_difference(declare, scalars, verify, tmp_path):
    claim = declare(FALSE["strict, and equal"], scalars(), kind="conjecture")
    row = verify(claim)
    assert "lhs 0 >= rhs 0 (certified" in row.messages[0]
    assert "at worst" not in row.messages[0]
    text = paragraph(certificates.read(tmp_path / "t.made-up.json"))
    assert "so that the first is not smaller than the second, against the statement." in text


WIDE = {
    "scale": lambda x: leq(x, 7, scale=x * 0 + 1e20),
    "the scale of an identity": lambda x: eq(x, 2 * x, scale=x * 0 + 1e20),
    "error": lambda x: leq(x, 7, error=9),
    "terms": lambda x: leq(x, 7, terms=2**60),
    "a disjunction": lambda x: any_of(leq(x, 7, error=9), leq(x, 6, error=9)),
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
