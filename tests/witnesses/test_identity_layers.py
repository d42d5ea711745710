"""The identity-layer witness: its depth, its function on a box, its exact cost."""

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.networks.bounds import interval_bounds
from rankcheck.witnesses.identity_layers import identity_layers, translate

from ..draws import random_network
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


def test_without_the_translation_the_function_is_lost():
    """With a false lower bound of 0 the function changes."""
    h, g = random_pair(4, 0.0)
    assert interval_bounds(g, *box())[0].min() < 0
    x = points()
    assert (g(x) < 0).any()
    untranslated = identity_layers(h, g, 8, torch.zeros(K, dtype=torch.float64))
    assert (untranslated(x) - h(g(x))).abs().max() > 0.1


def test_beyond_the_box_the_function_may_differ():
    h, g = random_pair(4, 0.0)
    net = identity_layers(h, g, 8, interval_bounds(g, *box())[0])
    far = 50 * points()
    assert (net(far) - h(g(far))).abs().max() > 0.1


def test_a_positive_image_is_not_moved():
    h, g = random_pair(2, 0.0)
    moved_h, moved_g = translate(h, g, torch.tensor([0.5, -1.0], dtype=torch.float64))
    shift = moved_g.biases[-1] - g.biases[-1]
    torch.testing.assert_close(shift, torch.tensor([0.0, 1.0], dtype=torch.float64))
    torch.testing.assert_close(moved_h.biases[0], h.biases[0] - h.weights[0][:, 1])


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


def test_on_balls_the_function_and_the_cost_are_exact():
    h, g = (net.map_arrays(BallArray.exact) for net in random_pair(7, 0.25))
    low, high = (BallArray.exact(end) for end in box())
    lower, _ = interval_bounds(g, low, high)
    net = identity_layers(h, g, 7, lower)
    x = BallArray.exact(points(number=2))
    assert bool((net(x) == h(g(x))).all())
    moved_h, moved_g = translate(h, g, lower)
    assert bool(net.cost() == moved_g.cost() + 2 * K + moved_h.cost())


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
