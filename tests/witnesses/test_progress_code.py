"""The identity of [0, 1] through a code, against its definition and against autograd."""

import pytest
import torch
from torch.func import jacrev

from rankcheck.balls import BallArray
from rankcheck.networks.tangent_kernel import ntk_trace
from rankcheck.witnesses.progress_code import progress_code

LIKE = torch.zeros((), dtype=torch.float64)


@pytest.mark.parametrize("K", [1, 2, 5])
@pytest.mark.parametrize("depth", [4, 7])
def test_it_is_the_identity(K, depth):
    net = progress_code(K, depth, LIKE)
    t = torch.linspace(0, 1, 101, dtype=torch.float64).unsqueeze(-1)
    assert net.depth == depth
    torch.testing.assert_close(net(t), t)
    outside = torch.tensor([[-1.0], [2.0]], dtype=torch.float64)
    assert net(outside).flatten().tolist() == pytest.approx([0.0, 1.0])


def test_one_coordinate_of_the_code_matters():
    net = progress_code(3, 4, LIKE)
    upper = type(net)(net.weights[2:], net.biases[2:])
    for t in torch.linspace(0.01, 0.99, 29, dtype=torch.float64):
        code = net.activations(t.unsqueeze(-1))[2]
        gradient = jacrev(upper)(code).flatten()
        assert sorted(gradient.tolist()) == pytest.approx([0] * 5 + [1 / 3])


def test_the_trace_for_the_square_root_of_the_depth():
    """At most 12√L + 20, where the plain chain of unit weights has L and more."""
    t = ((torch.arange(64) + 0.4) / 64).double().unsqueeze(-1)
    for K in (2, 4, 8, 16):
        trace = ntk_trace(progress_code(K, K * K, LIKE), t, biases=True).max()
        assert trace <= 12 * K + 20


def test_exact_on_balls():
    t = BallArray.exact([[0.3], [0.7]])
    assert bool((progress_code(3, 6, t)(t) == t).all())


def test_batches():
    net = progress_code(2, 5, LIKE, batch=(3,))
    t = torch.rand(3, 4, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(net(t), t)


def test_errors():
    with pytest.raises(ValueError, match="received K = 0 and depth 4"):
        progress_code(0, 4, LIKE)
    with pytest.raises(ValueError, match="depth 3"):
        progress_code(1, 3, LIKE)
