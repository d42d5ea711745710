"""The figures of the theory: what is drawn lies where numpy, closed forms and Decimal say."""

import importlib
import math
import sys
from decimal import Decimal

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from .pages import DOCS

sys.path.insert(0, str(DOCS / "_ext"))
theory = importlib.import_module("theory")


@pytest.fixture
def drawn():
    """`drawn(name)`: the axes of a figure."""

    def draw(name):
        axes = Figure().subplots()
        theory.FIGURES[name](axes)
        return axes

    return draw


def lines(axes):
    """The lines that have a label: their points as arrays."""
    named = {line.get_label(): np.array(line.get_data(), dtype=float) for line in axes.lines}
    return {name: points for name, points in named.items() if not name.startswith("_")}


def test_layers_end_at_the_closed_forms(drawn):
    axes = drawn("layers")
    L, found = np.array(theory.DEPTHS), {k: y for k, (_, y) in lines(axes).items()}
    # R(2) = 2·2 − 1; |x| costs L + 2; diag(6, 1.5) costs L Σ s^{2/L}.
    np.testing.assert_allclose(found["constant"], 3 / L)
    np.testing.assert_allclose(found["line + offset"], 1 + 3 / L)
    np.testing.assert_allclose(found["|x|"], 1 + 2 / L)
    np.testing.assert_allclose(found["linear map"], 6 ** (2 / L) + 1.5 ** (2 / L))
    # The band of the shear ends at Σ s^{2/L} over the singular values of its Jacobian.
    s = np.linalg.svd(np.array([[1, 0, 0], [0, 1, 0], [1, -1, 1]]), compute_uv=False)
    band = axes.collections[-1].get_paths()[0].vertices
    assert band[band[:, 0] == 4, 1].min() == pytest.approx((s ** (2 / 4)).sum())


def test_excess_is_that_of_the_closed_forms(drawn):
    axes = drawn("excess")
    found = {name: y for name, (_, y) in lines(axes).items()}
    for place, L in enumerate(theory.DEPTHS):
        p = np.arange(L + 1) / L
        kernels = [1 - p + p * s * s for s in (4.0, 1.5)]
        interpolated = sum((k[1:] / k[:-1]).sum() - L for k in kernels)
        assert found["interpolated"][place] == pytest.approx(interpolated)
        balanced = sum(L * (s ** (2 / L) - 1) for s in (4.0, 1.5))
        assert found["balanced"][place] == pytest.approx(balanced)
        for gamma in theory.GAMMAS:
            r = math.exp(L**-gamma)
            layer = 2 * (r**2 - 1) + (r**-4 - 1) + 2 * (r**-2 - 1) + (r**4 - 1)
            tail = 2 * r ** -(L - 2) + r ** (-2 * (L - 2))
            line = found[f"shear, γ = {gamma:g}"]
            assert line[place] == pytest.approx(layer * (L - 2) / 2 + tail)
    assert axes.lines[-1].get_ydata()[0] == pytest.approx(2 * math.log(6))


def test_regions_tile_the_square_and_have_the_ranks_of_autograd(drawn):
    colours = {"#777777": 0, "#009e73": 1, "#0072b2": 2}
    from matplotlib.colors import to_hex

    found = [(colours[to_hex(patch.get_facecolor())], patch) for patch in drawn("regions").patches]
    area = 0.0
    for _, patch in found:
        corners, turn = patch.get_xy()[:-1], patch.get_xy()[1:]
        area += abs((corners[:, 0] * turn[:, 1] - corners[:, 1] * turn[:, 0]).sum()) / 2
    assert area == pytest.approx((2 * theory.SIDE) ** 2)
    net, seen = theory._seven_and_four(), set()

    def f(x):
        for W, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
            x = torch.relu(W @ x + b)
        return net.weights[-1] @ x + net.biases[-1]

    generator = torch.Generator().manual_seed(0)
    for x in (torch.rand(60, 2, dtype=torch.float64, generator=generator) * 2 - 1) * theory.SIDE:
        rank = np.linalg.matrix_rank(torch.autograd.functional.jacobian(f, x).numpy(), tol=1e-9)
        ranks = {k for k, patch in found if patch.get_path().contains_point(x, radius=-1e-3)}
        assert ranks <= {rank}
        seen |= ranks
    assert seen == {0, 1, 2}


def test_widths_cross_where_the_formulas_do(drawn):
    found = lines(drawn("widths"))
    slides = dict(found["depth 2, slides: beyond from d = 44"].T)
    assert "depth 2, sharper: beyond from d = 38" in found
    # The formula of the slides at |F − N|² = ε, with N_{d,n} as a difference of binomials.
    pi, e = Decimal(math.pi), Decimal(1).exp()
    tau = 1 / (5 * e * pi)
    delta, B = (tau * tau / 2).sqrt(), Decimal(2) ** 44
    n = 44 * 44
    harmonics = Decimal(math.comb(44 + n - 1, 43) - math.comb(44 + n - 3, 43))
    gain = (tau * tau - delta * delta) / (2 * tau)
    exact = (harmonics.sqrt() * gain - B) / (B * B * (1 + Decimal(176).sqrt()))
    assert slides[44] == pytest.approx(float(exact), rel=1e-3)
    d, enough = found["depth 3"]
    np.testing.assert_allclose(enough, 16 * np.pi * d**5 * 50 * np.e**2 * np.pi**2, rtol=1e-3)
