r"""A lower bound of the shortest path through n random points that holds with a given probability.

Let $Y_1, \dots, Y_n$, n ≥ 2, be independent, with densities of at most ρ on R^k, or on an affine
space of dimension k. With the volume $\omega_k$ of the unit ball, for all t ≥ 0,

$$P(\mathrm{TSP}(Y) \le t) \le \frac{n!}2\,(\rho\, k!\, \omega_k)^{n-1}\,
  \frac{t^{k(n-1)}}{(k(n-1))!} .$$

For a fixed order of the points the volume of the steps $d_i$ with $\sum |d_i| \le t$ is
$(k!\,\omega_k)^{n-1} t^{k(n-1)}/(k(n-1))!$, an integral of Dirichlet's; there are n!/2 orders. The
right side is ε at $t_\varepsilon(n)$, and by Stirling's formula
$t_\varepsilon(n)/n^{1-1/k} \to (k^k e^{1-k}/(\rho\,k!\,\omega_k))^{1/k}$ for every ε > 0.

Used by rank.path-tail and rank.rank-one-fits-of-random-data. Proof: docs/proofs/random-paths.md.
"""

from __future__ import annotations

import math


def _log_steps(k: int, density: float) -> float:
    """log(ρ k! ω_k)."""
    ball = k / 2 * math.log(math.pi) - math.lgamma(k / 2 + 1)
    return math.log(density) + math.lgamma(k + 1) + ball


def log_path_tail(n: int, k: int, length: float, density: float = 1.0) -> float:
    """The logarithm of the bound of P(TSP ≤ length), for n ≥ 2 points in k ≥ 1 dimensions.

    It is not cut off at 0: the bound can exceed one.

    Raises ValueError for other n, k, or a length or density that is not positive.
    """
    _check(n, k, length, density)
    steps = n - 1
    return (
        math.lgamma(n + 1)
        - math.log(2)
        + steps * _log_steps(k, density)
        + k * steps * math.log(length)
        - math.lgamma(k * steps + 1)
    )


def likely_length(n: int, k: int, level: float, density: float = 1.0) -> float:
    """t_ε(n): the shortest path is longer with probability at least 1 − ε.

    >>> round(likely_length(2, 1, 0.25), 12)  # P(|Y_1 − Y_2| ≤ t) = 2t − t² ≤ 2t
    0.125

    Raises ValueError where `log_path_tail` does, and unless 0 < level < 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"received level {level}; a level lies in (0, 1)")
    at_one = log_path_tail(n, k, 1.0, density)
    return math.exp((math.log(level) - at_one) / (k * (n - 1)))


def _check(n: int, k: int, length: float, density: float) -> None:
    if n < 2 or k < 1 or not (length > 0 and density > 0):
        raise ValueError(
            f"received {n} points in {k} dimensions, length {length} and density {density}; there "
            "are at least two points and one dimension, and lengths and densities are positive"
        )
