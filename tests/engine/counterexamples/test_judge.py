"""The verdict on one instance: never a true statement certified false, nor a false one rounding."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankcheck import eq, leq, lt
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.engine.counterexamples.judge import PRECISIONS, exact_instance, judge
from rankcheck.linalg import (
    frobenius_squared,
    log_pseudo_determinant,
    nuclear_norm,
    operator_norm,
    rank,
    schatten_power,
)
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.drivers import BatchSource, ReplayError
from rankcheck.theory.instances.matrices import low_rank, matrix, orthogonal
from rankcheck.theory.instances.networks import balanced_linear_networks, network
from rankcheck.theory.instances.source import instances


def dot(x, y):
    return (x * y).sum(-1)


def norm(x):
    return dot(x, x).sqrt()


@instances
def parallel(source):
    """A vector and a positive multiple of it, and another vector."""
    n = source.integer(1, 4)
    x, factor = source.tensor(n), source.tensor(low=0.125, high=4.0)
    return x, factor.unsqueeze(-1) * x, source.tensor(n)


@instances
def square_matrices(source):
    n = source.integer(1, 3)
    return matrix(source, n, n), matrix(source, n, n), orthogonal(source, n)


@instances
def one_matrix(source):
    return (matrix(source, 3, 3),)


@instances
def of_rank_two(source):
    return low_rank(source, 4, 3, 2)


@instances
def positive_pairs(source):
    x = source.tensor(low=0.125, high=4.0)
    return x, source.tensor(low=0.125, high=4.0)


@instances
def nets(source):
    net = network(source, depth=(1, 3), width=(1, 3))
    return net, source.tensor(net.widths[0])


# True statements: identities, and bounds on instances where both sides agree. The second entry
# holds on all of the family, whatever the first is multiplied by `t` > 1 on the larger side.

TRUE: dict[str, tuple[Any, Callable[..., Any]]] = {
    "a rational identity": (parallel(), lambda x, y, z: eq(
        dot(x + z, x + z), dot(x, x) + 2 * dot(x, z) + dot(z, z))),
    "a root of a square": (parallel(), lambda x, y, z: eq((x * x).sqrt(), x.abs())),
    "a root, squared": (positive_pairs(), lambda x, y: eq(x.sqrt() * x.sqrt(), x)),
    "a power, and back": (positive_pairs(), lambda x, y: eq((x ** Fraction(2, 3)) ** 3, x * x)
        if isinstance(x, BallArray) else eq((x ** (2 / 3)) ** 3, x * x)),
    "a logarithm": (positive_pairs(), lambda x, y: eq(
        torch.log(x * y), torch.log(x) + torch.log(y))),
    "Cauchy and Schwarz": (parallel(), lambda x, y, z: leq(dot(x, y), norm(x) * norm(y))),
    "the same, in general": (parallel(), lambda x, y, z: leq(dot(x, z), norm(x) * norm(z))),
    "the triangle": (parallel(), lambda x, y, z: leq(norm(x + y), norm(x) + norm(y))),
    "the triangle, reversed": (parallel(), lambda x, y, z: leq(norm(x) + norm(y), norm(x + y))),
    "cyclic traces": (square_matrices(), lambda A, B, Q: eq(
        torch.diagonal(A @ B, dim1=-2, dim2=-1).sum(-1),
        torch.diagonal(B @ A, dim1=-2, dim2=-1).sum(-1))),
    "determinants": (square_matrices(), lambda A, B, Q: eq(
        torch.linalg.det(A @ B), torch.linalg.det(A) * torch.linalg.det(B))),
    "rotated nuclear norms": (square_matrices(), lambda A, B, Q: eq(
        nuclear_norm(Q @ A), nuclear_norm(A))),
    "rotated operator norms": (square_matrices(), lambda A, B, Q: leq(
        operator_norm(A @ Q), operator_norm(A))),
    "Frobenius from Schatten": (square_matrices(), lambda A, B, Q: eq(
        (torch.linalg.svdvals(A) ** 2).sum(-1), frobenius_squared(A))),
    "the rank of a product of factors": (of_rank_two(), lambda A: leq(rank(A), 2)),
    "the nuclear norm at rank two": (of_rank_two(), lambda A: leq(
        nuclear_norm(A) ** 2, 2 * frobenius_squared(A))),
    "a pseudo-determinant": (square_matrices(), lambda A, B, Q: eq(
        log_pseudo_determinant(2 * A),
        log_pseudo_determinant(A) + rank(A) * torch.log(A.new_ones(()) * 2))),
    "the cost of balanced networks": (balanced_linear_networks(), lambda net, x: leq(
        net.cost() / net.depth, schatten_power(net.jacobian(x), Fraction(2, net.depth)))),
    "a network is homogeneous": (nets(), lambda net, x: eq(
        2 * net(x), net.with_parameters((*net.weights[:-1], 2 * net.weights[-1]),
                                        (*net.biases[:-1], 2 * net.biases[-1]))(x))),
}  # fmt: skip


def claim_of(family, body):
    return Claim(id="t.x", kind="bound", body=body, instances=family, title="", statement="$x$")


def records(family, count, start=0):
    for seed in range(start, start + count):
        source = BatchSource(seed)
        family(source)
        yield source.record.instance(0)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_never_certified_false(name):
    family, body = TRUE[name]
    claim = claim_of(family, body)
    findings = [judge(claim, record).finding for record in records(family, 12)]
    assert set(findings) <= {"satisfied", "outside"}
    assert findings.count("satisfied") >= 9


def shifted(relation, factor):
    """The relation with its right-hand side multiplied, or moved where it is an identity."""
    if relation.kind == "leq":
        return leq(relation.lhs, relation.rhs * factor)
    return eq(relation.lhs, relation.rhs * factor)


SHARP = [
    name
    for name in TRUE
    if name not in ("the same, in general", "the nuclear norm at rank two", "a logarithm",
                    "the rank of a product of factors", "a pseudo-determinant")
]  # fmt: skip


@pytest.mark.parametrize("bits", [3, 100])
@pytest.mark.parametrize("name", SHARP)
def test_what_is_false_by_little_is_certified(name, bits):
    """Where both sides agree, 2^-bits less on the larger one is a violation, however small."""
    family, body = TRUE[name]
    less = 1 - Fraction(1, 2**bits)
    claim = claim_of(family, lambda *instance: shifted(body(*instance), less))
    found = 0
    for record in records(family, 120):
        judgement = judge(claim, record)
        exact = body(*exact_instance(family, record))
        sides = exact.rhs.reshape(-1)
        if bool((sides.abs() > Fraction(1, 100)).any()):
            assert judgement.finding == "refuted"
            assert 0 < judgement.relative_excess <= Fraction(1, 2**bits) * Fraction(11, 10)
            assert judgement.excess > 0
            found += 1
        if found == 4:
            return
    pytest.fail(f"only {found} instances with sides that are not small")


@settings(max_examples=100)
@given(
    st.integers(-(2**40), 2**40),
    st.integers(0, 60),
    st.integers(-(2**40), 2**40),
    st.integers(0, 60),
)
def test_comparisons_of_rationals_are_exact(p, i, q, j):
    x, y = Fraction(p, 2**i), Fraction(q, 2**j)
    if float(x) != x or float(y) != y or max(abs(x), abs(y)) > 2**50:
        return
    family = wide(count=2)
    claim = claim_of(family, lambda a, b: leq(a * a * a, b * b * b))
    judgement = judge(claim, given_pair(x, y))
    assert judgement.finding == ("refuted" if x**3 > y**3 else "satisfied")
    if x > y:
        assert judgement.excess == x**3 - y**3
    claim = claim_of(family, lambda a, b: eq(3 * a, 3 * b))
    assert judge(claim, given_pair(x, y)).finding == ("satisfied" if x == y else "refuted")


@instances
def wide(source, *, count):
    return tuple(source.tensor(low=-(2.0**50), high=2.0**50) for _ in range(count))


def given_pair(*values):
    return read_choices(wide(count=len(values)), list(values))


# Where nothing may be proved.


def top_vector(A):
    return torch.linalg.eigh(A + A.mT).eigenvectors[..., -1]


@pytest.mark.parametrize(
    "body",
    [
        lambda A: leq(top_vector(A)[..., 0], 0),
        lambda A: leq(torch.linalg.svd(A).Vh[..., 0, 0], 0),
        lambda A: leq(torch.linalg.qr(A).R[..., 0, 0], 0),
        lambda A: leq(torch.linalg.eigvals(A).abs()[..., 0], torch.linalg.eigvals(A).abs()[..., 1]),
    ],
)
def test_what_depends_on_a_sign_or_an_order_is_never_refuted(body):
    claim = claim_of(one_matrix(), body)
    judgements = [judge(claim, record, precisions=(128,)) for record in records(one_matrix(), 12)]
    assert "refuted" not in {judgement.finding for judgement in judgements}
    assert any("arbitrary" in judgement.reason for judgement in judgements)


def test_what_depends_on_no_sign_is_refuted():
    def body(A):
        v = top_vector(A)
        return leq((v * v).sum(-1), Fraction(1, 2))

    claim = claim_of(one_matrix(), body)
    findings = [judge(claim, r, precisions=(128,)).finding for r in records(one_matrix(), 20)]
    assert "refuted" in findings


UNDECIDED: list[tuple[Any, float, str]] = [
    (lambda x: leq(torch.special.i0(x), 0 * x), 1.0, "no ball form: .*i0"),
    (lambda x: leq(1 / x, 0 * x), 0.0, "no value in balls; on the way is a quotient by 0"),
    (lambda x: leq(torch.where(1 / x > 0, x, x + 1), 0 * x), 0.0, "way is a quotient by 0"),
    (lambda x: leq((x - 2).sqrt(), 1), 1.0, "on the way is a root of a negative number"),
    (lambda x: leq((x - 2).exp().log().log(), 1), 1.0, "is a logarithm of what may be 0"),
    (lambda x: leq((x - 2) ** 0.5, 1), 1.0, "is a power of what may be negative"),
    (lambda x: leq(1 / (x.exp() - x.exp()), 1), 1.0, "is a quotient by a ball that contains 0"),
    (lambda x: leq(torch.tensor(float(x)) + 1, x), 1.0, ""),
    (lambda x: leq(torch.linalg.inv(x.reshape(1, 1))[0, 0], x), 0.0, "fails on balls, with"),
]


@pytest.mark.parametrize(("body", "value", "reason"), UNDECIDED)
def test_what_balls_cannot_do_is_undecided(scalars, record, body, value, reason):
    judgement = judge(claim_of(scalars(), body), record(value))
    assert judgement.finding == "undecided"
    assert re.search(reason, judgement.reason)


@instances
def integers(source, *, most=9):
    return source.integer(1, most)


def test_floats_that_never_met_a_ball_prove_nothing():
    """A body of integers alone computes in floats, on balls too: that is no proof."""

    def body(n):
        third = torch.tensor(1 / 3, dtype=torch.float64)
        return eq(sum([third] * n, start=0 * third), torch.tensor(n / 3, dtype=torch.float64))

    claim = claim_of(integers(most=40), body)
    for one in records(claim.instances, 20):
        judgement = judge(claim, one)
        assert judgement.finding == "undecided"
        assert "floats, not balls" in judgement.reason


def test_integers_are_exact_on_both_paths():
    [one] = records(integers(), 1)
    [n] = one.integers
    worse = judge(claim_of(integers(), lambda n: leq(n + 1, n)), one)
    assert worse.finding == "refuted"
    assert worse.excess == 1
    assert worse.relative_excess == Fraction(1, n + 1)
    assert judge(claim_of(integers(), lambda n: leq(n, n)), one).finding == "satisfied"
    large = claim_of(integers(), lambda n: leq(2**53 + 1, 2**53))
    assert judge(large, one).finding == "refuted"


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        (lambda x: lt(x, x + 0), "refuted"),
        (lambda x: lt(x / 3 * 3, x), "refuted"),
        (lambda x: lt(x + 1e-90, x), "refuted"),
        (lambda x: lt(x, x + 1e-90), "satisfied"),
        (lambda x: lt(x, (x * x + 1e-90).sqrt()), "satisfied"),
        (lambda x: lt((x * x).sqrt(), x), "refuted"),  # sqrt(9/4) is rational
        (lambda x: lt(x.exp(), (x / 2).exp() * (x / 2).exp()), "undecided"),
        (lambda x: lt((x / 2).exp() * (x / 2).exp(), x.exp() + 1e-270), "satisfied"),
        (lambda x: lt(x / 0, x), "undecided"),
    ],
)
def test_a_strict_relation_is_decided_only_where_the_balls_are_apart(
    scalars, record, body, finding
):
    judgement = judge(claim_of(scalars(), body), record(1.5))
    assert judgement.finding == finding, judgement.reason
    if finding == "refuted":
        assert judgement.kind == "lt"
        assert judgement.excess >= 0


@pytest.mark.parametrize(
    ("body", "values", "error", "message"),
    [
        (lambda x: x < 1, (1.0,), ClaimError, "a body returns leq"),
        (lambda x: leq(x, x), (1.0, 2.0), ReplayError, "nothing more"),
        (lambda x: leq(x, x), (), ReplayError, "at its end"),
    ],
)
def test_what_cannot_be_judged_is_an_error(scalars, record, body, values, error, message):
    with pytest.raises(error, match=message):
        judge(claim_of(scalars(), body), record(*values))
    with pytest.raises(TypeError, match="cited and has no instances"):
        judge(claim_of(None, body), record(1.0))


# Hypotheses are decided exactly.


def test_a_hypothesis_of_the_generator_is_rechecked(record):
    @instances
    def apart(source):
        x = source.tensor()
        source.require(x != 0.5, "x is not one half")
        return x

    claim = claim_of(apart(), lambda x: leq(x + 1, x))
    judgement = judge(claim, record(0.5))
    assert (judgement.finding, judgement.reason) == ("outside", "x is not one half")
    assert judge(claim, record(0.25)).finding == "refuted"


def cancelled(x):
    """0 in floats for a small x; exactly it is x."""
    return (x + 2**60) - 2**60


WHERE: list[tuple[Any, list[float], str]] = [
    (lambda x: leq(x, 0 * x, where=x < 3), [5.0, 4.0], "satisfied"),
    (lambda x: leq(x, 0 * x, where=x < 3), [5.0, 2.0, 4.0], "refuted"),
    (lambda x: leq(x + 1, x, where=x.sum(-1) > 100), [1.0], "satisfied"),
    # It holds on the exact instance, or does not, whatever floats say.
    (lambda x: leq(x, 0 * x, where=cancelled(x) == 0), [2.0**-20], "satisfied"),
    (lambda x: leq(x, 0 * x, where=cancelled(x) != 0), [2.0**-20], "refuted"),
    # What is not asserted may be undefined, as the logarithm of a negative number.
    (lambda x: leq(0 * x + 1, torch.log(x), where=x > 0), [-1.0, 8.0], "satisfied"),
    (lambda x: leq(0 * x + 1, torch.log(x), where=x > 0), [-1.0, 2.0], "refuted"),
    # One open entry does not hide a proof in another.
    (lambda x: leq(1 / x, 0 * x + 3), [0.0, 0.25], "refuted"),
    (lambda x: leq(1 / x, 0 * x + 3), [0.0, 0.5], "undecided"),
]


@pytest.mark.parametrize(("body", "values", "finding"), WHERE)
def test_each_entry_is_judged_where_it_is_asserted(lists, record, body, values, finding):
    judgement = judge(claim_of(lists(), body), record(len(values), values))
    assert judgement.finding == finding
    assert len(values) < 3 or judgement.excess == 2


def test_one_open_relation_does_not_hide_a_proof(lists, record):
    def two(x):
        return leq(1 / x[..., 0], x[..., 0]), leq(x[..., 1], 0 * x[..., 1])

    judgement = judge(claim_of(lists(), two), record(2, [0.0, 5.0]))
    assert judgement.finding == "refuted"
    assert (judgement.relation, float(judgement.excess)) == (1, 5.0)


def test_the_worst_relation_is_reported(lists, record):
    def body(x):
        return (
            leq(100 * x, 100 * x - 1, label="little"),
            leq(x, x / 2, label="much"),
            eq(x, x, label="survived"),
        )

    judgement = judge(claim_of(lists(), body), record(2, [3.0, 1.0]))
    assert judgement.label == "much"
    assert judgement.relation == 1
    assert judgement.relative_excess == Fraction(1, 2)


@pytest.mark.parametrize("factor", [Fraction(99, 100), Fraction(101, 100)])
def test_an_identity_fails_to_either_side(scalars, record, factor):
    claim = claim_of(scalars(), lambda x: eq(factor * x, x))
    assert judge(claim, record(1.5)).finding == "refuted"


# Precision.


def test_equality_is_told_from_what_is_near(scalars, record):
    """√2 against rationals from below: 2^-400 is equality as far as 128 bits tell, 2^-90 is not."""
    near = Fraction(math.isqrt(2 << 180), 1 << 90) - Fraction(1, 1 << 90)
    nearer = Fraction(math.isqrt(2 << 800), 1 << 400)
    for root, finding in ((nearer, "satisfied"), (near, "refuted")):
        claim = claim_of(scalars(), lambda x, root=root: leq(x.sqrt(), 0 * x + root))
        assert judge(claim, record(2.0)).finding == finding


def test_the_sign_of_a_cancelled_sum_takes_more_bits(scalars, record):
    """The sides are tiny beside what cancelled: 128 bits leave them open, 256 do not."""
    large = 2**140

    def body(x):
        return leq((large + 1) * x.sqrt() - large * x.sqrt(), x.sqrt() / 2)

    judgement = judge(claim_of(scalars(), body), record(2.0))
    assert judgement.finding == "refuted"
    assert judgement.bits > PRECISIONS[0]
    few = judge(claim_of(scalars(), body), record(2.0), precisions=(64,))
    assert few.finding == "undecided"
    assert few.lhs is not None


def test_huge_sides(scalars, record):
    claim = claim_of(scalars(), lambda x: leq(x**2000, x**1999))
    judgement = judge(claim, record(7.0))
    assert judgement.finding == "refuted"
    assert judgement.relative_excess == Fraction(6, 7)
    assert judge(claim, record(0.5)).finding == "satisfied"
