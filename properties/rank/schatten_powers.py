"""§1–2, Prop. 3 and Prop. 7 of `rank`: Schatten powers, the least costs of linear networks."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

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
    noise = 2.0**-46 * math.prod(costs) ** 0.5 if isinstance(A, torch.Tensor) else 0.0
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


@instances
def two_linear_layers(source: Source):
    """Weights W_1, W_2 with inner width at least min(m, n), targets Y, and a ridge λ."""
    m, n = source.integer(1, 3), source.integer(1, 3)
    inner = min(m, n) + source.integer(0, 1)
    Y = matrix(source, m, n, bound=4.0)
    W1 = matrix(source, inner, n, bound=3.0)
    return W1, matrix(source, m, inner, bound=3.0), Y, positive(source, high=2.0)


@instances
def soft_thresholded(source: Source):
    """Y = U S Vᵀ with s_i = λ + r_i² or s_i ≤ λ, and the balanced factors of (S − λ)_+."""
    n = source.integer(1, 3)
    kept = torch.arange(n) < source.integer(0, n)
    ridge = positive(source, high=2.0)
    r = positive(source, n, high=2.0)
    below = ridge * source.tensor(n, low=0.0, high=1.0)
    U, V = orthogonal(source, n), orthogonal(source, n)
    s = torch.where(kept, ridge + r * r, below)
    root = torch.diag_embed(torch.where(kept, r, 0 * r))
    return root @ V.mT, U @ root, U @ torch.diag_embed(s) @ V.mT, ridge


def soft_thresholding(s, ridge):
    """Σ (t_i − s_i)² + 2λ t_i, least at t_i = (s_i − λ)_+."""
    t = torch.relu(s - ridge)
    return ((t - s) ** 2 + 2 * ridge * t).sum()


@bound(
    "rank.ridge-in-function-space",
    paper("rank", "§2"),
    instances=two_linear_layers(),
    tight=soft_thresholded(),
    mutants={"the penalty halved": {"penalty": 1}},
)
def test_ridge_in_function_space(W1, W2, Y, ridge, *, penalty=2):
    r"""Ridge on two linear layers is a nuclear-norm penalty on their product.

    $\min_\theta C(f_\theta) + \lambda \|\theta\|^2 = \min_f C(f) + \lambda R(f)$, checked where both
    sides have a closed form: $L = 2$, linear, $C(A) = \|A - Y\|_F^2$, $R(A) = 2 \|A\|_*$. For all
    $W_1$, $W_2$
    $$\|W_2 W_1 - Y\|_F^2 + \lambda (\|W_1\|_F^2 + \|W_2\|_F^2) \ge
    \sum_i (t_i - s_i)^2 + 2 \lambda t_i$$
    with $s_i = s_i(Y)$ and $t_i = (s_i - \lambda)_+$. The right side is the minimum of
    $\|A - Y\|_F^2 + 2 \lambda \|A\|_*$ over $A$, attained by soft-thresholding the singular values
    of $Y$. For $L \ge 3$: rank.ridge-thresholds-at-depth.
    """
    least = soft_thresholding(linalg.singular_values(Y), ridge)
    first, second = linalg.frobenius_squared(W1), linalg.frobenius_squared(W2)
    objective = linalg.frobenius_squared(W2 @ W1 - Y) + penalty * ridge * (first + second) / 2
    return leq(least, objective, scale=first * second + linalg.frobenius_squared(Y))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular values s of a target, and what ridge at depth L makes of them.

    Attributes:
        depth: L ≥ 3.
        ridge: λ.
        values: s_i: r^L + λ/r^{L−2} where kept, less than the threshold where not.
        roots: r_i, the L-th root of the minimiser; 0 where the value is dropped.
    """

    depth: int
    ridge: Any
    values: Any
    roots: Any


def minimisers(source: Source) -> tuple[tuple[Any, ...], Any, Spectrum]:
    """Balanced factors of U diag(r^L) Vᵀ, L of them, the target U diag(s) Vᵀ, and its spectrum.

    The kept values s come from r = ρ (1 + e); the dropped ones lie below the threshold.
    """
    n, L = source.integer(1, 3), source.integer(3, 6)
    rho = positive(source, 1, low=0.5, high=1.5)[0]
    ridge = rho ** (2 * L - 2) / (L - 2)
    kept = torch.arange(n) < source.integer(0, n)
    r = rho * (1 + source.tensor(n, low=0.0, high=1.0))
    dropped = source.tensor(n, low=0.0, high=1.0) * rho**L * (L - 1) / (L - 2)
    s = torch.where(kept, r**L + ridge / r ** (L - 2), dropped)
    r = torch.where(kept, r, 0 * r)
    U, V, root = orthogonal(source, n), orthogonal(source, n), torch.diag_embed(r)
    weights = (root @ V.mT, *[root] * (L - 2), U @ root)
    return weights, U @ torch.diag_embed(s) @ V.mT, Spectrum(L, ridge, s, r)


@instances
def near_the_minimiser(source: Source):
    """A target with known singular values, and L linear layers: a minimiser plus a perturbation."""
    weights, Y, at = minimisers(source)
    far = positive(source, 1, 1, low=2.0**-8, high=1.0)
    return [W + far * source.tensor(*W.shape, low=-1.0, high=1.0) for W in weights], Y, at


@instances
def at_the_minimiser(source: Source):
    """The minimiser itself, or zero layers where no value is kept."""
    return minimisers(source)


@instances
def kept_below_the_threshold(source: Source):
    """A value s below the threshold, taken for one that is kept: 0 is better there."""
    L = source.integer(3, 6)
    rho = positive(source, 1, low=0.5, high=1.5)
    r = rho * source.tensor(1, low=0.75, high=0.9375)
    ridge = rho[0] ** (2 * L - 2) / (L - 2)
    s = r**L + ridge / r ** (L - 2)
    return [0 * r[:, None]] * L, s[:, None], Spectrum(L, ridge, s, r)


def largest_root(at):
    """Σ (r^L − s)² + λ L r², at the roots r of the kept values; s² at the dropped ones."""
    r, L = at.roots, at.depth
    return ((r**L - at.values) ** 2 + at.ridge * L * r * r).sum()


def soft(at):
    """What soft-thresholding, the rule of L = 2, would give."""
    return soft_thresholding(at.values, at.ridge)


@bound(
    "rank.ridge-thresholds-at-depth",
    paper("rank", "§2"),
    instances=near_the_minimiser(),
    tight=at_the_minimiser(),
    needs={"dropped values lie below the threshold": kept_below_the_threshold()},
    mutants={"soft-thresholding at depth three and more": {"least": soft}},
)
def test_ridge_thresholds_at_depth(weights, Y, at, *, least=largest_root):
    r"""Ridge on three or more linear layers thresholds the singular values, and does not shrink to 0.

    $\min_\theta C(f_\theta) + \lambda \|\theta\|^2 = \min_f C(f) + \lambda R(f)$ for linear
    networks of depth $L \ge 3$, $C(A) = \|A - Y\|_F^2$ and $R(A) = L \|A\|_{S^{2/L}}^{2/L}$. For all
    $W_1, \dots, W_L$
    $$\|W_L \cdots W_1 - Y\|_F^2 + \lambda \sum_\ell \|W_\ell\|_F^2 \ge
    \sum_i \min_{r \ge 0} (r^L - s_i)^2 + \lambda L r^2, \qquad s_i = s_i(Y).$$
    With $\rho^{2L-2} = \lambda (L - 2)$ the minimiser is $0$ for $s_i \le \frac{L-1}{L-2} \rho^L$ and
    else the larger root $r \ge \rho$ of $s_i = r^L + \lambda r^{2-L}$, so the kept singular values
    $r^L$ of the product are at least $\rho^L$: they do not become arbitrarily small, as in
    soft-thresholding at $L = 2$.

    The instances are drawn from $r$, $\rho$ and $L$, so that $s_i$, $\lambda$ and the minimiser are
    exact. Proof: docs/proofs/ridge-thresholds-at-depth.md.
    """
    norms = [linalg.frobenius_squared(W) for W in weights]
    objective = linalg.frobenius_squared(product(weights) - Y) + at.ridge * sum(norms)
    return leq(least(at), objective, scale=math.prod(norms) + linalg.frobenius_squared(Y))
