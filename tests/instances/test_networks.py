"""Which cases the generators draw and sweep, and what holds exactly on balls."""

from fractions import Fraction

import pytest
import torch

from rankcheck import linalg
from rankcheck.balls import BallArray
from rankcheck.instances.matrices import (
    chained_matrices,
    low_rank,
    matrices,
    orthogonal,
    orthogonal_blocks,
    partial_isometries,
    semi_orthogonal,
)
from rankcheck.instances.networks import (
    CLEARANCE,
    STEEPEST,
    balanced_linear_networks,
    clear_of_boundaries,
    networks_at_points,
    networks_with_inputs,
)
from rankcheck.instances.record import Record
from rankcheck.instances.source import BatchSource, ReplaySource, instances, seed_of
from rankcheck.networks import Network

pytestmark = pytest.mark.slow  # hundreds of draws by Hypothesis


@pytest.fixture(params=["drawn", "swept"])
def some(request, drawn, swept):
    """`some(family)`: single instances, all from one of the two drivers."""

    def singles(family):
        if request.param == "drawn":
            return [instance for _, instance in (p for p in drawn(family, 300) if p is not None)]
        found = []
        for source, _ in swept(family, 60, size=4):
            for index in torch.arange(4)[source.valid].tolist():
                found.append(family(ReplaySource(source.record.instance(index))))
        return found

    return singles


def exactly(family, record):
    source = ReplaySource(record, BallArray.exact)
    built = family(source)
    source.finish()
    return built


def test_networks_reach_their_corners(some):
    nets = [net for net, _ in some(networks_at_points())]
    hidden = [net for net in nets if net.depth > 1]

    def share(kind):
        return sum(map(kind, nets)) / len(nets)

    corners = {
        "depth 1": lambda net: net.depth == 1,
        "depth 5": lambda net: net.depth == 5,
        "width 1": lambda net: 1 in net.widths,
        "width 4": lambda net: 4 in net.widths,
        "a zero layer": lambda net: any(not w.any() for w in net.weights),
        "a dead unit": lambda net: any(
            (((w == 0).all(-1)) & (b == -1)).any()
            for w, b in zip(net.weights, net.biases, strict=True)
        ),
        "no biases": lambda net: not any(b.any() for b in net.biases),
        "a bias": lambda net: any(b.any() for b in net.biases),
        "ReLU": lambda net: float(net.slope) == 0,
        "a positive slope": lambda net: float(net.slope) > 0,
        "a negative slope": lambda net: float(net.slope) < 0,
        "rank-deficient": lambda net: any(
            int(linalg.rank(w)) < min(w.shape) for w in net.weights if min(w.shape) > 1
        ),
        "full rank above 1": lambda net: any(
            int(linalg.rank(w)) == min(w.shape) for w in net.weights if min(w.shape) > 1
        ),
    }
    assert {name: share(kind) for name, kind in corners.items() if share(kind) < 0.01} == {}
    assert len(hidden) > len(nets) / 3


def test_jacobians_reach_their_corners(some):
    pairs = some(networks_at_points())
    ranks = [(int(linalg.rank(J, net.jacobian_noise(x))), min(J.shape), net.depth)
             for net, x in pairs for J in [net.jacobian(x)]]  # fmt: skip
    assert any(rank == 0 and depth > 1 for rank, _, depth in ranks)
    assert any(0 < rank < size for rank, size, _ in ranks)
    assert any(rank == size > 1 for rank, size, _ in ranks)
    assert any(not x.any() for _, x in pairs)


def test_networks_are_differentiable_at_their_points(some):
    for net, x in some(networks_at_points()):
        assert bool(net.is_differentiable_at(x))
        assert net.depth == 1 or float(net.boundary_distance(x)) >= CLEARANCE
        assert -1 < float(net.slope) < 1
    points = set()
    for net, x in some(networks_with_inputs()):
        assert bool(net.is_differentiable_at(x).all())
        points.add(x.shape[-2])
    assert points == {1, 2, 3, 4, 5}


def test_a_network_with_a_rational_slope_is_moved_clear_of_its_kinks():
    weights = [torch.ones(1, 1, dtype=torch.float64) for _ in range(3)]
    net = Network.linear(weights, Fraction(1, 2))
    x = torch.zeros(1, dtype=torch.float64)
    assert not net.is_differentiable_at(x)
    source = BatchSource(0, None)
    assert clear_of_boundaries(source, net, x).is_differentiable_at(x)


@pytest.mark.parametrize(
    ("slopes", "rule"),
    [
        ("relu", lambda a: a == 0),
        ("negative", lambda a: -STEEPEST <= a < 0),
        ("nonnegative", lambda a: 0 <= a <= STEEPEST),
    ],
)
def test_slopes_as_asked_for(some, slopes, rule):
    found = {float(net.slope) for net, _ in some(networks_at_points(slopes=slopes))}
    assert all(map(rule, found))
    assert slopes == "relu" or len(found) > 10


def test_matrices_reach_their_corners(some):
    found = [A for (A,) in some(matrices())]
    spectra = [torch.linalg.svdvals(A) for A in found]
    sizes = {tuple(A.shape) for A in found}
    assert {(1, 1), (4, 4), (1, 4), (4, 1)} <= sizes
    assert any(not A.any() for A in found)
    assert any(0 < int(linalg.rank(A)) < min(A.shape) for A in found)
    assert any(int(linalg.rank(A)) == 3 for A in found)
    repeated = [s for s in spectra if len(s) > 1 and s[0] > 0.1 and (s[0] - s[1]) < 1e-12 * s[0]]
    assert any(len(s) > 2 for s in repeated)
    apart = [s for s in spectra if len(s) > 2 and (s.diff().abs() > 0.1).all()]
    assert apart


def test_chained_matrices_chain(some):
    assert all(A.shape[1] == B.shape[0] for A, B in some(chained_matrices()))


@instances
def of_rank(source, *, rank):
    return low_rank(source, 4, 3, rank)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_product_of_factors_has_its_rank_exactly(rank, swept):
    ranks = []
    for source, (batch,) in swept(of_rank(rank=rank), 20, size=3):
        for index in range(3):
            (A,) = exactly(of_rank(rank=rank), source.record.instance(index))
            assert A.is_exact()
            ranks.append(int(linalg.rank(A)))
            assert int(linalg.rank(batch[index])) == ranks[-1]
    assert max(ranks) == rank
    assert ranks.count(rank) > len(ranks) / 2


@instances
def frames(source, *, n, k):
    return orthogonal(source, n), semi_orthogonal(source, n, k)


def test_reflections_are_orthogonal_exactly(swept):
    family = frames(n=4, k=2)
    for source, (Q, _) in swept(family, 20, size=3):
        assert (Q @ Q.mT - torch.eye(4)).abs().max() < 1e-13
        for index in range(3):
            Q, V = exactly(family, source.record.instance(index))
            assert Q.is_exact()
            identity = BallArray.exact(torch.eye(4, dtype=torch.float64))
            assert bool((Q @ Q.mT == identity).all())
            assert bool((V.mT @ V == identity[:2, :2]).all())


def test_partial_isometries_have_singular_values_0_and_1_exactly(drawn):
    ranks = set()
    for source, _ in drawn(partial_isometries(), 60):
        (A,) = exactly(partial_isometries(), source.record)
        s = linalg.singular_values(A)
        assert bool(((s == 0) | (s == 1)).all())
        ranks.add(int(linalg.rank(A)))
    assert {0, 1, 2} <= ranks


def test_orthogonal_blocks_are_orthogonal_exactly(drawn):
    for source, _ in drawn(orthogonal_blocks(), 40):
        A, B = exactly(orthogonal_blocks(), source.record)
        assert bool((A @ B.mT == 0).all())
        assert bool((A.mT @ B == 0).all())


def test_balanced_networks_are_of_least_cost_exactly(drawn):
    family = balanced_linear_networks()
    deep = 0
    for source, _ in drawn(family, 60):
        net, x = exactly(family, source.record)
        bound = linalg.schatten_power(net.jacobian(x), Fraction(2, net.depth))
        gap = net.cost() / net.depth - bound
        assert abs(gap.lower()) < Fraction(1, 2**80)
        assert abs(gap.upper()) < Fraction(1, 2**80)
        assert bool(net.is_differentiable_at(x))
        deep += net.depth > 2
    assert deep > 10


def test_a_moved_bias_is_moved_on_balls_too(drawn):
    """Pre-activations that vanish are cleared by the same rule, whatever the numbers are."""
    family = networks_at_points(depth=(2, 3), slopes="relu")
    zero = [s for s, (_, x) in drawn(family, 200) if not x.any() and not any(
        t.any() for t in s.record.tensors)]  # fmt: skip
    assert zero
    net, x = exactly(family, zero[0].record)
    assert bool((net.biases[0] == 1).all())
    assert bool(net.is_differentiable_at(x))


def test_a_batch_is_the_same_on_every_run():
    record = BatchSource(seed_of("pinned"), 2)
    networks_at_points()(record)
    again = BatchSource(seed_of("pinned"), 2)
    networks_at_points()(again)
    assert Record.to_json(record.record.instance(1)) == Record.to_json(again.record.instance(1))
