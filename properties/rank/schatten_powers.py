"""§1, Prop. 3 and Prop. 7 of `rank`: Schatten powers, the least costs of linear networks."""

import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import torch

from rankcheck import bound, eq, identity, leq, limit, linalg, paper
from rankcheck.instances import (
    Source,
    balanced_factors,
    balanced_linear_networks,
    instances,
    matrix,
    networks_at_points,
    orthogonal,
    partial_isometries,
    positive,
    signs,
    steep_networks,
)


def product(factors):
    """W_L ··· W_1 of (W_1, ..., W_L)."""
    return reduce(lambda A, W: W @ A, factors)


@instances
def factorisations(source: Source):
    """Any factors W_1..W_L whose shapes chain."""
    depth = source.integer(1, 5)
    widths = [source.integer(1, 4) for _ in range(depth + 1)]
    return ([matrix(source, n, m) for m, n in pairwise(widths)],)


@instances
def balanced_factorisations(source: Source):
    """W_ℓ = U_ℓ T U_{ℓ-1}ᵀ with orthogonal U_ℓ and a diagonal T ≥ 0: singular values t_i^L."""
    return (balanced_factors(source),)


@instances
def rescaled_factorisations(source: Source):
    """The same with one factor doubled and the next one halved."""
    depth, n = source.integer(2, 5), source.integer(1, 4)
    T = torch.diag_embed(positive(source, n, high=2.0))
    rotations = [orthogonal(source, n) for _ in range(depth + 1)]
    first, second, *rest = (out @ T @ into.mT for into, out in pairwise(rotations))
    return ([2 * first, second / 2, *rest],)


@bound(
    "rank.linear-network-cost",
    paper("rank", "§1, Prop. 7"),
    instances=factorisations(),
    tight=balanced_factorisations(),
    mutants={"exponent 2.04/L": {"exponent": Fraction(51, 25)}},
)
def test_linear_network_cost(factors, *, exponent=2):
    r"""No factorisation into L layers is cheaper than L times the Schatten power.

    $L\,\|W_L \cdots W_1\|_{S^{2/L}}^{2/L} \le \sum_\ell \|W_\ell\|_F^2$ for every factorisation.
    """
    L, A = len(factors), product(factors)
    costs = [linalg.frobenius_squared(W) for W in factors]
    noise = 2.0**-46 * math.prod(costs).sqrt() if isinstance(A, torch.Tensor) else 0.0
    return leq(L * linalg.schatten_power(A, Fraction(exponent, L), noise), sum(costs))


@identity(
    "rank.balanced-factorisation-cost",
    paper("rank", "§1, Prop. 7"),
    instances=balanced_factorisations(),
    needs={"the factors are balanced": rescaled_factorisations()},
    mutants={"exponent 2/(L+1)": {"layers": 1}},
)
def test_balanced_factorisation_cost(factors, *, layers=0):
    r"""A balanced factorisation costs exactly L times the Schatten power.

    $\sum_\ell \|W_\ell\|_F^2 = L\,\|W_L \cdots W_1\|_{S^{2/L}}^{2/L}$ for
    $W_\ell = U_\ell S^{1/L} U_{\ell-1}^\top$, so the minimum is attained.
    """
    L, A = len(factors), product(factors)
    cost = sum(linalg.frobenius_squared(W) for W in factors)
    noise = 1e-13 * linalg.frobenius_squared(A).sqrt() if isinstance(A, torch.Tensor) else 0.0
    return eq(cost, L * linalg.schatten_power(A, Fraction(2, L + layers), noise), terms=2**14)


@bound(
    "rank.masked-weights",
    paper("rank", "proof of Prop. 7"),
    instances=networks_at_points(depth=(2, 5)),
    tight=balanced_linear_networks(depth=(2, 5)),
    needs={"|a| ≤ 1": steep_networks()},
    audit="at points: |a| ≤ 1, L ≥ 2",
)
def test_masked_weights(net, x):
    r"""Masking the weights by the derivatives of the activation never raises their norm.

    $\sum_{\ell < L} \|D_\ell W_\ell\|_F^2 \le \sum_{\ell < L} \|W_\ell\|_F^2$, because
    $\|D_\ell\|_{op} \le 1$ for $|a| \le 1$.
    """
    masked = sum(
        linalg.frobenius_squared(d[:, None] * w)
        for d, w in zip(net.masks(x), net.weights[:-1], strict=True)
    )
    return leq(masked, sum(linalg.frobenius_squared(w) for w in net.weights[:-1]))


@bound(
    "rank.small-second-singular-value",
    paper("rank", "after Prop. 3"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(equal=True),
    needs={"|a| ≤ 1": steep_networks()},
    mutants={"exponent 0.98 L/2": {"exponent": Fraction(49, 100)}},
    audit="at points: |a| ≤ 1",
)
def test_small_second_singular_value(net, x, *, exponent=Fraction(1, 2)):
    r"""A network whose cost per layer is near one has a small second singular value.

    $s_k(Jf(x)) \le \left(\frac{\|\theta\|^2}{kL}\right)^{L/2}$ for every $k$. So
    $\|\theta\|^2/L \le 1 + c/L$ implies $s_2 \le ((1 + c/L)/2)^{L/2}$.
    """
    s = linalg.singular_values(net.jacobian(x))
    k = torch.arange(1, s.shape[-1] + 1, dtype=torch.float64, device=x.device)
    bound = linalg.power(net.cost() / (k * net.depth), net.depth * exponent)
    return leq(s, bound, error=net.jacobian_noise(x))


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
    units = signs(source, m, n)
    chosen = torch.eye(m, n, dtype=torch.bool) & (torch.arange(n) < k)
    return torch.where(chosen, units, 0 * units), source.integer(1, 60)


def remainder(values, count, L, order, factor):
    """k + (2/L) Σ log s over the first k = `count` values, and a bound of Σ s^{2/L} minus it."""
    counted = torch.arange(len(values), device=count.device) < count
    safe = torch.where(counted, values, torch.ones_like(values))
    logs, largest = safe.log(), linalg.power(safe, Fraction(2, L)).clamp(min=1)
    return count + factor * logs.sum() / L, (2 * logs * logs * largest).sum() / L**order


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
    entries = A.flatten().abs().sort(-1, descending=True).values
    nonzero = (entries > 0).sum()
    flat, flat_bound = remainder(entries, nonzero, L, order, factor)
    total = linalg.power(entries, Fraction(2, L)).sum()
    size, flat_size = k + linear.abs() + value, nonzero + flat.abs() + total
    return (
        leq(linear, value, scale=size, label="matrix, from below"),
        leq(value, linear + bound, scale=size, label="matrix, from above"),
        leq(flat, total, scale=flat_size, label="vector, from below"),
        leq(total, flat + flat_bound, scale=flat_size, label="vector, from above"),
    )
