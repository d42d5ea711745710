"""`verify_claim` on claims that are each wrong in one way."""

import pytest

from rankcheck import leq
from rankcheck.claims.catalogue.certificates import read
from rankcheck.claims.claim import Need
from rankcheck.engine.counterexamples import certificate as certificates
from rankcheck.engine.verification.profiles import Profile
from rankcheck.theory.instances.source import instances


@instances
def squares(source, *, low=-8.0, high=8.0):
    return source.tensor(low=low, high=high)


@instances
def ones(source):
    return source.tensor() * 0 + 1


@instances
def nothing_fits(source):
    x = source.tensor()
    source.require(x > 9, "x is larger than it can be")
    return x


def amgm(x, *, factor=2):
    """Sharp at x = 1."""
    return leq(factor * x.abs(), x * x + 1)


def test_a_true_tight_claim_holds(declare, verify):
    row = verify(declare(amgm, squares(), tight=ones(), mutants={"2.1": {"factor": 2.1}}))
    assert row.verdict == "holds"
    assert row.messages == ()
    assert row.mutants.killed == row.mutants.total == 2
    assert row.best_ratio == pytest.approx(1)
    assert row.swept.evaluated == 8 * 64
    assert row.drawn.evaluated == 20
    assert 0 < row.asserted <= 1
    assert row.tight_swept.evaluated > 0
    assert (row.tight, row.tight_ratio) == ("ones()", pytest.approx(1))
    assert row.deviation is None
    assert row.expected


def test_a_false_claim_is_refuted_with_a_certificate(declare, verify, tmp_path):
    row = verify(declare(lambda x: leq(x, 7.0), squares()))
    assert row.verdict == "refuted"
    assert not row.expected
    assert row.certificate == str(tmp_path / "t.made-up.json")
    assert (row.counterexample.lhs, row.counterexample.rhs) == ("8", "7")
    claim = declare(lambda x: leq(x, 7.0), squares())
    assert read(tmp_path / "t.made-up.json")["claim"] == claim.id


@pytest.mark.parametrize(("most", "verdict"), [(7.0, "refuted"), (9.0, "guarded")])
def test_a_conjecture_is_refuted_or_guarded(declare, verify, most, verdict):
    row = verify(declare(lambda x: leq(x, most), squares(), kind="conjecture"))
    assert (row.verdict, row.expected) == (verdict, verdict == "guarded")
    assert row.mutants.total == 0


def test_a_violation_on_the_tight_family_refutes_the_claim(declare, verify):
    row = verify(declare(lambda x: leq(x, 0.5), squares(high=0.5), tight=ones()))
    assert row.verdict == "refuted"


def test_a_nan_is_undecided(declare, verify):
    row = verify(declare(lambda x: leq(x - x, x / (x - x)), squares()))
    assert row.verdict == "undecided"
    assert not row.expected
    assert row.certificate is None


def test_a_claim_whose_derived_mutant_survives_fails(declare, verify):
    loose = lambda x: leq(x, 20.0, label="far")  # noqa: E731
    row = verify(declare(loose, squares()))
    assert row.verdict == "failed"
    assert row.mutants.survivors == ("bound 2 % stronger (far)",)
    assert verify(declare(loose, squares(), loose="a safety factor")).verdict == "holds"
    assert verify(declare(loose, squares(), loose={"far": "so"})).verdict == "holds"
    assert verify(declare(loose, squares(), loose={"near": "so"})).verdict == "failed"


def test_a_named_mutant_that_survives_fails(declare, verify):
    row = verify(declare(amgm, squares(), tight=ones(), mutants={"weaker": {"factor": 1}}))
    assert row.verdict == "failed"
    assert row.mutants.survivors == ("weaker",)


def test_a_mutant_that_is_not_a_number_is_not_killed(declare, verify):
    def body(x, *, shift=1):
        return leq(2 * x.abs() * (shift / shift if shift else x / (x - x)), x * x + 1)

    few = Profile("few", drawn=2, batches=1, size=4, single=4, scope_shapes=0)
    row = verify(declare(body, squares(), loose="so", mutants={"nan": {"shift": 0}}), few)
    assert row.mutants.survivors == ("nan",)


def test_a_control_has_to_break_the_claim(declare, verify):
    def body(x):
        return leq(x * x, 8 * x)

    needs = {"factor at most 2": Need(squares(), {"factor": 3})}
    assert verify(declare(amgm, squares(), tight=ones(), needs=needs)).verdict == "holds"
    positive = squares(low=0.0)
    row = verify(declare(body, positive, needs={"x >= 0": Need(squares())}))
    assert row.verdict == "holds"
    assert row.needs == ("x >= 0",)
    row = verify(declare(body, positive, needs={"x >= 0": Need(squares(low=1.0))}))
    assert row.verdict == "failed"
    assert (row.needs, row.unbroken) == ((), ("x >= 0",))


def test_a_tight_family_has_to_be_tight(declare, verify):
    row = verify(declare(amgm, squares(), tight=squares(low=2.0)))
    assert row.verdict == "failed"
    assert verify(declare(amgm, squares(), tight=nothing_fits())).verdict == "failed"


def test_each_relation_has_to_be_tight(declare, verify):
    """One sharp relation does not make up for another that is not."""

    def body(x):
        return leq(x, x.abs(), label="sharp"), leq(x, 2 * x.abs() + 1, label="blunt")

    row = verify(declare(body, squares(), tight=squares()))
    assert (row.verdict, row.tight_ratio) == ("failed", 1)
    assert any("blunt is not tight on squares()" in message for message in row.messages)
    assert not any("'sharp' is not tight" in message for message in row.messages)
    assert verify(declare(body, squares(), tight=squares(), loose={"blunt": "so"})).expected


@instances
def seldom_sharp(source):
    """One shape of eight is sharp, and it is not among the first that are drawn."""
    return source.tensor(low=1.0) * 0 + 1 + (source.integer(0, 7) - 2) ** 2


def test_a_tight_family_is_swept_again_until_it_is_tight(declare, verify):
    row = verify(declare(amgm, squares(), tight=seldom_sharp()))
    assert row.verdict == "holds"
    assert row.tight_swept.evaluated > 2 * 64
    once = verify(declare(amgm, squares(), tight=ones()))
    assert once.tight_swept.evaluated == 2 * 64


def test_a_guard_that_nothing_measures_has_an_unknown_strength(declare, verify):
    def body(x, *, by=1):
        return leq(by * x, x)

    bare = verify(declare(body, squares(low=0.5), kind="conjecture"))
    assert (bare.verdict, bare.weakness) == ("guarded", "it has no control")
    measured = declare(
        body, squares(low=0.5), kind="conjecture", mutants={"twice": {"by": 2}}, tight=ones()
    )
    assert not verify(measured).weakness


def test_without_instances_nothing_holds(declare, verify):
    row = verify(declare(lambda x: leq(x, 9.0), nothing_fits(), loose="so"))
    assert row.verdict == "failed"
    assert row.swept.rejected == 8 * 64
    assert row.swept.reasons == {"x is larger than it can be": 8 * 64}


def test_a_hypothesis_that_never_holds_is_vacuous(declare, verify):
    def body(x):
        return leq(x, 8.0), leq(x + 100, x, where=x > 8, label="beyond")

    for kind in ("bound", "conjecture"):
        row = verify(declare(body, squares(), kind=kind, loose="so"))
        assert row.verdict == "failed"
        assert row.vacuous == ("beyond",)


def test_a_hypothesis_that_hardly_ever_holds_is_vacuous(declare, verify):
    def body(x):
        return leq(x, 9.0, where=(x > 7.51) & (x < 7.53))

    many = Profile("many", drawn=5, batches=4, size=512, single=12)
    row = verify(declare(body, squares(), kind="conjecture"), many)
    assert row.relations[0].asserted > 0
    assert (row.verdict, row.vacuous) == ("failed", ("relation 1",))


def test_a_refuted_claim_needs_its_certificate(declare, verify, tmp_path):
    path = tmp_path / "claims.py"
    path.touch()
    body = lambda x: leq(x, 7.0)  # noqa: E731
    claim = declare(body, squares(), kind="refuted", file=path)
    row = verify(claim)
    assert row.verdict == "failed"

    from rankcheck.engine.counterexamples.certificate import folder_of
    from rankcheck.engine.counterexamples.given import from_choices

    certificates.write(folder_of(claim), from_choices(claim, [8]))
    assert verify(claim).verdict == "refuted"
    # Another claim under this id.
    other = declare(lambda x: leq(x, 7.5), squares(), kind="refuted", file=path)
    row = verify(other)
    assert row.verdict == "failed"


def test_a_cited_statement_is_a_row_with_its_reason(declare, verify):
    row = verify(declare(lambda: None, None, kind="cited", reason="too long"))
    assert (row.verdict, row.reason, row.loose) == ("cited", "too long", None)
