"""The Hessian of the loss against torch.func, which differentiates twice."""

from fractions import Fraction

import pytest
import torch
from torch.func import jacrev

from rankcheck.balls import BallArray
from rankcheck.networks import Network
from rankcheck.theory.networks.loss_hessian import loss_hessian, number_of_parameters
from tests.draws import normal

SHAPES = [(3, 2), (2, 3)]


def network(slope=0.25, batch=()):
    weights = [normal(i, *batch, *shape) for i, shape in enumerate(SHAPES)]
    biases = [normal(9 + i, *batch, shape[0]) for i, shape in enumerate(SHAPES)]
    return Network(weights, biases, slope)


def oracle(net, X, residuals):
    """The Hessian by automatic differentiation, the weights of all layers first."""
    arrays = [*net.weights, *net.biases]
    sizes = [array.numel() for array in arrays]
    target = net(X) - residuals

    def loss(theta):
        parts = [t.view(a.shape) for t, a in zip(theta.split(sizes), arrays, strict=True)]
        moved = net.with_parameters(parts[: net.depth], parts[net.depth :])
        return ((moved(X) - target) ** 2).sum() / (2 * len(X))

    return jacrev(jacrev(loss))(torch.cat([array.flatten() for array in arrays]))


@pytest.mark.parametrize(("slope", "fits"), [(0, True), (0.25, False), (-0.5, False)])
@pytest.mark.oracle("rankcheck.networks.loss_hessian", "torch.func.jacrev")
def test_against_autograd(slope, fits):
    net, X = network(slope), normal(5, 3, 2)
    residuals = normal(6, 3, 2) * (not fits)
    mine, same = loss_hessian(net, X, residuals)
    assert same
    assert mine.shape[-1] == number_of_parameters(net) == 3 * 3 + 2 * 4
    torch.testing.assert_close(mine, oracle(net, X, residuals), atol=1e-7, rtol=1e-6)


def test_exact_on_balls():
    """f(x) = 3·2x at x = 1 with the residual 1: entries 9 + 0, 6 + 1, 4 and 0 for the weights."""
    net = Network.of([[[2.0]], [[3.0]]]).map_arrays(BallArray.exact)
    mine, same = loss_hessian(net, BallArray.exact([[1]]), BallArray.exact([[1]]))
    assert same
    assert mine.is_exact()
    assert mine.midpoints()[:2, :2].tolist() == [[9.0, 7.0], [7.0, 4.0]]


def test_where_a_step_crosses_a_kink():
    net = Network.of([[[1.0]], [[1.0]]])
    X = torch.tensor([[2.0**-20]], dtype=torch.float64)
    _, same = loss_hessian(net, X, torch.zeros(1, 1, dtype=torch.float64))
    assert not same
    far = X + 1
    assert loss_hessian(net, far, torch.zeros(1, 1, dtype=torch.float64))[1]


def test_slopes_of_a_batch():
    slopes = torch.tensor([0.25, -0.5], dtype=torch.float64)
    net, X, residuals = network(slopes, (2,)), normal(5, 2, 3, 2), normal(6, 2, 3, 2)
    mine, _ = loss_hessian(net, X, residuals)
    alone = network(Fraction(-1, 2), (2,))[1]
    torch.testing.assert_close(mine[1], loss_hessian(alone, X[1], residuals[1])[0])
