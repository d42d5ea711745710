"""Cheapest networks of constants, and the last bias as a hidden unit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import torch

from rankcheck.networks import Network
from rankcheck.theory.witnesses.constants import (
    constant_network,
    last_bias_as_unit,
    least_constant_cost,
)

from ._plain import plain

GRID = torch.linspace(-4, 4, 33, dtype=torch.float64)


def test_a_constant_has_a_hidden_layer():
    with pytest.raises(ValueError, match="received depth 1"):
        constant_network(GRID, 1)


def test_an_affine_map_has_no_unit_beside_its_last_bias():
    with pytest.raises(ValueError, match="depth 1"):
        last_bias_as_unit(Network.of([[[1.0]]]))


@pytest.mark.oracle(
    "rankcheck.witnesses.constant_network", "its values in numpy, and v² or 2|v| − 1"
)
@pytest.mark.parametrize("depth", [2, 3, 6])
def test_constants_in_numpy(depth):
    v = GRID.numpy()
    net = plain(constant_network(GRID, depth))
    assert net.widths == (1,) * (depth + 1)
    x = np.linspace(-5, 5, 11)[:, None]
    np.testing.assert_allclose(net(x)[..., 0], np.broadcast_to(v[:, None], (33, 11)), atol=1e-14)
    expected = [t * t if abs(t) <= 1 else 2 * abs(t) - 1 for t in v]
    np.testing.assert_allclose(net.cost, expected, atol=1e-14)


@pytest.mark.parametrize(("depth", "largest"), [(2, 4), (3, 2)])
@pytest.mark.oracle(
    "rankcheck.witnesses.least_constant_cost",
    "scipy.optimize.minimize over the parameters of networks of one unit a layer",
)
def test_no_parameters_are_cheaper(depth, largest):
    """At x = 0 the parameters are b_1, w_2, b_2, ..., w_L; b_L is what they leave of v."""

    def cost(parameters, v):
        inner, outer = [0.0, *parameters[:-1]], parameters[-1]
        alpha = 0.0
        for w, b in zip(inner[::2], inner[1::2], strict=True):
            alpha = max(0.0, w * alpha + b)
        return float(parameters @ parameters) + (v - outer * alpha) ** 2

    g = np.random.default_rng(depth)
    for v in (0.0, 0.5, -1.0, 1.08, -1.3, 2.0, -largest):
        starts = g.uniform(0, 2, (4, 2 * depth - 2))
        starts[:, -1] *= np.sign(v)
        found = min(scipy.optimize.minimize(cost, start, (v,), tol=1e-10).fun for start in starts)
        least = least_constant_cost(torch.tensor(v)).item()
        assert found == pytest.approx(least, abs=1e-5)


@pytest.mark.oracle("rankcheck.witnesses.last_bias_as_unit", "both networks and costs in numpy")
def test_the_last_bias_as_a_unit_in_numpy():
    g = np.random.default_rng(0)
    x = 3 * g.normal(size=(4, 20, 2))
    for widths in ((2, 3, 2), (2, 4, 3, 1)):
        pairs = list(zip(widths[1:], widths[:-1], strict=True))
        weights = [torch.tensor(g.normal(size=(4, m, n))) for m, n in pairs]
        net = Network(weights, [torch.tensor(g.normal(size=(4, m))) for m, _ in pairs], -0.5)
        moved, before = plain(last_bias_as_unit(net)), plain(net)
        np.testing.assert_allclose(moved(x), before(x), atol=1e-12)
        np.testing.assert_allclose(moved.cost, before.cost + 1)
        assert moved.widths == (*widths[:-2], widths[-2] + 1, widths[-1])
        assert not moved.biases[-1].any()
