"""The identity-layer witness: its depth, its function on a box, its exact cost."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.identity_layers import identity_layers, translate
from tests.draws import random_network

from ._plain import plain

DIMENSION, K, OUTPUT = 3, 2, 4


def random_pair(seed, slope, depths=(2, 3), batch=()):
    g = random_network([DIMENSION, *[4] * (depths[0] - 1), K], slope, batch, seed)
    return random_network([K, *[5] * (depths[1] - 1), OUTPUT], slope, batch, seed + 50), g


def box(batch: tuple[int, ...] = ()) -> tuple[torch.Tensor, torch.Tensor]:
    ones = torch.ones(*batch, DIMENSION, dtype=torch.float64)
    return -ones, 2 * ones


def points(batch: tuple[int, ...] = (), number: int = 200) -> torch.Tensor:
    """Inner points and corners of the box."""
    generator = torch.Generator().manual_seed(0)
    share = torch.rand(*batch, number, DIMENSION, generator=generator, dtype=torch.float64)
    return 3 * torch.cat((share, share.round()), -2) - 1


def test_errors_state_the_rule():
    h, g = random_pair(0, 0.0)
    lower = torch.zeros(K, dtype=torch.float64)
    with pytest.raises(ValueError, match="received depth 4 for networks of depths 2 and 3"):
        identity_layers(h, g, 4, lower)
    with pytest.raises(ValueError, match=r"bounds of shape \(3,\); the shape is \(2,\)"):
        identity_layers(h, g, 6, torch.zeros(3, dtype=torch.float64))
    with pytest.raises(
        ValueError, match=r"\(2, 5, 5, 4\) and \(2, 5, 5, 4\).*n_0 of h is n_L of g"
    ):
        identity_layers(h, h, 6, torch.zeros(OUTPUT, dtype=torch.float64))
    with pytest.raises(ValueError, match=r"slopes .* must be equal"):
        identity_layers(random_pair(0, 0.5)[0], g, 6, lower)


@pytest.mark.parametrize("slope", [0.0, -0.6])
@pytest.mark.oracle("rankcheck.witnesses.identity_layers", "h(g(x)) and the cost, both in numpy")
@pytest.mark.oracle("rankcheck.witnesses.translate", "h(g(x)) and the sign of g̃, both in numpy")
def test_the_function_and_the_cost_in_numpy(slope):
    far, near = 50 * points((3,), 30).numpy(), points((3,), 30).numpy()
    for depths in ((1, 1), (2, 3), (3, 1)):
        h, g = random_pair(1, slope, depths, (3,))
        upper, inner = plain(h), plain(g)
        bound = inner(near).min(1) - 0.125  # of the points at hand, not of the box
        lower = np.where(bound < 0, bound, 0)
        moved_h, moved_g = map(plain, translate(h, g, torch.tensor(bound)))
        np.testing.assert_allclose(moved_h(moved_g(far)), upper(inner(far)), rtol=1e-9, atol=1e-8)
        assert (moved_g(near) >= 0).all()
        np.testing.assert_allclose(moved_g(far), inner(far) - lower[:, None], atol=1e-9)
        for extra in (0, 1, 4):
            net = plain(identity_layers(h, g, sum(depths) + extra, torch.tensor(bound)))
            middle = (K,) * extra
            assert net.widths == (*inner.widths, *middle, *upper.widths[1:])
            np.testing.assert_allclose(net(near), upper(inner(near)), rtol=1e-9, atol=1e-10)
            np.testing.assert_allclose(
                net.cost, moved_h.cost + moved_g.cost + K * extra, rtol=1e-12
            )
            # The two parts cost what g and h do, but for the two biases at the seam.
            last = inner.biases[-1][:, 0] - lower
            first = upper.biases[0][:, 0] - np.einsum("bij,bj->bi", upper.weights[0], -lower)
            seam = (last**2).sum(-1) + (first**2).sum(-1)
            before = (inner.biases[-1] ** 2).sum((1, 2)) + (upper.biases[0] ** 2).sum((1, 2))
            expected = inner.cost + upper.cost - before + seam + K * extra
            np.testing.assert_allclose(net.cost, expected, rtol=1e-12)
