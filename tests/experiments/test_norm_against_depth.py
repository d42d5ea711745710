"""bottleneck.figure-1: what is trained and measured, against numpy, and its record."""

import numpy as np
import pytest
from safetensors.numpy import load_file

from rankcheck.experiments.figures.norm_against_depth import (
    curves,
    falling,
    ranges,
    shallow_range,
    worse_fit,
)
from rankcheck.experiments.records import recorded
from rankcheck.experiments.result import Run

from .toy import changed

NAME = "bottleneck.figure-1"


@pytest.mark.slow
def test_the_measurements_are_those_of_the_kept_network(tiny):
    result, folder = tiny(NAME)
    for run in result.runs:
        found = load_file(folder / "networks" / f"{run.part}-{run.seed}.safetensors")
        depth = run.settings["depth"]
        assert len(found) == 2 * depth
        norm = sum((array.astype(float) ** 2).sum() for array in found.values())
        assert run.measured["norm"] == pytest.approx(norm, rel=1e-4)
        middle = {3: 1, 4: 1, 5: 2}[depth]  # from 0: W_2, W_2 and W_3
        s = np.linalg.svd(found[f"layers.{middle}.weight"], compute_uv=False)
        assert run.measured["rank"] == (s > 0.5).sum()


def made(depth, norm, rank, error=0.01, seed=0):
    measured = {"norm": norm, "rank": rank, "error": error}
    return Run(f"depth-{depth}", seed, {"depth": depth, "ridge": 0.001}, measured)


def test_the_lines_of_ranges():
    """Ranges of three and four depths; two alone, a rank that comes back, or no fit, are none."""
    norms = [20.0, 27.1, 32.9, 41.0, 45.2, 48.9, 53.0, 57.2, 60.0, 64.0]
    ranks = [3, 3, 3, 2, 2, 2, 2, 1, 1, 3]
    curve = [made(*each) for each in zip(range(6, 26, 2), norms, ranks, strict=True)]
    curve += [made(depth, 99.0, 3, error=0.4) for depth in (26, 28, 30)]
    found = ranges(curve)
    assert [(one.rank, one.depths) for one in found] == [(3, (6, 8, 10)), (2, (12, 14, 16, 18))]
    for one, part in zip(found, (slice(0, 3), slice(3, 7)), strict=True):
        slope, start = np.polyfit(range(6, 26, 2)[part], norms[part], 1)
        assert (one.slope, one.start) == pytest.approx((slope, start))


def test_curves_are_sorted_by_depth():
    runs = [made(9, 3.0, 2, seed=1), made(5, 1.0, 3), made(9, 2.0, 2), made(5, 1.5, 2, seed=1)]
    assert [[run.measured["norm"] for run in curve] for curve in curves(runs)] == [
        [1.5, 3.0],
        [1.0, 2.0],
    ]
    assert [falling(curve) for curve in curves(runs)] == [False, True]


def test_the_range_of_the_shallow_depths():
    """All three have to fit, and to have one rank; what is deeper does not matter."""
    curve = [made(*each) for each in ((5, 10.0, 3), (7, 15.0, 3), (9, 20.0, 3), (25, 0.0, 1, 0.05))]
    found = shallow_range(curve)
    assert (found.rank, found.depths) == (3, (5, 7, 9))
    assert found.slope == pytest.approx(2.5)
    assert worse_fit(curve) == pytest.approx(5)
    assert shallow_range([*curve[:2], made(9, 20.0, 2)]) is None
    assert shallow_range([*curve[:2], made(9, 20.0, 3, error=0.2)]) is None
    assert shallow_range(curve[:2]) is None


def test_each_criterion_of_the_claim_can_fail(failing):
    """Norms with a whole slope; ranks that agree, or stay; and a fit at every depth."""
    deep = recorded(NAME).where(ridge=0.001)
    assert not failing(deep)
    for slope in (2.0, 3.0):
        lines = [changed(run, norm=slope * run.settings["depth"]) for run in deep]
        assert failing(lines) == ["the slope is below the rank"]
    assert failing(changed(run, {"rank": 3}) for run in deep) == ["the weights have a larger rank"]
    assert failing(changed(run, rank=3) for run in deep) == ["the rank falls"]
    assert failing(changed(run, error=0.01) for run in deep) == ["the deepest fit worse"]
