"""Corollary 1, slides B of `linear`: the cost tends to the rank as the depth grows, for weights and
for functions."""

from fractions import Fraction

import torch

from rankcheck import leq, limit, paper
from rankcheck.costs import (
    egop_root,
    path_norm,
    path_norm_lambda,
    phi_at,
    two_layer_network,
    unit_rank,
)
from rankcheck.instances.matrices import positive, semi_orthogonal
from rankcheck.instances.source import Source, instances
from rankcheck.instances.units import (
    aligned_units_at_points,
    separate_units,
    signs,
    units_on_a_line,
    units_with_scales,
)
from rankcheck.linalg import log_pseudo_determinant, power, rank, schatten_power
from rankcheck.scalars import scalar

DEPTHS = (2, 3, 4, 5, 8, 16, 64, 512, 4096)


@instances
def units_at_any_depth(source: Source):
    """W, a, λ > 0, and a depth up to 4096."""
    W, a, _, lam = units_with_scales().build(source)
    return W, a, source.choice(DEPTHS), lam


@instances
def equal_orthogonal_units(source: Source):
    """Orthogonal rows of one length, a_k = ±1, uniform λ: Φ_L and both of its bounds agree."""
    K = source.integer(1, 4)
    rows = semi_orthogonal(source, source.integer(K, 4), K).mT
    a = signs(source, K)
    return positive(source, 1, 1) * rows, a, source.choice(DEPTHS), torch.ones_like(a)


@limit(
    "linear.rank-limit",
    paper("linear", "slides B, Corollary 1"),
    instances=units_at_any_depth(),
    tight=equal_orthogonal_units(),
    mutants={
        "exponents 2.04/L": {"exponent": Fraction(51, 25)},
        "exponents 1.96/L": {"exponent": Fraction(49, 25)},
        "a rate of 1/L^1.02": {"order": Fraction(51, 50)},
    },
)
def test_rank_limit(W, a, L, lam, *, exponent=2, order=1):
    r"""Φ_L tends to the rank as the depth grows, at an explicit rate.

    With $B = D_aW$ of rank $r$ and $\mathrm{path} = \sum_k |a_k| \|w_k\|$,
    $r\,|B|_+^{2/(rL)} \le \Phi_L(W, a) \le r\,(\mathrm{path}/r)^{2/L}$ and
    $|\Phi_L - r| \le \frac2L \max\bigl(|\log |B|_+|,\ r\,|\log\frac{\mathrm{path}}r|
    \max(1, \frac{\mathrm{path}}r)^{2/L}\bigr)$.

    The lower end is checked at every $\lambda$, the upper end and the rate at the $\lambda$ of the
    path norm, at depths up to 4096. The limit $\Phi_L \to r$ follows from the rate. For functions,
    see linear.rank-limit-of-functions.
    """
    B, path = a.unsqueeze(-1) * W, path_norm(W, a)
    one = torch.ones_like(path)
    zero = torch.zeros_like(path)
    r, counted = zero + unit_rank(W, a), zero + rank(B)
    safe = torch.where(r > 0, r, one)
    mean = log_pseudo_determinant(B) / torch.where(counted > 0, counted, one)
    lower = counted * torch.exp(mean * scalar(Fraction(exponent, L), path))
    share = torch.where(path > 0, path, one) / safe
    upper = r * power(share, Fraction(exponent, L))
    steepest = power(torch.maximum(share, one), Fraction(2, L)) * r * share.log().abs()
    rate = torch.maximum(log_pseudo_determinant(B).abs(), steepest)
    at_best = phi_at(W, a, L, path_norm_lambda(W, a))
    return (
        leq(lower, phi_at(W, a, L, lam), label="the lower end, at every λ"),
        leq(at_best, upper, label="the upper end"),
        leq((at_best - r).abs(), 2 * rate / L ** float(order), scale=at_best + r, label="the rate"),
    )


@instances
def functions_at_any_depth(source: Source):
    """Units with distinct hyperplanes, a law with mass in each region on a line; a depth, λ > 0."""
    W, b, a, x, p = units_on_a_line().build(source)
    return W, b, a, x, p, source.choice(DEPTHS), positive(source, W.shape[-2])


@instances
def functions_of_one_singular_value(source: Source):
    """Separate units, so that all σ_i(C_h^{1/2}) agree, or aligned ones, for which all bounds do."""
    if source.choice(("aligned", "separate")) == "aligned":
        W, b, a, x, p, _, lam = aligned_units_at_points().build(source)
        return W, b, a, x, p, source.choice(DEPTHS), lam
    W, b, a, x, p, _ = separate_units(source)
    return W, b, a, x, p, source.choice(DEPTHS), torch.ones_like(b)


@limit(
    "linear.rank-limit-of-functions",
    paper("linear", "slides B, Corollary 1"),
    instances=functions_at_any_depth(),
    tight=functions_of_one_singular_value(),
    mutants={
        "exponents 2.04/L": {"exponent": Fraction(51, 25)},
        "exponents 1.96/L": {"exponent": Fraction(49, 25)},
        "a rate of 1/L^1.02": {"order": Fraction(51, 50)},
    },
)
def test_rank_limit_of_functions(W, b, a, x, p, L, lam, *, exponent=2, order=1):
    r"""The cost of a function tends to its index rank as the depth grows, at an explicit rate.

    With $R = \operatorname{rank} C_h$ and $\mathrm{path} = \sum_k |a_k| \|w_k\|$,
    $R\,|C_h^{1/2}|_+^{2/(RL)} \le \mathcal{MV}(h; \frac2L)^{2/L} \le R_L(h) \le
    R\,(\mathrm{path}/R)^{2/L}$, and
    $|R_L(h) - R| \le \frac2L \max\bigl(|\log |C_h^{1/2}|_+|,\ R\,|\log\frac{\mathrm{path}}R|
    \max(1, \frac{\mathrm{path}}R)^{2/L}\bigr)$, for units with distinct hyperplanes and a law with
    mass in every region, so that $R = \operatorname{rank} D_aW$ (linear.index-rank).

    The first inequality is that of the means; the second, linear.mixed-variation-bound, is checked
    at every $\lambda$, with $\Phi$ at $\lambda$ for $R_L(h)$; the third is linear.path-norm-upper. The
    rate is checked for both ends of an interval that contains $R_L(h)$: the mixed variation, and the
    cost at the $\lambda$ of the path norm. Depths go up to 4096.
    """
    net = two_layer_network(W, b, a)
    root, noise = egop_root(net.jacobian(x).squeeze(-2), p), net.jacobian_noise(x).amax(-1)
    path = path_norm(W, a)
    R = torch.zeros_like(path) + rank(root, noise)
    one = torch.ones_like(path)
    safe = torch.where(R > 0, R, one)
    log_volume = log_pseudo_determinant(root, noise)
    lower = R * torch.exp(log_volume / safe * scalar(Fraction(exponent, L), path))
    mixed = schatten_power(root, Fraction(2, L), noise)
    share = torch.where(path > 0, path, one) / safe
    upper = R * power(share, Fraction(exponent, L))
    steepest = power(torch.maximum(share, one), Fraction(2, L)) * R * share.log().abs()
    rate = 2 * torch.maximum(log_volume.abs(), steepest) / L ** float(order)
    at_best, generic = phi_at(W, a, L, path_norm_lambda(W, a)), unit_rank(W, a) == R
    return (
        leq(lower, mixed, label="the lower end"),
        leq(mixed, phi_at(W, a, L, lam), label="the mixed variation, at every λ"),
        leq(at_best, upper, label="the upper end", where=generic),
        leq(R - mixed, rate, scale=R + mixed, label="the rate from below"),
        leq(at_best - R, rate, scale=at_best + R, where=generic, label="the rate from above"),
    )
