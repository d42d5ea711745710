"""Affine maps as deep networks, against A x + b and singular values computed by torch."""

import pytest
import torch

from rankcheck.linalg import schatten_power
from rankcheck.networks import Network
from rankcheck.theory.witnesses.affine_layers import affine_excess, affine_layers


def example(seed, m=3, n=4, k=2):
    g = torch.Generator().manual_seed(seed)
    P, Q = (torch.linalg.qr(torch.randn(d, k, generator=g).double())[0] for d in (m, n))
    s, u = torch.rand(k, generator=g).double() * 3 + 0.1, torch.rand(k, generator=g).double() * 2
    return P, s, Q, torch.randn(m, generator=g).double(), u


@pytest.mark.parametrize("depth", [2, 3, 9])
@pytest.mark.oracle("rankcheck.witnesses.affine_layers", "the map A x + b")
@pytest.mark.oracle("rankcheck.witnesses.affine_excess", "the singular values of A")
@pytest.mark.parametrize("slope", [0.0, -0.5, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_the_map_and_the_cost(seed, slope, depth):
    P, s, Q, b, u = example(seed)
    A = P @ torch.diag(s) @ Q.mT
    net = affine_layers(P, s, Q, b, u, depth, slope)
    assert isinstance(net, Network)
    assert net.depth == depth
    for y in torch.rand(20, 2, generator=torch.Generator().manual_seed(seed)).double():
        x = Q @ (4 * y - u)
        torch.testing.assert_close(net(x), A @ x + b)
    least = depth * schatten_power(A, 2 / depth)
    assert least <= net.cost() <= least + affine_excess(P, s, b, u) + 1e-12


def test_depth_one_is_refused():
    with pytest.raises(ValueError, match="received depth 1"):
        affine_layers(*example(0), 1)
