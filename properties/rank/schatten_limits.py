"""§1 of `rank`: Schatten and ℓ_p powers at finite depth, with their rate."""

from fractions import Fraction

import torch

from rankcheck import leq, limit, linalg, paper
from rankcheck.instances import Source, instances, matrix, partial_isometries, signs


@instances
def matrices_and_depths(source: Source):
    """A matrix and a depth L."""
    return matrix(source, source.integer(1, 4), source.integer(1, 4)), source.integer(1, 60)


@instances
def isometries_and_depths(source: Source):
    """All singular values 0 or 1, or also all entries 0 or ±1, at most one in a row and column."""
    if source.integer(0, 1) == 0:
        return (*partial_isometries()(source), source.integer(1, 60))
    m, n = source.integer(1, 4), source.integer(1, 4)
    k = source.integer(0, min(m, n))
    chosen = torch.arange(m)[:, None] == torch.where(torch.arange(n) < k, torch.arange(n), -1)
    units = signs(source, m, n)
    return torch.where(chosen, units, torch.zeros_like(units)), source.integer(1, 60)


def remainder(values, count, L, order, factor):
    """k + (2/L) Σ log s over the first k = `count` values, and a bound of Σ s^{2/L} minus it."""
    counted = torch.arange(values.shape[-1], device=count.device) < count.unsqueeze(-1)
    safe = torch.where(counted, values, torch.ones_like(values))
    logs = safe.log()
    largest = torch.maximum(linalg.power(safe, Fraction(2, L)), torch.ones_like(safe))
    linear = count + factor * logs.sum(-1) / L
    return linear, (2 * logs * logs * largest).sum(-1) / L**order


@limit(
    "rank.schatten-limits",
    paper("rank", "§1"),
    instances=matrices_and_depths(),
    tight=isometries_and_depths(),
    mutants={
        "a remainder of order L⁻³": {"order": 3},
        "2.1/L times the logarithm": {"factor": 2.1},
    },
)
def test_schatten_limits(A, L, *, order=2, factor=2):
    r"""The Schatten and $\ell_p$ powers tend to the rank and the number of non-zero entries.

    $0 \le \|A\|_{S^{2/L}}^{2/L} - \operatorname{rank} A - \frac{2}{L} \log |A|_+ \le
    \frac{2}{L^2} \sum_i \log^2 s_i \max(1, s_i^{2/L})$ over the non-zero singular values, from
    $1 + t \le e^t \le 1 + t + \frac{t^2}{2} \max(1, e^t)$ at $t = \frac{2}{L} \log s_i$; and the same
    for the entries of a vector, with $\|w\|_{2/L}^{2/L}$ and $\|w\|_0$.

    As $L \to \infty$ both tend to the number of non-zero values.
    """
    k = linalg.rank(A)
    linear, bound = remainder(linalg.singular_values(A), k, L, order, factor)
    value = linalg.schatten_power(A, Fraction(2, L))
    entries = A.reshape((*A.shape[:-2], A.shape[-2] * A.shape[-1])).abs()
    entries = entries.sort(-1, descending=True).values
    nonzero = (entries > 0).sum(-1)
    flat, flat_bound = remainder(entries, nonzero, L, order, factor)
    total = linalg.power(entries, Fraction(2, L)).sum(-1)
    size, flat_size = k + linear.abs() + value, nonzero + flat.abs() + total
    return (
        leq(linear, value, scale=size, label="matrix, from below"),
        leq(value, linear + bound, scale=size, label="matrix, from above"),
        leq(flat, total, scale=flat_size, label="vector, from below"),
        leq(total, flat + flat_bound, scale=flat_size, label="vector, from above"),
    )
