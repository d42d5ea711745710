"""Piecewise-linear functions against numpy's interpolation and by hand."""

import numpy as np
import pytest
import torch
from scipy.signal import sawtooth

from rankcheck.theory.networks.piecewise_linear import PiecewiseLinear, zigzag


def random_function(seed: int, batch: tuple[int, ...] = (), pieces: int = 5) -> PiecewiseLinear:
    generator = torch.Generator().manual_seed(seed)
    widths = torch.rand(*batch, pieces + 1, generator=generator, dtype=torch.float64) + 0.1
    values = torch.randn(*batch, pieces + 1, generator=generator, dtype=torch.float64)
    return PiecewiseLinear(widths.cumsum(-1) - 2, values)


@pytest.mark.parametrize("pieces", [1, 2, 3, 9])
def test_values_are_the_interpolation(pieces):
    f = random_function(pieces, pieces=pieces)
    x = torch.linspace(f.breakpoints[0], f.breakpoints[-1], 57, dtype=torch.float64)
    expected = np.interp(x.numpy(), f.breakpoints.numpy(), f.values.numpy())
    np.testing.assert_allclose(f(x), expected, atol=1e-13)
    torch.testing.assert_close(f(f.breakpoints), f.values)


@pytest.mark.parametrize("pieces", [1, 2, 4])
def test_the_outer_pieces_go_on(pieces):
    f = random_function(pieces, pieces=pieces)
    left, right = f.breakpoints[:1] - 3, f.breakpoints[-1:] + 2
    torch.testing.assert_close(f(left), f.values[:1] - 3 * f.slopes[:1])
    torch.testing.assert_close(f(right), f.values[-1:] + 2 * f.slopes[-1:])


def test_batches_are_loops():
    f = random_function(0, (2, 3))
    x = torch.linspace(-3, 4, 11, dtype=torch.float64)
    batched = f(x.expand(2, 3, 11))
    for i in range(2):
        for j in range(3):
            one = PiecewiseLinear(f.breakpoints[i, j], f.values[i, j])
            torch.testing.assert_close(batched[i, j], one(x))
            torch.testing.assert_close(f.lipschitz()[i, j], one.lipschitz())
    shared = PiecewiseLinear(f.breakpoints[0, 0], f.values)
    assert shared(x).shape == (2, 3, 11)


def test_slopes_and_their_variation():
    b = torch.tensor([-1.0, 0.0, 0.5, 2.0], dtype=torch.float64)
    f = PiecewiseLinear(b, torch.tensor([0.0, 2.0, 1.0, 1.0], dtype=torch.float64))
    assert f.slopes.tolist() == [2, -2, 0]
    assert f.lipschitz().item() == 2
    again = PiecewiseLinear.from_slopes(b, f.slopes, torch.tensor(0.0, dtype=torch.float64))
    assert torch.equal(again.values, f.values)
    line = PiecewiseLinear(b[:2], f.values[:2])
    assert line.slopes.tolist() == [2]


def test_zigzag_has_its_teeth():
    radius = torch.tensor([1.0, 3.0], dtype=torch.float64)
    lipschitz = torch.tensor([2.0, 0.5], dtype=torch.float64)
    signs = torch.tensor([1.0, -1.0, -1.0, 1.0], dtype=torch.float64)
    f = zigzag(radius, lipschitz, 2, signs)
    assert f.breakpoints.tolist()[0] == [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1]
    assert f.values.tolist()[0] == [0, 0.5, 0, -0.5, 0, -0.5, 0, 0.5, 0]
    torch.testing.assert_close(f.slopes.abs(), lipschitz.unsqueeze(-1).expand(2, 8))
    assert zigzag(radius, lipschitz, 2).values.min() == 0


@pytest.mark.parametrize("cells", [1, 2, 5])
@pytest.mark.oracle("rankcheck.networks.zigzag", "scipy.signal.sawtooth")
def test_zigzag_against_a_triangle_wave(cells):
    """One period a cell h, from 0 to L·h/2 and back; with signs, each period times its own."""
    radius, lipschitz = 1.5, 0.75
    h = radius / cells
    x = np.linspace(-radius, radius, 173)
    wave = lipschitz * h / 2 * (1 + sawtooth(2 * np.pi * x / h, width=0.5)) / 2
    ends = (torch.tensor(value, dtype=torch.float64) for value in (radius, lipschitz))
    r, L = ends
    np.testing.assert_allclose(zigzag(r, L, cells)(torch.from_numpy(x)), wave, atol=1e-13)
    signs = np.random.default_rng(cells).choice([-1.0, 1.0], 2 * cells)
    turned = wave * signs[np.clip(np.floor((x + radius) / h).astype(int), 0, 2 * cells - 1)]
    f = zigzag(r, L, cells, torch.from_numpy(signs))
    np.testing.assert_allclose(f(torch.from_numpy(x)), turned, atol=1e-13)


def test_errors_state_the_rule():
    row = torch.zeros(3, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"\(3,\) and values of shape \(2,\); .* two at least"):
        PiecewiseLinear(row, row[:2])
    with pytest.raises(ValueError, match="two at least"):
        PiecewiseLinear(row[:1], row[:1])
    with pytest.raises(ValueError, match="do not broadcast"):
        PiecewiseLinear(row.expand(2, 3), row.expand(4, 3))
    with pytest.raises(ValueError, match="received 0 cells; it takes at least one"):
        zigzag(row[0], row[0], 0)
