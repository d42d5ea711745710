"""`verify_claim` on claims that are each wrong in one way."""

import pytest

from rankcheck import eq, leq
from rankcheck.claims.claim import Need
from rankcheck.counterexamples import certificate as certificates
from rankcheck.instances.matrices import matrices
from rankcheck.instances.source import instances
from rankcheck.linalg import frobenius_squared, nuclear_norm
from rankcheck.verification.check import verify_claim
from rankcheck.verification.profiles import Profile, Settings


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
    assert row.tight_swept.evaluated > 0
    assert (row.tight, row.tight_ratio) == ("ones()", pytest.approx(1))
    assert row.deviation is None
    assert row.expected
    assert row.seconds > 0


def test_a_false_claim_is_refuted_with_a_certificate(declare, verify, tmp_path):
    row = verify(declare(lambda x: leq(x, 7.0), squares()))
    assert row.verdict == "refuted"
    assert not row.expected
    assert row.certificate == str(tmp_path / "t.made-up.json")
    [message] = row.messages
    assert message.startswith("t.made-up is false: lhs 8 > rhs 7 by 1 (certified, 128-bit balls)")
    claim = declare(lambda x: leq(x, 7.0), squares())
    assert certificates.read(tmp_path / "t.made-up.json")["claim"] == claim.id


def test_the_deviation_of_an_identity_is_a_number(declare, verify):
    row = verify(declare(lambda x: eq(x / 3 * 3, x), squares()))
    assert row.verdict == "holds"
    assert 0 < row.deviation < 1e-15
    assert row.best_ratio is None


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
    assert "is undecided: " in row.messages[0]
    assert "a side has no value in balls" in row.messages[0]


def test_a_claim_whose_derived_mutant_survives_fails(declare, verify):
    loose = lambda x: leq(x, 20.0, label="far")  # noqa: E731
    row = verify(declare(loose, squares()))
    assert row.verdict == "failed"
    assert row.messages[0].startswith("t.made-up: the mutant 'bound 2 % stronger (far)' survives;")
    assert row.mutants.survivors == ("bound 2 % stronger (far)",)
    assert verify(declare(loose, squares(), loose="a safety factor")).verdict == "holds"
    assert verify(declare(loose, squares(), loose={"far": "so"})).verdict == "holds"
    assert verify(declare(loose, squares(), loose={"near": "so"})).verdict == "failed"


def test_a_named_mutant_that_survives_fails(declare, verify):
    row = verify(declare(amgm, squares(), tight=ones(), mutants={"weaker": {"factor": 1}}))
    assert row.verdict == "failed"
    [message] = row.messages
    assert message == "t.made-up: the mutant 'weaker' survives; its best ratio is 0.5, on x = 1"


def test_a_mutant_that_is_not_a_number_is_not_killed(declare, verify):
    def body(x, *, shift=1):
        return leq(2 * x.abs() * (shift / shift if shift else x / (x - x)), x * x + 1)

    few = Profile("few", drawn=2, batches=1, size=4, single=4, scope_shapes=0)
    row = verify(declare(body, squares(), loose="so", mutants={"nan": {"shift": 0}}), few)
    assert row.messages[0].startswith("t.made-up: the mutant 'nan' survives")


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
    assert "'x >= 0' does not break the claim; its best ratio is 0.9" in row.messages[0]


def test_a_tight_family_has_to_be_tight(declare, verify):
    row = verify(declare(amgm, squares(), tight=squares(low=2.0)))
    assert row.verdict == "failed"
    assert "not tight on squares(low=2.0): the closest instance is 0.2 of" in row.messages[0]
    row = verify(declare(amgm, squares(), tight=nothing_fits()))
    assert "none of its instances satisfied the hypotheses" in row.messages[0]


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


def test_every_instance_is_told_of(declare, tmp_path):
    """A display of the progress adds these up."""
    told: list[int] = []
    small = Profile("small", drawn=20, batches=8, size=64, single=12)
    claim = declare(amgm, squares(), tight=ones())
    row = verify_claim(claim, Settings(small, folder=tmp_path), progress=told.append)
    searched = (row.scope.counts, row.tight_swept, row.swept, row.drawn)
    assert all(counts.total > 0 for counts in searched)
    assert sum(told) == sum(counts.total for counts in searched)


def test_a_row_tells_what_was_asserted_and_reached(declare, verify):
    def body(A):
        n = A.shape[-1]
        return (
            leq(A.abs().amax((-2, -1)), 8.0, label="all"),
            leq(A[..., 0, 0], 8.0, where=A[..., 0, 0] > 0, label="some"),
        )[: 1 + (n > 0)]

    row = verify(
        declare(body, matrices(), loose="so", reach=lambda A: {"columns": A.shape[-1]}),
    )
    everything, some = row.relations
    assert (everything.label, everything.asserted) == ("all", 1.0)
    assert 0.05 < some.asserted < 0.6
    assert row.asserted == some.asserted
    assert row.seldom_asserted(0.0) == []
    [seldom] = row.seldom_asserted(0.99)
    assert seldom.startswith("some is asserted on ")
    assert {1, 2, 3} <= set(row.reached["columns"])
    assert len(row.reached["rank of A"]) >= 3
    assert sum(row.reached["columns"].values()) == row.swept.evaluated


def test_what_ended_a_search_is_no_instance_that_was_not_asserted(declare, verify):
    """Without where=, a relation is asserted on all that was looked at; a refuted row says more."""

    def body(A):
        return leq(nuclear_norm(A), 1.7 * frobenius_squared(A).sqrt())

    family = matrices(rows=(3, 3), columns=(3, 3))
    refuted = verify(declare(body, family, kind="conjecture"))
    assert (refuted.verdict, refuted.relations) == ("refuted", ())
    assert 1 < refuted.best_ratio == refuted.counterexample.ratio < 1.02
    undecided = verify(declare(body, family, kind="conjecture", no_ball="for the test"))
    assert undecided.verdict == "undecided"
    assert {facts.asserted for facts in undecided.relations} <= {1.0}
    assert undecided.swept.evaluated > 0


def test_a_guard_that_nothing_measures_has_an_unknown_strength(declare, verify):
    def body(x, *, by=1):
        return leq(by * x, x)

    bare = verify(declare(body, squares(low=0.5), kind="conjecture"))
    assert (bare.verdict, bare.unknown_strength) == ("guarded", True)
    measured = declare(
        body, squares(low=0.5), kind="conjecture", mutants={"twice": {"by": 2}}, tight=ones()
    )
    assert not verify(measured).unknown_strength


def test_without_instances_nothing_holds(declare, verify):
    row = verify(declare(lambda x: leq(x, 9.0), nothing_fits(), loose="so"))
    assert row.verdict == "failed"
    assert "no instance satisfied the hypotheses" in row.messages[0]
    assert row.swept.rejected == 8 * 64
    assert row.swept.reasons == {"x is larger than it can be": 8 * 64}


def test_a_hypothesis_that_never_holds_is_vacuous(declare, verify):
    def body(x):
        return leq(x, 8.0), leq(x + 100, x, where=x > 8, label="beyond")

    for kind in ("bound", "conjecture"):
        row = verify(declare(body, squares(), kind=kind, loose="so"))
        assert row.verdict == "failed"
        assert row.vacuous == ("beyond",)
        assert row.messages == ("t.made-up: beyond is asserted on 0 of 532 instances",)


def test_a_hypothesis_that_hardly_ever_holds_is_vacuous(declare, verify):
    def body(x):
        return leq(x, 9.0, where=(x > 7.51) & (x < 7.53))

    many = Profile("many", drawn=5, batches=4, size=512, single=12)
    row = verify(declare(body, squares(), kind="conjecture"), many)
    assert row.relations[0].asserted > 0
    assert (row.verdict, row.vacuous) == ("failed", ("relation 1",))
    assert row.messages[0].endswith(f" of {row.counts.evaluated} instances")


def test_a_refuted_claim_needs_its_certificate(declare, verify, tmp_path):
    path = tmp_path / "claims.py"
    path.touch()
    body = lambda x: leq(x, 7.0)  # noqa: E731
    claim = declare(body, squares(), kind="refuted", file=path)
    row = verify(claim)
    assert row.verdict == "failed"
    assert "no certificate at" in row.messages[0]

    from rankcheck.counterexamples import folder_of, from_choices

    certificates.write(folder_of(claim), from_choices(claim, [8]))
    assert verify(claim).verdict == "refuted"
    # Another claim under this id.
    other = declare(lambda x: leq(x, 7.5), squares(), kind="refuted", file=path)
    row = verify(other)
    assert row.verdict == "failed"
    assert "has changed since its counterexample was certified" in row.messages[0]


def test_a_cited_statement_is_a_row_with_its_reason(declare, verify):
    row = verify(declare(lambda: None, None, kind="cited", reason="too long"))
    assert (row.verdict, row.reason, row.loose) == ("cited", "too long", None)
