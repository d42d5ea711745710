"""Expansions of the cost of a linear map against direct sums; the secant bound."""

import math

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.costs.corrections import (
    cost_expansion,
    distortion,
    excess,
    expansion_remainder,
    linear_cost,
    log_gram_squared,
    secant_cost,
    second_order,
)

SPECTRUM = (3.0, 1.0, 0.25)


def with_spectrum(values: tuple[float, ...]) -> torch.Tensor:
    """A 4 × 3 matrix with these singular values and zeros, in a generic position."""
    generator = torch.Generator().manual_seed(len(values))
    left, right = (
        torch.linalg.qr(torch.randn(n, n, dtype=torch.float64, generator=generator)).Q
        for n in (4, 3)
    )
    count = len(values)
    return left[:, :count] @ torch.diag(torch.tensor(values)).double() @ right[:, :count].mT


@pytest.mark.parametrize("depth", [1, 2, 7, 50])
@pytest.mark.parametrize("values", [SPECTRUM, SPECTRUM[:2], (0.5,)])
@pytest.mark.oracle("rankcheck.costs.linear_cost", "sums over the spectrum")
@pytest.mark.oracle("rankcheck.costs.log_gram_squared", "sums over the spectrum")
@pytest.mark.oracle("rankcheck.costs.cost_expansion", "sums over the spectrum")
@pytest.mark.oracle("rankcheck.costs.expansion_remainder", "sums over the spectrum")
def test_expansion_against_sums(values, depth):
    A = with_spectrum(values)
    logs = [math.log(s) for s in values]
    cost = depth * sum(s ** (2 / depth) for s in values)
    assert linear_cost(A, depth).item() == pytest.approx(cost)
    assert log_gram_squared(A).item() == pytest.approx(4 * sum(v * v for v in logs))
    three = depth * len(values) + 2 * sum(logs) + 2 * sum(v * v for v in logs) / depth
    assert cost_expansion(A, depth).item() == pytest.approx(three)
    lagrange = [depth * abs(2 * v / depth) ** 3 / 6 * math.exp(max(0, 2 * v / depth)) for v in logs]
    assert expansion_remainder(A, depth).item() == pytest.approx(sum(lagrange), rel=1e-11)
    assert abs(cost - three) <= sum(lagrange) + 1e-12


@pytest.mark.parametrize("depth", [1, 2, 7, 50])
@pytest.mark.parametrize("values", [SPECTRUM, SPECTRUM[:2], (0.5,), (1.0625,)])
@pytest.mark.oracle("rankcheck.costs.second_order", "sums over the spectrum")
def test_second_order_bounds_what_the_logarithms_leave(values, depth):
    A = with_spectrum(values)
    t = [2 * math.log(s) / depth for s in values]
    rest = depth * sum(math.expm1(u) - u for u in t)
    least = second_order(A, depth).item()
    assert least == pytest.approx(depth * sum(u * u / 2 + u**3 / 6 for u in t))
    assert least <= rest + 1e-15
    assert least >= 0.99 * rest or max(map(abs, t)) > 0.3


@pytest.mark.oracle("rankcheck.costs.distortion", "a sum over the spectrum")
def test_distortion_vanishes_for_partial_isometries_only():
    assert distortion(with_spectrum((1.0, 1.0))).item() == pytest.approx(0, abs=1e-14)
    expected = sum((s - 1 / s) ** 2 for s in SPECTRUM)
    assert distortion(with_spectrum(SPECTRUM)).item() == pytest.approx(expected)
    assert distortion(with_spectrum(SPECTRUM[:1])).item() == pytest.approx((3 - 1 / 3) ** 2)


@pytest.mark.oracle("rankcheck.costs.excess", "numpy.linalg.norm, parameter by parameter")
def test_excess_written_out():
    g = np.random.default_rng(0)
    weights = [g.standard_normal((2, *shape)) for shape in ((3, 2), (4, 3), (1, 4))]
    biases = [g.standard_normal((2, n)) for n in (3, 4, 1)]
    net = Network(*([torch.from_numpy(x) for x in arrays] for arrays in (weights, biases)))
    for k in (0, 1, torch.tensor([1, 2])):
        each = [int(k)] * 2 if isinstance(k, int) else k.tolist()
        expected = [
            sum(np.linalg.norm(x[i]) ** 2 for x in (*weights, *biases)) - 3 * each[i]
            for i in range(2)
        ]
        np.testing.assert_allclose(excess(net, k).numpy(), expected, rtol=1e-13)


@pytest.mark.parametrize("slope", [0.0, 0.5, -0.5, 0.9])
@pytest.mark.oracle("rankcheck.costs.secant_cost", "a grid of single units")
def test_secant_cost_is_the_least_of_one_unit(slope):
    """Against a grid over all units that rise by 1 from −r to r."""
    radius = 1.5
    net = [
        (w, b)
        for w in torch.linspace(0, 2, 161).tolist()
        for b in torch.linspace(-2, 2, 321).tolist()
    ]

    def rise(w: float, b: float) -> float:
        ends = [w * t + b for t in (radius, -radius)]
        high, low = (z if z >= 0 else slope * z for z in ends)
        return abs(high - low)

    grid = min(2 * math.hypot(w, b) / rise(w, b) for w, b in net if rise(w, b) > 1e-9)
    one = torch.tensor(1.0, dtype=torch.float64)
    least = secant_cost(one, radius * one, slope).item()
    assert least <= grid <= 1.01 * least
    assert secant_cost(3 * one, radius * one, slope * one).item() == pytest.approx(3 * least)


def test_noise_leaves_out_what_may_be_zero():
    """A singular value below the noise counts in none of the terms."""
    A = torch.diag(torch.tensor([3.0, 2.0, 1e-9], dtype=torch.float64))
    for of in (cost_expansion, expansion_remainder):
        torch.testing.assert_close(of(A, 4, 1e-8), of(A[:2, :2], 4), rtol=1e-14, atol=0)
    torch.testing.assert_close(log_gram_squared(A, 1e-8), log_gram_squared(A[:2, :2]))
