"""The scaled seam: the function, and the cost term by term."""

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.witnesses.scaled_seam import scaled_seam, seam_cost_bound, seam_cost_estimate
from tests.draws import random_network

from ._plain import plain


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def pair(depth: int = 1) -> tuple[Network, Network]:
    """f(y) = |y| after depth − 1 identities, and g(x) = x − 1 after as many, on x >= 0."""
    f = Network.of([[[1.0], [-1.0]], *[torch.eye(2)] * (depth - 1), [[1.0, 1.0]]])
    biases = [[0.0]] * (depth - 1) + [[-1.0]]
    return f, Network.of([[[1.0]]] * depth, biases)


def test_errors_state_the_rule():
    f, g = pair()
    with pytest.raises(ValueError, match=r"received a shift of shape \(2,\); the shape is \(1,\)"):
        scaled_seam(f, g, tensor([1.0, 1.0]), tensor(0.5))
    with pytest.raises(ValueError, match="n_0 of f is n_L of g"):
        scaled_seam(g, f.merged_after(g).parallel(f), tensor([1.0, 1.0]), tensor(0.5))


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.7])
@pytest.mark.oracle("rankcheck.witnesses.scaled_seam", "f(g(x)) in numpy, where g + t ≥ 0")
def test_the_composition_in_numpy(slope):
    rng = np.random.default_rng(0)
    for before, after in (((2, 3), (3, 1)), ((2, 4, 3), (3, 2)), ((2, 4, 3), (3, 4, 4, 2))):
        g, f = (random_network(widths, slope, (5,), len(widths)) for widths in (before, after))
        x = rng.normal(size=(5, 40, 2))
        inner = plain(g)(x)
        shift = np.maximum(-inner.min(1), 0)
        scale = np.array([1.0, 0.7, 0.5, 0.1, 0.01])
        net = plain(scaled_seam(f, g, torch.tensor(shift), torch.tensor(scale)))
        assert net.widths == (*before, *after[1:])
        np.testing.assert_allclose(net(x), plain(f)(inner), rtol=1e-9, atol=1e-9)
        seam = net.layers(x)[len(before) - 1]
        np.testing.assert_allclose(
            seam, scale[:, None, None] * (inner + shift[:, None]), atol=1e-10
        )


@pytest.mark.parametrize("inner_biases", [True, False])
@pytest.mark.oracle("rankcheck.witnesses.seam_cost_bound", "the terms in numpy; the cost in numpy")
@pytest.mark.oracle("rankcheck.witnesses.seam_cost_estimate", "the terms in numpy; the bound")
def test_the_bounds_of_the_cost_in_numpy(inner_biases):
    """Attained where the first and the last biases at the seam are the only ones."""
    rng = np.random.default_rng(1)
    for before, after in (((2, 3), (3, 1)), ((2, 4, 3), (3, 2)), ((2, 4, 4, 3), (3, 4, 2))):
        g, f = (random_network(widths, 0.25, (6,), len(widths)) for widths in (before, after))
        if not inner_biases:
            g, f = (Network.linear(net.weights, net.slope) for net in (g, f))
        s, t = np.array([0.5, 0.4, 0.3, 0.2, 0.1, 0.01]), rng.uniform(0, 2, (6, 3))
        below, above = plain(g), plain(f)
        p, q = 1 / (len(before) - 1), 1 / (len(after) - 1)
        last, first = below.biases[-1][:, 0], above.biases[0][:, 0]
        moved = first - np.einsum("bij,bj->bi", above.weights[0], t)

        def square(v):
            return np.linalg.norm(v, axis=-1) ** 2

        bound = s ** (2 * p) * (below.cost - square(last)) + s**2 * square(last + t)
        bound += s ** (-2 * q) * (above.cost - square(first)) + s ** (2 - 2 * q) * square(moved)
        args = (f, g, torch.tensor(t), torch.tensor(s))
        np.testing.assert_allclose(seam_cost_bound(*args).numpy(), bound, rtol=1e-12)
        estimate = s ** (2 * p) * below.cost + 2 * s**2 * square(t)
        estimate += s ** (-2 * q) * (1 + 2 * s**2 * square(t)) * above.cost
        np.testing.assert_allclose(seam_cost_estimate(*args).numpy(), estimate, rtol=1e-12)
        cost = plain(scaled_seam(*args)).cost
        assert (cost <= bound * (1 + 1e-12)).all()
        one = (f[1], g[1], *(torch.tensor(array[1]) for array in (t, s)))
        assert seam_cost_bound(*one).item() == pytest.approx(bound[1], rel=1e-12)
        assert seam_cost_estimate(*one).item() == pytest.approx(estimate[1], rel=1e-12)
        if not inner_biases:
            np.testing.assert_allclose(cost, bound, rtol=1e-12)
        if p < 1:  # then 2s² ≤ s^{2/L_g}
            assert (bound <= estimate * (1 + 1e-12)).all()
