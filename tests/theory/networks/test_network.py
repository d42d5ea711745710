"""Networks against autograd, loops, torch modules and exact rationals."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from rankcheck.balls import BallArray, mapping
from rankcheck.networks import Network, leaky, leaky_derivative

WIDTHS = [(3, 3), (1, 1, 1), (2, 5, 3, 4), (4, 3, 3, 2, 1)]
SLOPES = [0, -0.5, Fraction(1, 3), "array"]


def normal(*shape, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def quarters(*shape, seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-8, 9, shape, generator=generator).double() / 4


def network(widths, batch=(), slope=0, draw=normal, seed=0):
    W = [draw(*batch, n, m, seed=seed + i) for i, (m, n) in enumerate(pairwise(widths))]
    b = [draw(*batch, n, seed=seed + 50 + i) for i, n in enumerate(widths[1:])]
    if isinstance(slope, str):
        slope = quarters(*batch, seed=seed + 99) * 31 / 64
    return Network(W, b, slope)


def exactly(net):
    """The same network over the rationals."""
    return net.map_arrays(BallArray.exact)


def by_hand(net, x):
    """One network, one point, in numpy: preactivations, Jacobian as an explicit product."""
    a = float(net.slope)
    h, J = x.numpy(), np.eye(x.shape[0])
    preactivations: list[np.ndarray] = []
    for i, (w, b) in enumerate(zip(net.weights, net.biases, strict=True)):
        if i:
            D = np.diag(np.where(preactivations[-1] >= 0, 1.0, a))
            h, J = D @ preactivations[-1], D @ J
        preactivations.append(w.numpy() @ h + b.numpy())
        J = w.numpy() @ J
    return preactivations, J


@pytest.mark.parametrize("batch", [(), (2, 3)])
@pytest.mark.parametrize("kind", [torch.clone, BallArray.exact])
def test_linear_has_zero_biases(kind, batch):
    weights = [kind(quarters(*batch, n, m, seed=n)) for m, n in ((2, 3), (3, 1))]
    net = Network.linear(weights, -0.5)
    assert net.slope == -0.5
    assert net.batch == batch
    for w, v, b in zip(weights, net.weights, net.biases, strict=True):
        assert v is w
        assert type(b) is type(w)
        assert b.shape == w.shape[:-1]
        assert bool((b == 0).all())


def test_linear_keeps_slopes_and_checks_shapes():
    slopes = torch.tensor([0.0, 0.5], dtype=torch.float64)
    net = Network.linear(iter([torch.ones(2, 1, 1, dtype=torch.float64)]), slopes)
    assert net.slope is slopes
    assert Network.linear([torch.ones(1, 1, dtype=torch.float64)]).slope == 0


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("widths", WIDTHS)
def test_evaluation_and_jacobian_by_hand(widths, slope):
    net = network(widths, (2, 3), slope)
    X = normal(2, 3, 5, widths[0], seed=7)
    values, J, pattern = net.preactivations(X), net.jacobian(X), net.pattern(X)
    assert J.shape == (2, 3, 5, widths[-1], widths[0])
    assert [tuple(v.shape) for v in values] == [(2, 3, 5, n) for n in widths[1:]]
    assert torch.equal(net(X), values[-1])
    for i, j, k in np.ndindex(2, 3, 5):
        z, jacobian = by_hand(net[i, j], X[i, j, k])
        for mine, theirs in zip(values, z, strict=True):
            torch.testing.assert_close(mine[i, j, k], torch.from_numpy(theirs))
        for mine, theirs in zip(pattern, z[:-1], strict=True):
            assert torch.equal(mine[i, j, k], torch.from_numpy(theirs >= 0))
        torch.testing.assert_close(J[i, j, k], torch.from_numpy(jacobian))


@pytest.mark.parametrize("slope", [0, "array"])
@pytest.mark.parametrize("widths", WIDTHS)
def test_one_point_for_each_network_is_the_points_axis_of_length_one(widths, slope):
    net = network(widths, (4,), slope)
    x = normal(4, widths[0], seed=8)
    X = x.unsqueeze(-2)
    torch.testing.assert_close(net(x), net(X)[:, 0])
    torch.testing.assert_close(net.jacobian(x), net.jacobian(X)[:, 0])
    torch.testing.assert_close(net.boundary_distance(x), net.boundary_distance(X)[:, 0])
    for one, many in (
        (net.masks(x), net.masks(X)),
        (net.activations(x), net.activations(X)),
        (net.partial_jacobians(x).inner, net.partial_jacobians(X).inner),
        (net.partial_jacobians(x).outer, net.partial_jacobians(X).outer),
    ):
        assert len(one) == len(many)
        for a, b in zip(one, many, strict=True):
            torch.testing.assert_close(a, b[:, 0])


@pytest.mark.parametrize("slope", [0, -0.5])
@pytest.mark.parametrize("widths", WIDTHS)
def test_jacobian_against_autograd(widths, slope):
    net = network(widths, slope=slope)
    X = normal(6, widths[0], seed=9)
    oracle = torch.func.vmap(torch.func.jacrev(net))(X)
    torch.testing.assert_close(net.jacobian(X), oracle)


@pytest.mark.parametrize("slope", [-0.5, "array"])
@pytest.mark.parametrize("widths", WIDTHS)
def test_partial_jacobians_compose(widths, slope):
    net = network(widths, (2,), slope)
    X = normal(2, 3, widths[0], seed=10)
    J, parts = net.jacobian(X), net.partial_jacobians(X)
    assert len(parts.inner) == len(parts.outer) == net.depth
    for w, inner, outer in zip(net.weights, *parts, strict=True):
        torch.testing.assert_close(outer @ w.unsqueeze(-3) @ inner, J)
    assert torch.equal(parts.inner[0][0, 0], torch.eye(widths[0]).double())
    assert torch.equal(parts.outer[-1][0, 0], torch.eye(widths[-1]).double())


@pytest.mark.parametrize("points", [(), (3,)])
@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("widths", [(3, 3), (2, 5, 3, 4)])
def test_balls_run_the_same_code(widths, slope, points):
    net = network(widths, (2,), slope, quarters)
    X = quarters(2, *points, widths[0], seed=11)
    exact, at = exactly(net), BallArray.exact(X)
    pairs = [
        (net(X), exact(at)),
        (net.jacobian(X), exact.jacobian(at)),
        (net.cost(), exact.cost()),
        *zip(net.activations(X), exact.activations(at), strict=True),
        *zip(net.masks(X), exact.masks(at), strict=True),
        *zip(net.partial_jacobians(X).inner, exact.partial_jacobians(at).inner, strict=True),
        *zip(net.partial_jacobians(X).outer, exact.partial_jacobians(at).outer, strict=True),
    ]
    for floats, balls in pairs:
        assert balls.is_exact()
        torch.testing.assert_close(floats, balls.midpoints(), rtol=1e-12, atol=1e-12)
    assert all(map(torch.equal, net.pattern(X), exact.pattern(at)))
    assert torch.equal(net.is_differentiable_at(X), exact.is_differentiable_at(at))
    assert torch.equal(exact.jacobian_noise(at).midpoints(), torch.zeros(2, *points).double())


@pytest.mark.parametrize("widths", [(4, 4, 4, 4, 4), (1, 8, 8, 2), (16, 16, 16)])
def test_jacobian_noise_bounds_the_rounding_error(widths):
    net = network(widths, (5,), -0.3)
    x = normal(5, widths[0], seed=12)
    exact = exactly(net).jacobian(BallArray.exact(x))
    error = (BallArray.exact(net.jacobian(x)) - exact).midpoints()
    noise = net.jacobian_noise(x)
    assert (torch.linalg.matrix_norm(error, 2) <= noise).all()
    size = torch.linalg.matrix_norm(net.jacobian(x), 2)
    assert (noise <= 1e-10 * size).all()


def test_differentiability():
    net = Network.of([[[1], [1]], [[1, 1]]], [[0, -1], [0]])
    X = torch.tensor([[0.0], [1], [0.25]]).double()
    assert net.is_differentiable_at(X).tolist() == [False, False, True]
    assert net.boundary_distance(X).tolist() == [0, 0, 0.25]
    linear = Network.of([[[2.0]]])
    assert linear.boundary_distance(X).tolist() == [float("inf")] * 3
    assert linear.is_differentiable_at(X).all()


def test_gradients_pass_through_networks():
    net = network((2, 3, 2), (2,), 0.3)
    x = normal(2, 2, seed=13)

    def jacobian_and_cost(slope, *parameters):
        built = Network(parameters[:2], parameters[2:], slope)
        return built.jacobian(x), built(x), built.cost()

    slope = torch.tensor([0.3, -0.2]).double()
    leaves = [p.requires_grad_() for p in (slope, *net.weights, *net.biases)]
    assert torch.autograd.gradcheck(jacobian_and_cost, leaves)


def test_cost_counts_the_biases():
    net = Network.of([[[1, 2], [0, 1]], [[3, 0]]], [[1, 1], [-2]])
    assert [c.item() for c in net.layer_costs()] == [8, 13]
    assert net.cost() == 21


def test_concatenation_puts_the_activation_between():
    f, g = network((3, 4, 2), (2,), 0.25), network((2, 5, 3), (2,), 0.25, seed=200)
    both = f.after(g)
    assert both.depth == f.depth + g.depth
    assert both.widths == (2, 5, 3, 4, 2)
    torch.testing.assert_close(both.cost(), f.cost() + g.cost())
    X = normal(2, 6, 2, seed=14)
    torch.testing.assert_close(both(X), f(leaky(g(X), 0.25)))
    assert not torch.allclose(both(X), f(g(X)))
    raised = g.with_parameters(g.weights, (g.biases[0], g.biases[1] + 100))
    torch.testing.assert_close(f.after(raised)(X), f(raised(X)))


@pytest.mark.parametrize("widths", [((3, 2), (2, 3)), ((3, 4, 2), (2, 3)), ((3, 2), (2, 4, 4, 3))])
def test_merging_composes_everywhere(widths):
    f, g = network(widths[0], (2,), "array"), network(widths[1], (2,), "array", seed=300)
    f = Network(f.weights, f.biases, g.slope)
    X = normal(2, 6, 2, seed=15)
    merged = f.merged_after(g)
    assert merged.depth == f.depth + g.depth - 1
    torch.testing.assert_close(merged(X), f(g(X)))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_parallel_and_sum(depth):
    f = network((2, *(3,) * (depth - 1), 2), (3,), -0.25)
    g = network((2, *(4,) * (depth - 1), 2), (3,), -0.25, seed=400)
    X = normal(3, 5, 2, seed=16)
    side_by_side = f.parallel(g)
    torch.testing.assert_close(side_by_side(X), torch.cat((f(X), g(X)), -1))
    torch.testing.assert_close(side_by_side.cost(), f.cost() + g.cost())
    if depth == 1:
        with pytest.raises(ValueError, match="L ≥ 2"):
            f.add(g)
        return
    total = f.add(g)
    torch.testing.assert_close(total(X), f(X) + g(X))
    cross = 2 * (f.biases[-1] * g.biases[-1]).sum(-1)
    torch.testing.assert_close(total.cost(), f.cost() + g.cost() + cross)


@pytest.mark.parametrize("method", ["after", "merged_after", "parallel", "add"])
def test_partners_must_fit(method):
    f = network((2, 3, 2), slope=0.5)
    combine = getattr(f, method)
    with pytest.raises(ValueError, match=r"slopes 0\.5 and 0; they must be equal"):
        combine(network((2, 3, 2)))
    with pytest.raises(ValueError, match="batch axes"):
        combine(network((2, 3, 2), (1,), 0.5))
    with pytest.raises(ValueError, match="received widths"):
        combine(network((4, 3, 4), slope=0.5))
    combine(network((2, 3, 2), slope=Fraction(1, 2)))


def test_describe():
    net = Network.of([[[1]]])
    assert net.describe() == "depth 1, slope 0, W_1 = [[1]], b_1 = [0]"
    two = Network.of([[[1.5, -0.0]], [[2], [0.1]]], [[1e-3], [1e20, -3]], slope=-0.5)
    text = (
        "depth 2, slope -0.5, W_1 = [[1.5, 0]], b_1 = [0.001], "
        "W_2 = [[2], [0.1]], b_2 = [1e+20, -3]"
    )
    assert two.describe() == str(two) == text
    exact = Network([BallArray.exact([[Fraction(1, 3)]])], [BallArray.exact([-2])], Fraction(2, 7))
    assert exact.describe() == "depth 1, slope 2/7, W_1 = [[1/3]], b_1 = [-2]"
    batch = network((2, 2), (3,), "array")
    with pytest.raises(ValueError, match=r"batch axes \(3,\); .* index first"):
        batch.describe()
    assert batch[1].describe().startswith("depth 1, slope ")
    assert "widths (2, 2)" in str(batch)


def test_batches_are_indexed_and_moved():
    net = network((2, 3, 1), (4, 5), "array")
    x = normal(4, 5, 2, seed=18)
    assert net.batch == (4, 5)
    assert net[1].batch == (5,)
    assert net[:, 2:4].batch == (4, 2)
    assert net[torch.tensor([0, 0, 3])].batch == (3, 5)
    assert net[torch.eye(4, 5) > 0].batch == (4,)
    torch.testing.assert_close(net[1, 2](x[1, 2]), net(x)[1, 2])
    torch.testing.assert_close(net.to(device="cpu")(x), net(x))
    net.weights[0].requires_grad_()
    assert not net.detach()(x).requires_grad
    for beyond in [(0, 0, 0), (..., 0), torch.ones(4, 5, 3) > 0]:
        with pytest.raises(IndexError, match=r"addresses its batch axes \(4, 5\)"):
            net[beyond]
    with pytest.raises(IndexError, match=r"addresses its batch axes \(\)"):
        net[0, 0][0]


def test_from_lists_and_arrays():
    net = Network.of([np.eye(2, dtype=np.float32), [[1, 2]]], slope=Fraction(1, 4))
    assert net.widths == (2, 2, 1)
    assert all(not b.any() for b in net.biases)
    assert net(torch.tensor([-4.0, 1]).double()).tolist() == [1]


@pytest.mark.parametrize("activation", [nn.ReLU(), nn.LeakyReLU(0.1)])
def test_from_module(activation):
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Linear(3, 5), activation, nn.Linear(5, 4, bias=False), activation, nn.Linear(4, 2)
    )
    net = Network.from_module(module)
    assert net.slope == getattr(activation, "negative_slope", 0)
    x = normal(7, 3, seed=19)
    torch.testing.assert_close(net(x), module.double()(x).detach())
    assert not any(p.requires_grad for p in net.weights + net.biases)


@pytest.mark.parametrize(
    ("activations", "last", "error", "match"),
    [
        ([nn.Tanh()], True, TypeError, r"received the layers \[Linear, Tanh, Linear\]"),
        ([nn.ReLU()], False, TypeError, "alternate"),
        ([nn.Linear(1, 1)], True, TypeError, "alternate"),
        ([nn.ReLU(), nn.LeakyReLU(0.1)], True, ValueError, r"slopes \[0.0, 0.1\]"),
    ],
)
def test_modules_that_are_no_networks(activations, last, error, match):
    layers = [layer for one in activations for layer in (nn.Linear(1, 1), one)]
    with pytest.raises(error, match=match):
        Network.from_module(nn.Sequential(*layers, *([nn.Linear(1, 1)] * last)))
    with pytest.raises(TypeError, match="alternate"):
        Network.from_module(nn.Sequential())


ONE = torch.ones(1, 1, dtype=torch.float64)
TWO = torch.ones(2, dtype=torch.float64)


@pytest.mark.parametrize(
    ("weights", "biases", "slope", "error", "match"),
    [
        ([], [], 0, ValueError, "at least one layer"),
        ([ONE], [], 0, ValueError, "received 1 weights and 0 biases"),
        ([ONE, TWO[None]], [ONE[0]] * 2, 0, ValueError, "W_2 has shape"),
        ([ONE, ONE.expand(3, 1, 1)], [ONE[0]] * 2, 0, ValueError, "W_2 has shape"),
        ([ONE[0]], [ONE[0]], 0, ValueError, "W_1 has shape"),
        ([ONE], [TWO], 0, ValueError, r"b_1 has shape \(2,\); expected \(1,\)"),
        ([ONE.float()], [ONE[0]], 0, TypeError, "W_1 has dtype torch.float32"),
        ([[[1.0]]], [ONE[0]], 0, TypeError, "W_1 is a list"),
        ([ONE], [BallArray.exact([1])], 0, TypeError, "b_1 is a BallArray beside a Tensor"),
        ([ONE / 0], [ONE[0]], 0, ValueError, "W_1 has infinite or undefined entries"),
        ([ONE], [ONE[0] * float("nan")], 0, ValueError, "b_1 has infinite or undefined entries"),
        ([ONE], [ONE[0]], 1, ValueError, r"slope is 1; it must lie in \(-1, 1\)"),
        ([ONE], [ONE[0]], float("nan"), ValueError, r"must lie in \(-1, 1\)"),
        ([ONE], [ONE[0]], -ONE[0, 0], ValueError, r"must lie in \(-1, 1\)"),
        ([ONE], [ONE[0]], TWO / 3, ValueError, r"slopes has shape \(2,\)"),
        ([ONE], [ONE[0]], "0", TypeError, "slope is a str"),
    ],
)
def test_errors_state_the_rule(weights, biases, slope, error, match):
    with pytest.raises(error, match=match):
        Network(weights, biases, slope)


def test_huge_finite_entries_are_finite():
    net = Network([ONE.new_full((1, 2), 1.5e308)], [ONE[0]])
    assert net.widths == (2, 1)


def test_steep_slopes_are_for_controls_only():
    net = Network.unchecked_slope([ONE, ONE], [ONE[0] * 0] * 2, 2)
    assert net(torch.tensor([-3.0]).double()).tolist() == [-6]
    assert net.detach().slope == 2
    with pytest.raises(TypeError, match="float64"):
        Network.unchecked_slope([ONE.float()], [ONE[0]], 2)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 5, 6, 3), (5, 4, 3), (2, 4, 5, 2)])
def test_points_have_the_batch_axes(shape):
    net = network((3, 2), (2, 4))
    with pytest.raises(ValueError, match=r"received points of shape .*; expected"):
        net(torch.zeros(shape).double())


@pytest.mark.parametrize("slope", [0, 0.5, Fraction(-1, 2), torch.tensor(0.5).double()])
@pytest.mark.oracle("rankcheck.networks.leaky", "written out")
@pytest.mark.oracle("rankcheck.networks.leaky_derivative", "written out")
def test_activation(slope):
    z = torch.tensor([-2.0, 0, 3]).double()
    a = float(slope)
    assert leaky(z, slope).tolist() == [-2 * a, 0, 3]
    assert leaky_derivative(z, slope).tolist() == [a, 1, 1]
    if not isinstance(slope, torch.Tensor):
        exact = BallArray.exact(z)
        assert leaky(exact, slope).midpoints().tolist() == [-2 * a, 0, 3]
        assert leaky_derivative(exact, slope).midpoints().tolist() == [a, 1, 1]


def test_only_shapes_are_checked_while_instances_are_mapped():
    """Values cannot be read then; alone, the same network is refused."""
    W = torch.tensor([[[1.0]], [[math.inf]]], dtype=torch.float64)
    slope = torch.tensor([0.5, 2.0], dtype=torch.float64)

    def cost(w, a):
        net = Network([w], [w[..., 0]], a)
        return net.after(Network([w], [w[..., 0]], a + 0)).cost()

    def mapped_cost(w, a):
        with mapping("claim.py"):
            return cost(w, a)

    assert torch.func.vmap(mapped_cost)(W, slope).tolist() == [4.0, math.inf]
    with pytest.raises(ValueError, match="infinite"):
        cost(W[1], slope[0])
    with pytest.raises(ValueError, match="slope"):
        cost(W[0], slope[1])
    with pytest.raises(ValueError, match="b_1 has shape"), mapping("claim.py"):
        Network([W[0]], [W[0]], 0.0)
