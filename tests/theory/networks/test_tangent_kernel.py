"""The tangent kernel against torch.func, which differentiates by the parameters."""

from fractions import Fraction

import pytest
import torch
from torch.func import jacrev, vmap

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.theory.networks import tangent_kernel as ntk
from tests.draws import random_network

WIDTHS = [(3, 2), (3, 4, 2), (4, 3, 3, 2, 3)]
SLOPES = [0, -0.5]


def points(*shape, seed=1):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def gradients(net, point, biases):
    """∂f(point) by the parameters, (d_out, P), by automatic differentiation."""
    by_weights, by_biases = jacrev(lambda w, b: net.with_parameters(w, b)(point), argnums=(0, 1))(
        net.weights, net.biases
    )
    used = (*by_weights, *by_biases) if biases else by_weights
    return torch.cat([g.flatten(1) for g in used], -1)


def oracle(net, x, y, biases):
    """Θ(x, y) = Σ over parameters of ∂f(x) ∂f(y)ᵀ."""
    return gradients(net, x, biases) @ gradients(net, y, biases).mT


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.oracle("rankcheck.networks.ntk", "torch.func.jacrev")
@pytest.mark.oracle("rankcheck.networks.ntk_trace", "torch.func.jacrev")
def test_kernel_and_trace(widths, slope, biases):
    net, X, Y = random_network(widths, slope), points(4, widths[0]), points(4, widths[0], seed=2)
    theirs = torch.stack([oracle(net, x, y, biases) for x, y in zip(X, Y, strict=True)])
    torch.testing.assert_close(ntk.ntk(net, X, Y, biases), theirs)
    torch.testing.assert_close(ntk.ntk(net, X[0], Y[0], biases), theirs[0])
    traces = torch.stack([oracle(net, x, x, biases).trace() for x in X])
    torch.testing.assert_close(ntk.ntk_trace(net, X, biases), traces)
    torch.testing.assert_close(ntk.ntk_trace(net, X[1], biases), traces[1])


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.oracle("rankcheck.networks.ntk_mixed_derivative", "torch.func.jacrev, twice")
def test_mixed_derivative(widths, slope):
    """Θ_ij(x, y) is a sum of products ∂f_i(x) ∂f_j(y), where each factor has one of the points."""
    net, x = random_network(widths, slope), points(widths[0], seed=3)
    D = jacrev(lambda point: gradients(net, point, True))(x)  # axes i, p, x_a
    size = widths[0] * widths[-1]
    theirs = torch.einsum("ipa,jpb->aibj", D, D).reshape(size, size)
    mine = ntk.ntk_mixed_derivative(net, x)
    torch.testing.assert_close(mine, theirs)
    torch.testing.assert_close(mine, mine.mT)
    assert (torch.linalg.eigvalsh(mine) >= -1e-12 * torch.trace(mine)).all()
    X = torch.stack((x, x + 1))
    torch.testing.assert_close(ntk.ntk_mixed_derivative(net, X)[0], mine)


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.oracle("rankcheck.networks.gram", "torch.func.jacrev")
def test_gram(outputs, biases):
    net, X = random_network((3, 4, 4, outputs), 0.25), points(7, 3)
    K = ntk.gram(net, X, biases)
    theirs = torch.cat([gradients(net, x, biases) for x in X])
    torch.testing.assert_close(K, theirs @ theirs.mT)
    assert torch.equal(K, K.mT)


def test_batches_of_networks():
    net, X = random_network((3, 4, 2), 0.25, batch=(2, 3)), points(2, 3, 5, 3)
    K, T = ntk.gram(net, X), ntk.ntk_trace(net, X)
    M, D = ntk.ntk_mixed_derivative(net, X), net.jacobian(X)
    one = net[1, 2]
    torch.testing.assert_close(K[1, 2], ntk.gram(one, X[1, 2]))
    torch.testing.assert_close(T[1, 2], ntk.ntk_trace(one, X[1, 2]))
    torch.testing.assert_close(M[1, 2], ntk.ntk_mixed_derivative(one, X[1, 2]))
    torch.testing.assert_close(D[1, 2], vmap(jacrev(one))(X[1, 2]))
    traces = K.diagonal(dim1=-2, dim2=-1).unflatten(-1, (5, 2)).sum(-1)
    torch.testing.assert_close(traces, T)


@pytest.mark.parametrize("biases", [False, True])
def test_exact_on_balls(biases):
    def rational(array):
        return BallArray.exact((array * 4).round() / 4)

    net = random_network((2, 3, 2))
    exact = Network(map(rational, net.weights), map(rational, net.biases), Fraction(1, 3))
    floats = exact.map_arrays(BallArray.midpoints)
    x, y, X = rational(points(2)), rational(points(2, seed=2)), rational(points(3, 2))
    for proof, value in (
        (ntk.ntk(exact, x, y, biases), ntk.ntk(floats, x.midpoints(), y.midpoints(), biases)),
        (ntk.ntk_trace(exact, x, biases), ntk.ntk_trace(floats, x.midpoints(), biases)),
        (ntk.ntk_mixed_derivative(exact, x), ntk.ntk_mixed_derivative(floats, x.midpoints())),
        (ntk.gram(exact, X, biases), ntk.gram(floats, X.midpoints(), biases)),
    ):
        assert proof.is_exact()
        torch.testing.assert_close(proof.midpoints(), value)


def test_the_biases_that_the_trace_over_the_weights_leaves_out():
    """L = 1, x = 0, two outputs: 0 without the bias parameters, 2 with them."""
    net = Network.of([torch.zeros(2, 1)])
    x = torch.zeros(1, dtype=torch.float64)
    assert ntk.ntk_trace(net, x) == 0
    assert ntk.ntk_trace(net, x, biases=True) == 2


def test_errors():
    net = random_network((3, 2))
    with pytest.raises(ValueError, match=r"shape \(3,\) and y of shape \(2, 3\); .* must be equal"):
        ntk.ntk(net, points(3), points(2, 3))
    with pytest.raises(ValueError, match=r"shape \(3,\); a Gram matrix takes"):
        ntk.gram(net, points(3))
