"""§2 of `rank`: ridge on the weights as a penalty on functions, in closed form."""

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch

from rankcheck import bound, leq, linalg, paper
from rankcheck.instances import Source, instances, matrix, orthogonal, positive


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
    product = reduce(lambda A, W: W @ A, weights)
    norms = [linalg.frobenius_squared(W) for W in weights]
    objective = linalg.frobenius_squared(product - Y) + at.ridge * sum(norms)
    return leq(least(at), objective, scale=math.prod(norms) + linalg.frobenius_squared(Y))
