"""Charts: scales, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankcheck.faces.report.axes import Axis
from rankcheck.faces.report.svg import Chart, coordinate


@given(st.floats(1e-12, 1e12), st.floats(1e-12, 1e12), st.floats(1e-12, 1e12))
def test_scales_are_those_of_numpy(one, other, value):
    low, high = sorted((one, other))
    if high < 1.01 * low:
        return
    if low <= value <= high:
        expected = np.interp(value, [low, high], [0, 1])
        assert Axis(low, high).share(value) == pytest.approx(expected, abs=1e-9)
        expected = np.interp(np.log(value), np.log([low, high]), [0, 1])
        assert Axis(low, high, scale="log").share(value) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        (1, 1, "linear"),
        (0, 1, "log"),
        (math.nan, 1, "log"),
    ],
)
def test_an_axis_that_is_none(low, high, scale):
    with pytest.raises(ValueError, match=r"received a .* axis from .* is finite and increases"):
        Axis(low, high, scale=scale)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_chart_shows_finite_numbers(value):
    with pytest.raises(ValueError, match="a chart shows finite numbers"):
        coordinate(value)
    with pytest.raises(ValueError, match="shows"):
        Chart("t", "d", Axis(0, 1), Axis(0, 1)).dots([(value, 0)])
    with pytest.raises(ValueError, match="received 0 for a logarithmic axis"):
        Axis(1, 2, scale="log").share(0)
