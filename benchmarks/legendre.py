"""The recurrence for P_{d,n} against the quotient of two `scipy.special.eval_gegenbauer`.

    python -m benchmarks.legendre

Prints one Markdown table: milliseconds for the table of all degrees up to n and for degree n alone,
at 1000 points; the worst absolute error over 9 points and the correct digits at the point where
|P| is least, both against mpmath. scipy has two codes: for an integer degree and for a float one.
d = 2 (Chebyshev) has no scipy figures: the quotient is 0/0 there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import mpmath
import numpy as np
import torch
from scipy.special import eval_gegenbauer

from benchmarks.measuring import Ratio, table, timed
from rankcheck.separation.legendre import legendre, legendre_table

POINTS = [-0.96875, -0.625, -0.3, 0.0078125, 0.1, 0.2578125, 0.5, 0.78125, 0.99]
CASES = [(2, 400), (3, 50), (3, 400), (10, 50), (10, 400), (30, 100), (100, 50), (100, 400)]
CASES += [(200, 100), (200, 400)]
COLUMNS = [
    "d",
    "n",
    "least abs(P)",
    "table: here / scipy (ms)",
    "degree n: here / scipy (ms)",
    "worst error: here / scipy",
    "digits: here / scipy int / scipy float",
]


def truth(d: int, n: int, t: float) -> mpmath.mpf:
    """P_{d,n}(t) from mpmath's Gegenbauer function (d = 2: its Chebyshev polynomial)."""
    if d == 2:
        return mpmath.chebyt(n, mpmath.mpf(t))
    alpha = mpmath.mpf(d - 2) / 2
    return mpmath.gegenbauer(n, alpha, mpmath.mpf(t)) / mpmath.gegenbauer(n, alpha, 1)


def by_scipy(d: int, n: int | float | np.ndarray, t: np.ndarray) -> np.ndarray:
    """P_{d,n}(t) as a quotient of Gegenbauer values; n may be a column of degrees."""
    alpha = (d - 2) / 2
    return eval_gegenbauer(n, alpha, t) / eval_gegenbauer(n, alpha, 1.0)


def milliseconds(call: Callable[[], object]) -> float:
    """The least time of five repeats."""
    return 1e3 * timed(call, 5)[0]


def errors(values: np.ndarray, exact: list[mpmath.mpf]) -> tuple[float, float]:
    """Worst absolute error, and correct digits where the exact value is least in size."""
    gaps = [abs(mpmath.mpf(float(v)) - e) for v, e in zip(values, exact, strict=True)]
    least = min(range(len(exact)), key=lambda i: abs(exact[i]))
    relative = float(gaps[least] / abs(exact[least]))
    if math.isnan(relative):
        return math.nan, math.nan
    return float(max(gaps)), max(0.0, min(16.0, -math.log10(relative or 1e-16)))


def row(d: int, n: int) -> list[str]:
    """One line of the table."""
    grid, points = np.linspace(-1, 1, 1000), np.array(POINTS)
    tensor = torch.from_numpy(grid)
    exact = [truth(d, n, t) for t in POINTS]
    error, digits = errors(legendre(d, n, torch.from_numpy(points)).numpy(), exact)
    every = milliseconds(partial(legendre_table, d, n, tensor))
    single = milliseconds(partial(legendre, d, n, tensor))
    theirs = ["–"] * 5
    if d > 2:
        scipy_error, scipy_digits = errors(by_scipy(d, n, points), exact)
        with np.errstate(invalid="ignore"):
            _, float_digits = errors(by_scipy(d, float(n), points), exact)
        theirs = [
            f"{milliseconds(partial(by_scipy, d, np.arange(n + 1)[:, None], grid)):.1f}",
            f"{milliseconds(partial(by_scipy, d, n, grid)):.2f}",
            f"{scipy_error:.0e}",
            f"{scipy_digits:.0f}",
            f"{float_digits:.0f}",
        ]
    return [
        f"{d}",
        f"{n}",
        f"{float(min(abs(e) for e in exact)):.0e}",
        f"{every:.1f} / {theirs[0]}",
        f"{single:.2f} / {theirs[1]}",
        f"{error:.0e} / {theirs[2]}",
        f"{digits:.0f} / {theirs[3]} / {theirs[4]}",
    ]


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


def main() -> None:
    """Measure every case and print the table."""
    torch.set_num_threads(1)
    mpmath.mp.dps = 400
    table(COLUMNS, (row(d, n) for d, n in CASES))


if __name__ == "__main__":
    main()
