"""The error bounds of a layer against the analysis of its roundings (Higham, chapter 3)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from rankcheck.theory.regions.splitting import _Splitting

UNIT = 2.0**-53  # of float64: numpy.finfo(float).eps / 2


@pytest.mark.parametrize("slope", [Fraction(-31, 10), Fraction(9, 10), Fraction(0)])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_bounds_cover_the_worst_case_and_little_more(n, slope):
    """Each product in a sum of n + 1 terms is rounded n + 1 times at most, the bias once.

    A negative pre-activation is multiplied by the slope, and both are rounded first. The bounds
    are not larger than those of the module's text, which take the larger derivative on both sides.
    """
    g = np.random.default_rng(n)
    weights = [g.standard_normal((n, 2)), g.standard_normal((2, n)), np.ones((1, 2))]
    biases = [g.standard_normal(n), g.standard_normal(2), np.zeros(1)]
    a = abs(float(slope))
    layers = [[array[None] for array in arrays] for arrays in (weights, biases)]
    work = _Splitting(*layers, [slope], -np.ones((1, 2)), np.ones((1, 2)), False)
    h, below, above = work.values.copy(), np.zeros((4, 2)), np.zeros((4, 2))
    for layer in range(2):
        W, b = abs(weights[layer]), abs(biases[layer])
        work.enter(layer)
        z, found = work.values[:, 2:], work.errors[:, 2:]
        worst, text = (W.shape[1] + 1) * UNIT, (W.shape[1] + 4) * UNIT
        assert (found >= (below + worst * abs(h)) @ W.T + UNIT * b).all()
        assert (found <= 1.0001 * ((above + text * abs(h)) @ W.T + text * b)).all()
        assert layer > 0 or {*np.sign(z).flat} == {-1, 1}
        h = np.where(z > 0, z, float(slope) * z)
        below = np.where(z > 0, found, a * found + 2 * UNIT * abs(h))
        above = max(1, a) * (found + 2 * UNIT * abs(z))
        work.leave()
