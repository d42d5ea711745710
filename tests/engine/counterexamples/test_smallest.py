"""Counterexamples made small: still proved, half as bad at least, and what the report says."""

import json
from fractions import Fraction

import pytest
import torch

from rankcheck import leq
from rankcheck.balls import BallArray
from rankcheck.claims.claim import ClaimError
from rankcheck.claims.labels import READABLE
from rankcheck.engine.counterexamples import replay
from rankcheck.engine.counterexamples.given import NotRefutedError, from_choices
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import exact_instance
from rankcheck.engine.counterexamples.reporting import report_violation
from rankcheck.engine.counterexamples.shrinking import shrink_violation
from rankcheck.engine.counterexamples.shrinking.violations import KEEP
from rankcheck.engine.verification.profiles import Profile, Settings
from rankcheck.engine.verification.stages import from_search
from rankcheck.errors import InputError
from rankcheck.linalg import operator_norm, schatten_power
from rankcheck.theory.instances.balanced import balanced_networks_at_points
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.drivers import ReplaySource
from rankcheck.theory.instances.matrices import matrices
from rankcheck.theory.instances.matrix_classes import positive_definite_matrices
from rankcheck.theory.instances.networks import networks_at_points
from rankcheck.theory.instances.source import instances
from rankcheck.theory.networks.network import Network

SMALL = Profile("small", drawn=60, batches=12, size=256, single=60)


@instances
def square(source, *, size=(1, 64)):
    n = source.integer(*size)
    return source.tensor(n, n)


def ten_percent_better(net, x):
    """The conjecture of the documentation, false at one neuron."""
    return leq(schatten_power(net.jacobian(x), 2 / net.depth), 0.9 * net.cost() / net.depth)


def large_matrix(claim, n):
    """A proved violation of a claim on a random square matrix."""
    values = torch.randn(n, n, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    record = read_choices(claim.instances, [n, values.clamp(-8, 8).tolist()])
    instance = Instance(claim, claim.instances, record)
    assert instance.proved
    return instance


@pytest.mark.parametrize("seed", range(2))
def test_the_conjecture_of_the_documentation(declare, tmp_path, seed):
    claim = declare(ten_percent_better, networks_at_points(), id=f"mine.ten-percent-{seed}")
    found = from_search(claim, Settings(SMALL, seed))
    report = report_violation(found, tmp_path)
    assert report.proved
    assert report.message.startswith(f"{claim.id} is false: ")
    assert "depth 1, slope 0, W_1 = [[1]], b_1 = [0], x = [0]" in report.message
    assert f"certificate: {report.certificate} " in report.message


def grows_with_its_square(A, C):
    B = A + C
    return leq(0, torch.linalg.eigvalsh(B @ B - A @ A)[..., 0])


def has_a_definite_jordan_product(A, B):
    return leq(0, torch.linalg.eigvalsh(A @ B + B @ A)[..., 0])


def has_a_small_diagonal(A):
    return leq(3 * A[..., 0, 1:].abs().sum(-1), 0.8 * A.diagonal(dim1=-2, dim2=-1).sum(-1))


def has_a_balanced_second_layer(net, x):
    first, second, *_ = (w.square().sum((-2, -1)) for w in net.weights)
    return leq(second, 1.2 * first)


@pytest.mark.parametrize(
    ("body", "family"),
    [
        (grows_with_its_square, positive_definite_matrices(size=(2, 3), count=2)),
        (has_a_definite_jordan_product, positive_definite_matrices(size=(2, 3), count=2)),
        (has_a_small_diagonal, positive_definite_matrices(size=(3, 3))),
        (has_a_balanced_second_layer, balanced_networks_at_points(depth=(3, 3), width=(2, 2))),
    ],
)
def test_definite_and_balanced_counterexamples_have_short_entries(declare, body, family):
    """Numerators and denominators have at most three digits."""
    found = from_search(declare(body, family), Settings(SMALL, 0))
    small, _ = shrink_violation(found, budget=60)
    parts = family(ReplaySource(small.record, BallArray.exact))
    if isinstance(parts[0], Network):
        parts = *parts[0].weights, *parts[0].biases
    for q in (q for part in parts for q in part.elements.flatten()):
        assert max(abs(int(q.p)), int(q.q)) < 1000


def test_half_of_the_violation_is_kept(declare):
    """x ≤ 3 fails by 5/8 at x = 8 and by 1/4 at 4; the smallest has 5/16 at least: 5."""
    claim = declare(lambda x, y: leq(x, 3.0 + 0 * y), numbers())
    small, _ = shrink_violation(from_choices(claim, [8, 3.1875]))
    assert small.judgement.relative_excess >= KEEP * Fraction(5, 8)
    assert small.record.tensors[0] == 5
    assert small.record.tensors[1] == 0


@instances
def numbers(source):
    return source.tensor(), source.tensor()


def test_the_worst_is_the_smallest_where_shrinking_made_it_worse(declare, tmp_path):
    claim = declare(lambda x, y: leq(x * 0 + 1, x * x + y * y), numbers())
    report = report_violation(from_choices(claim, [0.25, 0.5]), tmp_path)
    assert report.smallest.judgement.relative_excess == 1
    assert report.worst is report.smallest


def test_hypotheses_are_kept_at_the_edge(declare):
    """Networks shrink towards x = 0, where a hidden unit has its kink: there they must not end."""

    def body(net, x):
        return leq(net.cost() / net.depth, 2 * schatten_power(net.jacobian(x), 1) + 1)

    family = networks_at_points(depth=(2, 3), width=(1, 3), slopes="relu")
    claim = declare(body, family)
    small, _ = shrink_violation(from_search(claim, Settings(SMALL)))
    net, x = exact_instance(family, small.record)
    assert bool(net.is_differentiable_at(x))
    assert small.judgement.finding == "refuted"


def test_where_floats_and_balls_disagree_the_balls_decide(declare):
    """In floats it is violated at every x; exactly at x > 4 alone."""

    def body(x, y):
        # One in floats as long as x is small: what is added is lost.
        lost = (2.0**60 + (x - 4)) - 2.0**60
        return leq(torch.where(x > 4, x, 4 + lost), 4 + 0 * y)

    claim = declare(body, numbers())
    small, _ = shrink_violation(from_choices(claim, [7.5, 0]))
    assert small.judgement.finding == "refuted"
    assert 4 < float(small.record.tensors[0]) < 7.5


def test_a_violation_below_the_float_tolerance_is_made_small_by_balls_alone(declare):
    def body(x, y):
        return leq(x, x - x.abs() / 2.0**70, error=1.0)

    claim = declare(body, numbers())
    small, _ = shrink_violation(from_choices(claim, [5.5, 1.25]))
    assert [t.item() for t in small.record.tensors] == [1.0, 0.0]


def test_what_is_only_undecided_is_left_alone(declare):
    claim = declare(lambda x, y: leq(x, 1.0 + 0 * y), numbers(), no_ball="so")
    undecided = Instance(claim, numbers(), read_choices(numbers(), [5, 1]))
    assert shrink_violation(undecided)[0] is undecided


def test_a_large_instance_is_reported_as_such(declare, tmp_path):
    claim = declare(lambda A: leq(operator_norm(A), 3.0), square(size=(17, 17)))
    report = report_violation(large_matrix(claim, 17), tmp_path, budget=0.3)
    assert len(report.message) < 2 * READABLE
    assert replay(tmp_path / "t.made-up.json", claim=claim).refuted


def test_a_smaller_certificate_is_kept(declare, tmp_path):
    family = square(size=(1, 3))
    claim = declare(lambda A: leq(operator_norm(A), 3.0), family)

    def report(claim, choices):
        return report_violation(from_choices(claim, choices), tmp_path, budget=0)

    def stored():
        return json.loads((tmp_path / "t.made-up.json").read_text())["smallest"]["instance"]

    small, large = [1, [[4.5]]], [2, [[4, 0], [0, 4]]]
    report(claim, large)
    report(claim, small)
    kept = report(claim, large)
    assert kept.certificate == str(tmp_path / "t.made-up.json")
    assert stored() == [1, [["9/2"]]]
    report(claim, [1, [[4]]])  # as many numbers, shorter text
    assert stored() == [1, [[4]]]
    other = declare(lambda A: leq(operator_norm(A), 2.0), family, statement="$y$")
    report(other, large)
    assert stored() == large
    (tmp_path / "t.made-up.json").write_text("{}")
    report(claim, large)
    assert stored() == large


def test_a_body_of_any_number_of_matrices(declare, tmp_path):
    @instances
    def lists(source):
        return tuple(source.tensor(1, 1) for _ in range(source.integer(1, 3)))

    def product(x, *factors, bound=2.0):
        return leq(sum((f.abs().sum((-2, -1)) for f in factors), x.sum((-2, -1))), bound)

    claim = declare(product, lists(), mutants={"less": {"bound": 1.0}})
    assert claim.arguments == ("x", "*factors")
    report = report_violation(from_choices(claim, [3, [[1]], [[2]], [[-3]]]), tmp_path)
    assert replay(report.certificate, claim=claim).refuted
    with pytest.raises(ClaimError, match=r"the body takes \*\*options"):
        declare(lambda x, **options: leq(x, 1.0), numbers())


def test_the_entry_that_fails_is_told(declare, tmp_path):
    """Sides with several entries; the last row and the second column alone fail."""

    def body(A):
        return leq(A, torch.tensor([[9.0, 9.0], [9.0, 9.0], [9.0, 1.0]]))

    claim = declare(body, matrices(rows=(3, 3), columns=(2, 2)))
    record = read_choices(claim.instances, [3, 2, 0, [[2, 2], [2, 2], [2, 2]]])
    instance = Instance(claim, claim.instances, record)
    assert (instance.in_balls.entry, instance.in_balls.entries) == ((2, 1), 6)
    report = report_violation(instance, tmp_path)
    assert (report.counterexample.entry, report.counterexample.entries) == ((2, 1), 6)


# From numbers given by hand.


@instances
def positive(source):
    x = source.tensor()
    source.require(x > 0, "x is positive")
    return x


def test_given_numbers_are_judged(declare):
    claim = declare(lambda x, y: leq(x, y), numbers())
    assert from_choices(claim, [Fraction(1, 4), "-3/4"]).judgement.excess == 1
    with pytest.raises(NotRefutedError, match=r"does not refute t.made-up: satisfied"):
        from_choices(claim, [1, 1])
    with pytest.raises(NotRefutedError, match=r"the hypotheses of t.made-up: x is positive"):
        from_choices(declare(lambda x: leq(x, 0.0), positive()), [-1])
    with pytest.raises(InputError, match="cited and has no instances"):
        from_choices(declare(lambda: None, None, kind="cited"), [])


def test_a_search_that_finds_nothing(declare):
    claim = declare(lambda x, y: leq(x, 9.0), numbers())
    with pytest.raises(NotRefutedError, match=r"none of \d+ instances refutes t.made-up"):
        from_search(claim, Settings(SMALL))
    nan = declare(lambda x, y: leq(x, 0 * x / (x - x)), numbers())
    with pytest.raises(NotRefutedError, match=r"does not refute t.made-up: undecided"):
        from_search(nan, Settings(SMALL))
