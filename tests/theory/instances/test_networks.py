"""Which cases the generators draw and sweep, and what holds exactly on balls."""

from collections import Counter, defaultdict
from fractions import Fraction

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.theory import linalg
from rankcheck.theory.instances.balanced import (
    balanced_networks_at_points,
    balanced_networks_with_inputs,
)
from rankcheck.theory.instances.choices import read_choices
from rankcheck.theory.instances.drivers import BatchSource, ReplaySource
from rankcheck.theory.instances.kinks import active_units, clear_of_boundaries
from rankcheck.theory.instances.matrices import (
    low_rank,
    matrices,
)
from rankcheck.theory.instances.networks import (
    draw_widths,
    near_isometry,
    network,
    networks_at_points,
    networks_with_inputs,
    nonzero_diagonal,
    steep_networks,
)
from rankcheck.theory.instances.source import Rejected, instances

pytestmark = pytest.mark.slow  # hundreds of draws by Hypothesis


@pytest.fixture(params=["drawn", "swept"])
def some(request, drawn, swept):
    """`some(family)`: single instances, all from one of the two drivers."""

    def singles(family):
        if request.param == "drawn":
            return [instance for _, instance in (p for p in drawn(family, 300) if p is not None)]
        found = []
        for record, _, valid in swept(family, 60, size=4):
            for index in torch.arange(4)[valid].tolist():
                found.append(family(ReplaySource(record.instance(index))))
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


def test_a_network_with_a_rational_slope_is_moved_clear_of_its_kinks():
    weights = [torch.ones(1, 1, dtype=torch.float64) for _ in range(3)]
    net = Network.linear(weights, Fraction(1, 2))
    x = torch.zeros(1, dtype=torch.float64)
    assert not net.is_differentiable_at(x)
    source = BatchSource(0)
    assert clear_of_boundaries(source, net, x).is_differentiable_at(x)


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


@instances
def of_rank(source, *, rank):
    return low_rank(source, 4, 3, rank)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_product_of_factors_has_its_rank_exactly(rank, swept):
    ranks = []
    for record, (batch,), _ in swept(of_rank(rank=rank), 20, size=3):
        for index in range(3):
            (A,) = exactly(of_rank(rank=rank), record.instance(index))
            assert A.is_exact()
            ranks.append(int(linalg.rank(A)))
            assert int(linalg.rank(batch[index])) == ranks[-1]
    assert max(ranks) == rank
    assert ranks.count(rank) > len(ranks) / 2


def test_a_steep_network_at_a_kink_is_rejected():
    """Clear of its kinks as a ReLU network: z_1 = −1, z_2 = 2. With the slope 2, z_2 = 0."""
    layers = [[[1]], [-2], [[1]], [2], [[1]], [0]]
    for steepness in (1.5, 3):
        read_choices(steep_networks(), [3, 1, 1, 1, 1, 0, *layers, [1], steepness])
    with pytest.raises(Rejected, match="differentiable"):
        read_choices(steep_networks(), [3, 1, 1, 1, 1, 0, *layers, [1], 2])


def ranks_by(size, pairs):
    """How often the Jacobian at the (first) point has each rank, by what `size` is of a network."""
    found: dict[int, Counter] = defaultdict(Counter)
    for net, x in pairs:
        at = x if x.ndim == len(net.batch) + 1 else x[..., 0, :]
        ranks = linalg.rank(net.jacobian(at), net.jacobian_noise(at))
        found[size(net)].update(ranks.reshape(-1).tolist())
    return found


def least_width(net):
    return min(net.widths)


REACHING = [
    networks_at_points(),
    networks_with_inputs(slopes="relu", biases=False),
    balanced_networks_at_points(constructions=("exact", "rescaled")),
    balanced_networks_with_inputs(),
]


@pytest.mark.parametrize("family", REACHING, ids=repr)
def test_sweeps_reach_every_rank_at_every_depth(family, swept):
    drawn = [batch for _, batch, _ in swept(family, 500, size=2)]
    for least, ranks in ranks_by(least_width, drawn).items():
        assert all(ranks[rank] > ranks.total() / 20 for rank in range(1, least + 1)), ranks
    deep = [(net, x) for net, x in drawn if least_width(net) >= 2]
    assert len(deep) > len(drawn) / 2
    for depth, ranks in ranks_by(lambda net: net.depth, deep).items():
        count = ranks.total()
        assert count > 0.1 * len(deep), depth
        noise = 3 * (0.11 * count) ** 0.5  # of a share of 12.5 %
        assert ranks[0] <= 0.125 * count + noise, (depth, ranks)
        assert ranks[2] + ranks[3] + ranks[4] > count / 4, (depth, ranks)


@pytest.mark.parametrize("family", REACHING[::3], ids=repr)
def test_draws_reach_every_rank(family, drawn):
    """Hypothesis repeats itself, and prefers what is simple."""
    found = ranks_by(least_width, (pair for _, pair in drawn(family, 600)))
    total = sum(ranks.total() for ranks in found.values())
    assert found[1].total() < 2 / 3 * total
    assert sum(ranks[0] for ranks in found.values()) < 0.5 * total
    for least, ranks in found.items():
        assert all(ranks[rank] for rank in range(1, least + 1)), ranks


def slow_near_isometry(T):
    n, m = T.shape
    if n < m:
        return slow_near_isometry(T.mT).mT
    v = T[:, 0]
    Q = torch.eye(n, dtype=torch.float64)
    if v.any():
        Q = Q - 2 * torch.outer(v, v) / (v @ v)
    return Q[:, :m] + T / 16


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (4, 2), (2, 4), (1, 3), (3, 1)])
def test_near_isometries(shape):
    source = BatchSource(1, 40)
    source.tensor(*shape, low=-4.0, high=4.0)
    (entries,) = source.record.tensors
    found = near_isometry(entries)
    for T, W in zip(entries, found, strict=True):
        torch.testing.assert_close(W, slow_near_isometry(T))
    part = torch.eye(max(shape), dtype=torch.float64)[: shape[0], : shape[1]]
    assert torch.equal(near_isometry(torch.zeros_like(entries[0])), part)
    assert (torch.linalg.svdvals(found - entries / 16) - 1).abs().max() < 1e-12


def test_diagonals_that_are_not_zero():
    T = torch.tensor([[0.1, 0.1, 2.0], [0.0, -0.5, 0.0]], dtype=torch.float64)
    assert nonzero_diagonal(T).tolist() == [[1.0, 0.1, 2.0], [0.0, -0.5, 0.0]]


@instances
def with_active_units(source, *, points=None):
    net = network(source, depth=(3, 4), width=(2, 4))
    x = source.tensor(*(() if points is None else (points,)), net.widths[0])
    active = active_units(source, net.widths)
    return net, clear_of_boundaries(source, net, x, active), x, active


@pytest.mark.parametrize("points", [None, 3])
def test_active_units_are_active_at_the_first_point(points, swept):
    """Only signs of units change, beside the moved biases, and the same ones on balls."""
    family = with_active_units(points=points)
    for record, (net, moved, x, active), valid in swept(family, 25, size=6):
        at = x if points is None else x[:, 0]
        for z, (on, off) in zip(moved.preactivations(at)[:-1], active, strict=True):
            assert (z[valid][:, :on] > 0).all()
            assert (z[valid][:, off:] < 0).all()
        assert min(off for _, off in active) <= min(net.widths)
        for w, v in zip(net.weights, moved.weights, strict=True):
            assert torch.equal(w.abs(), v.abs())
            assert (((w == v).all(-1)) | ((w == -v).all(-1))).all()
        if valid[0]:
            _, exact, _, _ = exactly(family, record.instance(0))
            for b, c in zip(exact.biases, moved.biases, strict=True):
                torch.testing.assert_close(b.midpoints(), c[0])


def test_outer_widths_can_be_fixed():
    assert draw_widths(BatchSource(0), (3, 3), (2, 2)) == [2, 2, 2, 2]
    assert draw_widths(BatchSource(0), (1, 1), (2, 2), inputs=5, outputs=7) == [5, 7]


def test_the_least_width_is_uniform_enough():
    """Its weight is 1/(w + 1) before the widths are drawn, which can only raise it."""
    least = Counter(min(draw_widths(BatchSource(s), (5, 5), (1, 4))) for s in range(2000))
    assert all(least[w] > 0.1 * least.total() for w in range(1, 5))
