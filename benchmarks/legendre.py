"""The recurrence for P_{d,n} against the quotient of two `scipy.special.eval_gegenbauer`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from scipy.special import eval_gegenbauer

from benchmarks.measuring import Ratio, timed
from rankcheck.separation.legendre import legendre, legendre_table


def by_scipy(d: int, n: int | float | np.ndarray, t: np.ndarray) -> np.ndarray:
    """P_{d,n}(t) as a quotient of Gegenbauer values; n may be a column of degrees."""
    alpha = (d - 2) / 2
    return eval_gegenbauer(n, alpha, t) / eval_gegenbauer(n, alpha, 1.0)


def ratios(*, quick: bool) -> Iterator[Ratio]:
    """The table of all degrees, and one degree alone, against scipy."""
    d, n = (3, 20) if quick else (10, 400)
    grid = np.linspace(-1, 1, 1000)
    points = torch.from_numpy(grid)
    degrees = np.arange(n + 1)[:, None]
    for what, here, there in (
        ("all degrees", partial(legendre_table, d, n, points), partial(by_scipy, d, degrees, grid)),
        ("one degree", partial(legendre, d, n, points), partial(by_scipy, d, n, grid)),
    ):
        yield Ratio(f"{what}, d = {d}, n = {n}", "scipy", timed(there, 5)[0] / timed(here, 5)[0])
