"""Charts: scales, ticks, what is written, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankcheck.report.axes import Axis, steps
from rankcheck.report.svg import Chart, apart, coordinate


@given(st.floats(-1e3, 1e3), st.floats(1e-6, 1e6), st.integers(2, 12))
def test_steps_are_multiples_of_a_round_number(shift, span, count):
    low = shift * span
    high = low + span
    found = steps(low, high, count)
    assert len(found) <= count
    slack = 1e-9 * (abs(low) + span)
    assert all(low - slack <= value <= high + slack for value in found)
    if len(found) > 1:
        step = (found[-1] - found[0]) / (len(found) - 1)
        lead = step / 10 ** math.floor(math.log10(step) + 1e-6)
        assert min(abs(lead - m) for m in (1, 2, 5)) < 1e-3
        np.testing.assert_allclose(
            np.array(found) / step, np.round(np.array(found) / step), atol=1e-3
        )


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


@given(st.lists(st.floats(0, 300), max_size=8))
def test_labels_are_moved_apart(places):
    moved = apart(places, 22, 0, 300)
    order = sorted(range(len(places)), key=places.__getitem__)
    gaps = np.diff([moved[i] for i in order])
    assert (gaps >= 22 - 1e-9).all()
    assert all(0 <= place <= 300 for place in moved)
    if (np.diff(sorted(places)) >= 22).all():
        assert moved == places
