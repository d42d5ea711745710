"""From a good instance to the best one near it: L-BFGS-B, then the nearest simple numbers."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import minimize

from rankcheck.engine.hunt.arena import OutOfTime
from rankcheck.engine.hunt.sample import Sample, together
from rankcheck.engine.hunt.strategies.starts import LARGE, Space, tidy
from rankcheck.sharpen.gauge import Gauge

#: Iterations of L-BFGS-B from one point, and with many entries.
STEPS, LARGE_STEPS = 60, 30
#: Entries are rounded to multiples of these, each finer than the one before.
GRIDS = (1.0, 2.0**-1, 2.0**-2, 2.0**-4, 2.0**-8, 2.0**-16, 2.0**-24)


def polished(gauge: Gauge, sample: Sample, row: int) -> Sample:
    """The instances of a sample, each moved to a local maximum of the ratio in one row.

    One whose gradient raises or is not finite stays where it is.
    """
    space = Space(sample.record)
    bounds = list(zip(space.low.tolist(), space.high.tolist(), strict=True))
    steps = STEPS if len(bounds) <= LARGE else LARGE_STEPS

    def slope(point: np.ndarray) -> tuple[float, np.ndarray]:
        leaf = torch.from_numpy(point).to(space.low)[None].requires_grad_()
        distance = gauge.measure(space.record(leaf)).distance[row, 0]
        if not bool(distance.isfinite()) or not distance.requires_grad:
            return np.inf, np.zeros_like(point)
        [gradient] = torch.autograd.grad(distance, leaf, allow_unused=True)
        flat = torch.zeros_like(leaf) if gradient is None else gradient.nan_to_num(0.0, 0.0, 0.0)
        return float(distance.detach()), flat[0].cpu().numpy()

    ends = []
    for point in space.points(sample.record).cpu().numpy():
        best = (np.inf, point)

        def watched(at: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal best
            value, gradient = slope(at)
            if value < best[0]:
                best = value, at.copy()
            return (value, gradient) if np.isfinite(value) else (1e3, gradient)

        try:
            minimize(
                watched,
                point,
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": steps, "maxfun": steps + 20, "ftol": 1e-15, "gtol": 1e-12},
            )
        except OutOfTime:
            raise
        except (ArithmeticError, RuntimeError, ValueError) as error:
            gauge.troubles[f"polish: a gradient raised {type(error).__name__}"] += 1
        ends.append(best[1])
    moved = space.record(torch.from_numpy(np.stack(ends)).to(space.low))
    return together([sample, gauge.at(tidy(moved))])


def snapped(gauge: Gauge, sample: Sample) -> Sample:
    """The instances of a sample, after the same ones on grids, the coarsest first.

    Where the supremum is attained at simple numbers, a grid has them.
    """
    space = Space(sample.record)
    points = space.points(sample.record)
    on_grids = [(torch.round(points / step) * step).clamp(space.low, space.high) for step in GRIDS]
    return together([gauge.at(tidy(space.record(torch.cat(on_grids)))), sample])
