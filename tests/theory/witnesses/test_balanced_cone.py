"""Evenly spread spectra: the map, the least cost, the ranks."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.balanced_cone import balanced_cone_network

from ._plain import plain

V = torch.tensor([[0.6, 0.8], [-0.8, 0.6], [0.0, 0.0]], dtype=torch.float64)
WIDE = torch.tensor([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]], dtype=torch.float64)
U = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
ROOTS = torch.tensor([1.5, 0.5], dtype=torch.float64)


def test_one_isometry_is_refused():
    with pytest.raises(ValueError, match="received 1 isometries"):
        balanced_cone_network(ROOTS, (V,))


@pytest.mark.parametrize("slope", [0.0, -0.5])
@pytest.mark.oracle(
    "rankcheck.witnesses.balanced_cone_network", "U S Vᵀ and its Schatten power, numpy.linalg.svd"
)
def test_the_map_the_cost_and_the_rank_in_numpy(slope):
    g = np.random.default_rng(0)
    s = np.array([3.0, 0.7])
    for depth in (1, 2, 5):
        frames = [V, *[WIDE] * (depth - 1), U]
        net = plain(balanced_cone_network(torch.tensor(s ** (1 / depth)), frames, slope))
        A = U.numpy() @ np.diag(s) @ V.numpy().T
        x = g.uniform(0, 4, (30, 2)) @ V.numpy().T
        assert net.widths == (3, *[3] * (depth - 1), 2)
        np.testing.assert_allclose(net(x), x @ A.T, atol=1e-13)
        least = depth * (np.linalg.svd(A, compute_uv=False) ** (2 / depth)).sum()
        assert net.cost == pytest.approx(least)
        assert {np.linalg.matrix_rank(w) for w in net.weights} == {2}
