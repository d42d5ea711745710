"""Exports for Coq: what stands in them, and what coqc accepts and refuses."""

import re

import pytest

from .made import STORED, coqc, exported, needs_coq, stored

#: Of rationals, with ranks; of reals with roots, logarithms, and exact values of these.
QUICK = (
    "rank.layer-energy-as-printed",
    "bottleneck.composition-as-printed",
    "bottleneck.weights-near-projections-proof",
)
#: What the real numbers of Coq's library rest on, and what coq-interval takes from there.
AXIOMS = {
    "ClassicalDedekindReals.sig_not_dec",
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
    "Classical_Prop.classic",
}
RATIONAL = "rank.cross-example-as-printed"
REAL = "bottleneck.composition-as-printed"


def test_the_file_has_the_statement_the_instance_the_sides_and_the_theorem():
    text = exported(RATIONAL, "coq")
    assert r"which maps $x = (x_0, x_1)$ to $(x_0, \operatorname{sign}(x_1)|x_0|)$" in " ".join(
        text.split()
    )
    assert "Definition x_2 : Q := (1 # 4)." in text
    assert "Definition lhs : Q := square_1 + body_2 * body_2." in text
    assert "Definition rhs : Q := (square_1 + body_3 * body_3) * 2." in text
    assert "Lemma violation : rhs < lhs." in text
    assert "Theorem refuted : ~ (lhs <= rhs)." in text


@pytest.mark.parametrize("claim_id", STORED)
def test_every_branch_is_a_lemma_and_nothing_is_assumed(claim_id):
    text = exported(claim_id, "coq")
    account, _ = stored(claim_id)
    assert len(re.findall(r"^Lemma branch_\d+", text, re.M)) == len(account.branches)
    proofs = len(re.findall(r"^(?:Lemma|Theorem) ", text, re.M))
    assert text.count("Qed.") == proofs
    outside = re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)
    assert not re.search(r"Admitted|Axiom|Parameter|Hypothesis|Variable|admit|Abort", outside)
    assert outside.count("Theorem ") == 1


def test_comments_hold_whatever_the_statement_says():
    from rankcheck.faces.exports.coq import comment

    assert comment('a "string" (* and *) the end') == "(* a ''string'' ( * and * ) the end *)"


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("claim_id", QUICK)
def test_coqc_accepts(claim_id, tmp_path):
    status, said = coqc(exported(claim_id, "coq"), tmp_path)
    assert status == 0, said


@needs_coq
@pytest.mark.nightly
@pytest.mark.parametrize("claim_id", sorted(set(STORED) - set(QUICK)))
def test_coqc_accepts_all(claim_id, tmp_path):
    status, said = coqc(exported(claim_id, "coq"), tmp_path)
    assert status == 0, said


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim_id", "right", "wrong"),
    [
        (RATIONAL, "lhs <= rhs", "rhs <= lhs"),  # the sides exchanged
        (RATIONAL, "rhs < lhs", "lhs < rhs"),
        (RATIONAL, "Definition x_2 : Q := (1 # 4)", "Definition x_2 : Q := 4"),
        (RATIONAL, "x_2 <= x_1", "x_1 <= x_2"),  # a branch that was not taken
        (RATIONAL, "(square_1 + body_3 * body_3) * 2", "(square_1 + body_3 * body_3) * 32"),
        ("rank.layer-energy-as-printed", "rank_1_of 2", "rank_1_of 1"),
    ],
)
def test_coqc_refuses_what_is_wrong(claim_id, right, wrong, tmp_path):
    _refused(claim_id, right, wrong, tmp_path)


@needs_coq
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("claim_id", "right", "wrong"),
    [
        (REAL, "lhs <= rhs", "rhs <= lhs"),
        (REAL, "secant_cost_1 = 2", "secant_cost_1 = 3"),
        (REAL, "<= power_1 <= 1.41", "<= power_1 <= 1.40"),
        (REAL, "0 <= body_1", "body_1 <= 0"),
    ],
)
def test_coqc_refuses_what_is_wrong_of_reals(claim_id, right, wrong, tmp_path):
    _refused(claim_id, right, wrong, tmp_path)


def _refused(claim_id, right, wrong, tmp_path):
    text = exported(claim_id, "coq")
    assert right in text
    status, _ = coqc(text.replace(right, wrong), tmp_path)
    assert status == 1


@needs_coq
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("claim_id", "axioms"),
    [(RATIONAL, set()), (REAL, AXIOMS), ("bottleneck.chained-projections-as-printed", AXIOMS)],
)
def test_the_axioms_are_those_of_the_reals(claim_id, axioms, tmp_path):
    status, said = coqc(exported(claim_id, "coq") + "Print Assumptions refuted.\n", tmp_path)
    assert status == 0
    assert set(re.findall(r"^([A-Z]\w+\.\w+)", said, re.MULTILINE)) == axioms
