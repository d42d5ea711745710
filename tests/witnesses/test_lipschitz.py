"""The Lipschitz approximator: each clause of the theorem, and failures with fewer cells."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.networks.piecewise_linear import PiecewiseLinear, zigzag
from rankcheck.witnesses.lipschitz import (
    cells_needed,
    interpolate,
    interpolate_cells,
    supremum_error,
)

from ._plain import plain

ROUNDING = 1 + 1e-12


def number(x: float) -> torch.Tensor:
    return torch.tensor(x, dtype=torch.float64)


def approximator(f, radius, lipschitz, error):
    """The approximator of the theorem, for a function that is L-Lipschitz on [-R, R]."""
    return interpolate(f, number(float(radius)), cells_needed(radius, lipschitz, error))


def random_lipschitz(seed: int, radius: float, lipschitz: float, steep: bool) -> PiecewiseLinear:
    """A function on [-R, R] with slopes in [-L, L], or ±L."""
    generator = torch.Generator().manual_seed(seed)
    pieces = 1 + seed % 9
    inner = torch.rand(pieces + 1, generator=generator, dtype=torch.float64).cumsum(-1)
    breakpoints = radius * (2 * (inner - inner[0]) / (inner[-1] - inner[0]) - 1)
    slopes = 2 * torch.rand(pieces, generator=generator, dtype=torch.float64) - 1
    return PiecewiseLinear.from_slopes(
        breakpoints, lipschitz * (slopes.sign() if steep else slopes), number(seed - 7.5)
    )


def test_cells_of_the_printed_length():
    """For whole ρ = RL/ε they do; for ρ = 7/4 up takes too many units and down errs too much."""
    for ratio in (1, 2, 5):
        f = random_lipschitz(ratio, 2.0, 1.0, steep=False)
        N = interpolate_cells(f, number(2.0), Fraction(ratio), ratio)
        torch.testing.assert_close(N.knots, torch.linspace(-2, 2, 2 * ratio + 1).double())
        assert supremum_error(f, N) <= 2.0 / ratio / 2 * ROUNDING
    tent = PiecewiseLinear(
        torch.tensor([-1.75, -1, 0, 1, 1.75], dtype=torch.float64),
        torch.tensor([0.25, 1, 0, 1, 0.25], dtype=torch.float64),
    )
    down = interpolate_cells(tent, number(1.75), Fraction(7, 4), 1)
    assert down.knots.tolist() == [-1, 0, 1]
    assert supremum_error(tent, down).item() == pytest.approx(1.5)
    up = interpolate_cells(tent, number(1.75), Fraction(7, 4), 2)
    assert up.width == 4
    assert down(torch.tensor([1.75, -1.75], dtype=torch.float64)).tolist() == [1.75, 1.75]


def test_the_zigzag_is_tight_and_one_cell_less_fails():
    radius, lipschitz, cells = 3.0, 2.0, 6
    error = lipschitz * radius / cells / 2
    f = zigzag(number(radius), number(lipschitz), cells)
    N = approximator(f, radius, lipschitz, error)
    assert N.width == 2 * cells
    assert supremum_error(f, N).item() == pytest.approx(error, rel=1e-14)
    for seed in range(20):
        f = random_lipschitz(seed, radius, lipschitz, steep=True)
        assert supremum_error(f, interpolate(f, number(radius), cells)) <= error * ROUNDING
    # With three cells instead of six, on the zigzag with the largest error for three.
    worst = zigzag(number(radius), number(lipschitz), 3)
    assert supremum_error(worst, interpolate(worst, number(radius), 3)) > 1.9 * error


def test_batches_are_loops_and_gradients_pass():
    generator = torch.Generator().manual_seed(3)
    radius = 1 + torch.rand(4, generator=generator, dtype=torch.float64)
    values = torch.randn(4, 6, generator=generator, dtype=torch.float64).requires_grad_()
    breakpoints = radius.unsqueeze(-1) * torch.linspace(-1, 1, 6, dtype=torch.float64)
    f = PiecewiseLinear(breakpoints, values)
    N = interpolate(f, radius, 3)
    errors = supremum_error(f, N)
    assert errors.shape == (4,)
    for i in range(4):
        one = PiecewiseLinear(breakpoints[i], values[i])
        alone = interpolate(one, radius[i], 3)
        torch.testing.assert_close(errors[i], supremum_error(one, alone))
        torch.testing.assert_close(N.gamma[i], alone.gamma)
        torch.testing.assert_close(N.slopes()[i], alone.slopes())
    errors.sum().backward()
    assert values.grad is not None
    assert values.grad.isfinite().all()
    assert values.grad.abs().sum() > 0


def test_the_cell_error_is_the_sharp_one():
    """On a cell of length h with chord slope c the error is at most L h/2 - c² h/(2L), attained."""
    L, h = 2.0, 0.5
    for c in (0.0, 0.5, -1.25, 2.0):
        peak = h * (L + c) / (2 * L)
        f = PiecewiseLinear(
            torch.tensor([-h, 0.0, max(peak, 1e-9), h + 1e-9], dtype=torch.float64),
            torch.tensor([0.0, 0.0, L * peak, c * h], dtype=torch.float64),
        )
        error = supremum_error(f, interpolate(f, number(h), 1)).item()
        assert error == pytest.approx(L * h / 2 - c * c * h / (2 * L), abs=1e-8)
        assert error <= L * h / 2 + 1e-8


def test_errors_state_the_rule():
    with pytest.raises(ValueError, match=r"error = 0; .*R > 0, L >= 0 and an error > 0"):
        cells_needed(1, 1, 0)
    with pytest.raises(ValueError, match="R = -1"):
        cells_needed(-1, 1, 1)
    with pytest.raises(ValueError, match="received -2 cells"):
        interpolate(torch.sin, number(1.0), -2)
    assert math.isfinite(cells_needed(1e300, 1, 1))


def test_on_balls_the_clauses_are_exact():
    radius, lipschitz = BallArray.exact(Fraction(3, 2)), BallArray.exact(2)
    f = zigzag(radius, lipschitz, 3)
    N = interpolate(f, radius, 3)
    assert bool(supremum_error(f, N) == Fraction(1, 2))
    assert bool(N.lipschitz() == 0)
    # Slopes of ±2, ε = 1, ρ = RL/ε = 3: two cells of 2ε/L - that is, of length 3/4 <= 1.
    coarse = interpolate(f, radius, cells_needed(Fraction(3, 2), 2, 1))
    assert coarse.width == 4
    assert bool(supremum_error(f, coarse) <= 1)
    assert bool(coarse.lipschitz() <= 2)
    x = BallArray.exact([[Fraction(1, 3)], [Fraction(-7, 5)], [9]])
    assert bool((coarse.network()(x)[:, 0] == coarse(x[:, 0])).all())


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
