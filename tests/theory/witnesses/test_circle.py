"""Points, tangents and antipodes on the circle."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.witnesses.circle import (
    antipodal_bracket,
    antipodal_difference,
    point,
    tangent,
)

from ._plain import plain


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match=r"received a network of widths \(2, 2\)"):
        antipodal_difference(Network.of([torch.eye(2)]), torch.tensor(0.0, dtype=torch.float64))


@pytest.mark.oracle("rankcheck.witnesses.point", "numpy.cos and numpy.sin of 2 arctan m")
@pytest.mark.oracle("rankcheck.witnesses.tangent", "the derivative of (cos φ, sin φ), in numpy")
def test_points_and_tangents_by_the_angle():
    m = np.linspace(-1, 1, 33).reshape(3, 11)
    angle = 2 * np.arctan(m)
    x = np.stack((np.cos(angle), np.sin(angle)), -1)
    np.testing.assert_allclose(point(torch.tensor(m)).numpy(), x, atol=1e-15)
    turned = np.stack((-np.sin(angle), np.cos(angle)), -1)
    np.testing.assert_allclose(tangent(torch.tensor(m)).numpy(), turned, atol=1e-15)


def random_heights(count, slope):
    g = torch.Generator().manual_seed(count)
    shapes = [(5, 2), (4, 5), (1, 4)]
    # Multiples of 1/16, so that Fractions of them stay short.
    weights = [torch.randint(-32, 33, (count, *s), generator=g).double() / 16 for s in shapes]
    biases = [torch.randint(-32, 33, (count, s[0]), generator=g).double() / 16 for s in shapes]
    return Network(weights, biases, slope)


@pytest.mark.oracle(
    "rankcheck.witnesses.antipodal_difference", "g(cos φ, sin φ) − g(−cos φ, −sin φ) in numpy"
)
def test_differences_of_antipodes_by_the_angle():
    g = random_heights(20, -0.25)
    m = torch.linspace(-1, 1, 20, dtype=torch.float64)
    angle = 2 * np.arctan(m.numpy())
    x = np.stack((np.cos(angle), np.sin(angle)), -1)[:, None]
    expected = (plain(g)(x) - plain(g)(-x))[:, 0, 0]
    np.testing.assert_allclose(antipodal_difference(g, m).numpy(), expected, atol=1e-12)
    assert np.abs(expected).max() > 1


def exact_height(net, index, x, slope):
    """g(x) for one network of a batch and a rational point, in Fractions."""
    for layer, (W, b) in enumerate(zip(net.weights, net.biases, strict=True), 1):
        rows = [[Fraction(w) for w in row] for row in W[index].tolist()]
        shifts = [Fraction(c) for c in b[index].tolist()]
        z = [
            sum((w * t for w, t in zip(row, x, strict=True)), c)
            for row, c in zip(rows, shifts, strict=True)
        ]
        x = z if layer == net.depth else [t if t >= 0 else slope * t for t in z]
    return x[0]


@pytest.mark.oracle(
    "rankcheck.witnesses.antipodal_bracket",
    "the signs at both ends in Fractions, and the closed form for linear g",
)
def test_brackets_hold_antipodes_of_one_value():
    g = random_heights(12, Fraction(-1, 4))
    low, high = antipodal_bracket(g, 12)
    for i in range(12):
        signs = []
        for end in (low[i], high[i]):
            m = Fraction(end.item())
            x = [(1 - m * m) / (1 + m * m), 2 * m / (1 + m * m)]
            there = exact_height(g, i, x, Fraction(-1, 4))
            signs.append(there - exact_height(g, i, [-t for t in x], Fraction(-1, 4)))
        assert signs[0] * signs[1] <= 0
        assert Fraction(high[i].item()) - Fraction(low[i].item()) == Fraction(1, 2**11)
    angles = np.linspace(0.1, 3, 9)
    a, b = np.cos(angles), np.sin(angles)
    linear = Network(
        [torch.tensor(np.stack((a, b), -1)).unsqueeze(-2)], [torch.zeros(9, 1).double()]
    )
    below, above = (end.numpy() for end in antipodal_bracket(linear, 40))
    # a (1 − m²) + 2 b m = 0; the product of the roots is −1.
    roots = np.stack(((b - 1) / a, (b + 1) / a))
    inside = np.where(np.abs(roots[0]) <= 1, roots[0], roots[1])
    assert (below <= inside + 1e-11).all()
    assert (inside <= above + 1e-11).all()
    np.testing.assert_allclose(above - below, 2.0**-39, rtol=1e-3)
