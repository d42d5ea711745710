"""The Lipschitz approximator, its cells and its largest error, against numpy and trial."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.theory.networks.piecewise_linear import PiecewiseLinear
from rankcheck.theory.witnesses.lipschitz import (
    cells_needed,
    interpolate,
    interpolate_cells,
    supremum_error,
)

from ._plain import plain


def number(x: float) -> torch.Tensor:
    return torch.tensor(x, dtype=torch.float64)


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match=r"error = 0; .*R > 0, L >= 0 and an error > 0"):
        cells_needed(1, 1, 0)
    with pytest.raises(ValueError, match="R = -1"):
        cells_needed(-1, 1, 1)
    with pytest.raises(ValueError, match="received -2 cells"):
        interpolate(torch.sin, number(1.0), -2)
    assert math.isfinite(cells_needed(1e300, 1, 1))


def continued(x, knots, values):
    """numpy.interp between the knots, the outer chords beyond them."""
    inside = np.clip(x, knots[0], knots[-1])
    left = (values[1] - values[0]) / (knots[1] - knots[0])
    right = (values[-1] - values[-2]) / (knots[-1] - knots[-2])
    beyond = np.where(x < knots[0], left, right) * (x - inside)
    return np.interp(inside, knots, values) + beyond


@pytest.mark.oracle("rankcheck.witnesses.interpolate", "numpy.interp, and the outer chords")
@pytest.mark.oracle("rankcheck.witnesses.interpolate_cells", "numpy.interp, and the outer chords")
def test_interpolants_by_numpy():
    radius = np.array([1.0, 2.5])
    x = np.linspace(-4, 4, 161)

    def f(t):
        return torch.sin(3 * t) + t * t / 2 + 1

    def g(t):
        return np.sin(3 * t) + t * t / 2 + 1

    for cells in (1, 2, 7):
        ratio = Fraction(7, 2)
        for made, step in (
            (interpolate(f, torch.tensor(radius), cells), radius / cells),
            (interpolate_cells(f, torch.tensor(radius), ratio, cells), radius / 3.5),
        ):
            assert made.radius.tolist() == radius.tolist()
            assert made.width == 2 * cells
            values = plain(made.network())(x[:, None])[..., 0]
            called = made(torch.tensor(x).expand(2, 161)).numpy()
            for i in range(2):
                knots = step[i] * np.arange(-cells, cells + 1)
                expected = continued(x, knots, g(knots))
                np.testing.assert_allclose(values[i], expected, atol=1e-11)
                np.testing.assert_allclose(called[i], expected, atol=1e-11)
                np.testing.assert_allclose(made.knots[i].numpy(), knots, atol=1e-15)
                slopes = np.diff(g(knots)) / np.diff(knots)
                np.testing.assert_allclose(made.slopes()[i].numpy(), slopes, atol=1e-11)
                assert made.lipschitz()[i].item() == pytest.approx(np.abs(slopes).max())
    constant = interpolate(f, torch.tensor(radius), 0)
    assert constant.width == 0
    assert constant.lipschitz().tolist() == [0, 0]
    assert constant(torch.tensor(x).expand(2, 161)).tolist() == [[g(0.0)] * 161] * 2
    np.testing.assert_allclose(plain(constant.network())(x[:, None]), g(0.0))


@pytest.mark.oracle("rankcheck.witnesses.cells_needed", "trial of one cell more, exactly")
def test_cells_by_trial():
    for numerator in range(1, 60):
        for radius, lipschitz in ((1, Fraction(numerator, 7)), (Fraction(5, 3), 0.3 * numerator)):
            for error in (1, 0.1 * numerator, Fraction(2, 9)):
                slope, allowed = Fraction(lipschitz), Fraction(error)
                n = 0 if slope * radius <= allowed else 1
                while n and slope * radius / n / 2 > allowed:
                    n += 1
                assert cells_needed(radius, lipschitz, error) == n


@pytest.mark.oracle("rankcheck.witnesses.supremum_error", "numpy.interp at all common breakpoints")
def test_supremum_errors_on_a_grid_with_all_breakpoints():
    """Breakpoints at multiples of 1/12, knots at multiples of 1/cells of R or beyond, R = 1.

    The network interpolates f, or another function, which it meets at no knot.
    """
    rng = np.random.default_rng(0)
    fine = np.arange(-60, 61) / 60
    for cells, ratio in ((1, 1), (2, 2), (3, 3), (5, 5), (4, 3), (1, 2)):
        for span in (8, 12, 14):  # inside of [−1, 1], all of it, and beyond
            inner = np.sort(rng.choice(np.arange(1 - span, span), 5, replace=False))
            breakpoints = np.array([-span, *inner, span]) / 12
            # The other function is large inside, so the error is largest at a knot of N.
            values = rng.normal(size=(2, 7)) * [[1] * 7, [0, 2, 4, 8, 4, 2, 0]]
            f, other = (PiecewiseLinear(torch.tensor(breakpoints), torch.tensor(v)) for v in values)
            knots = np.arange(-cells, cells + 1) / ratio
            true = continued(fine, breakpoints, values[0])
            for g, v in ((f, values[0]), (other, values[1])):
                N = interpolate_cells(g, number(1.0), Fraction(ratio), cells)
                near = continued(fine, knots, continued(knots, breakpoints, v))
                expected = np.abs(true - near).max()
                assert supremum_error(f, N).item() == pytest.approx(expected, abs=1e-12)
