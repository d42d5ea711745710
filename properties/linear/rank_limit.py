"""Corollary 1, slides B of `linear`: the cost tends to the rank as the depth grows, for weights and
for functions."""

from fractions import Fraction

import torch

from rankcheck import Need, costs, leq, limit, linalg, paper
from rankcheck.instances import (
    Source,
    aligned_units_at_points,
    instances,
    positive,
    semi_orthogonal,
    separate_units,
    signs,
    two_networks_on_a_line,
    units_with_scales,
)

from ._laws import without_an_end
from ._projected import projected
from ._reach import index_ranks

DEPTHS = (2, 3, 4, 5, 8, 16, 64, 512, 4096)
#: Depths at which the rate is an equality up to 10⁻⁶.
DEEP = (2**22, 2**23, 2**24)


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
    return positive(source, 1, 1) * rows, a, source.choice((5, *DEEP)), torch.ones_like(a)


@limit(
    "linear.rank-limit-of-weights",
    paper("linear", "slides B, Corollary 1 (for fixed weights)"),
    instances=units_at_any_depth(),
    tight=equal_orthogonal_units(),
    mutants={
        "exponents 2.04/L": {"exponent": Fraction(51, 25)},
        "exponents 1.96/L": {"exponent": Fraction(49, 25)},
        "a rate of 1/L^1.02": {"order": Fraction(51, 50)},
    },
)
def test_rank_limit_of_weights(W, a, L, lam, *, exponent=2, order=1):
    r"""$\Phi_L$ tends to the rank as the depth grows, at an explicit rate.

    With $B = D_aW$ of rank $r$ and $\mathrm{path} = \sum_k |a_k| \|w_k\|$,
    $r\,|B|_+^{2/(rL)} \le \Phi_L(W, a) \le r\,(\mathrm{path}/r)^{2/L}$ and
    $|\Phi_L - r| \le \frac2L \max\bigl(|\log |B|_+|,\ r\,|\log\frac{\mathrm{path}}r|
    \max(1, \frac{\mathrm{path}}r)^{2/L}\bigr)$.

    The lower end is checked at every $\lambda$, the upper end and the rate at the $\lambda$ of the
    path norm, at depths up to $2^{24}$. The limit $\Phi_L \to r$ follows from the rate. The corollary,
    about functions, is linear.rank-limit.
    """
    B, path = a.unsqueeze(-1) * W, costs.path_norm_of_units(W, a)
    one = torch.ones_like(path)
    zero = torch.zeros_like(path)
    r, counted = zero + costs.unit_rank(W, a), zero + linalg.rank(B)
    safe = torch.where(r > 0, r, one)
    mean = linalg.log_pseudo_determinant(B) / torch.where(counted > 0, counted, one)
    lower = counted * torch.exp(mean * linalg.scalar(Fraction(exponent, L), path))
    share = torch.where(path > 0, path, one) / safe
    upper = r * linalg.power(share, Fraction(exponent, L))
    steepest = linalg.power(torch.maximum(share, one), Fraction(2, L)) * r * share.log().abs()
    rate = torch.maximum(linalg.log_pseudo_determinant(B).abs(), steepest)
    at_best = costs.phi_at(W, a, L, costs.path_norm_lambda(W, a))
    return (
        leq(lower, costs.phi_at(W, a, L, lam), label="the lower end, at every λ"),
        leq(at_best, upper, label="the upper end"),
        leq((at_best - r).abs(), 2 * rate / L ** float(order), scale=at_best + r, label="the rate"),
    )


def as_given(V, root):
    """V itself, without the projection."""
    return V


@instances
def functions_at_any_depth(source: Source):
    """Two networks for a function, a law with mass in each region on a line, a depth, and λ > 0."""
    parts = two_networks_on_a_line().build(source)
    return *parts, source.choice(DEPTHS), positive(source, parts[-1].shape[-1])


@instances
def functions_of_one_singular_value(source: Source):
    """The same network twice: separate units, for which all σ_i(C_f^{1/2}) agree, or aligned ones.

    For the aligned ones all bounds agree.
    """
    if source.integer(0, 3) > 0:
        W, b, a, x, p, _, lam = aligned_units_at_points().build(source)
        return W, b, a, x, p, W, b, a, source.choice(DEEP), lam
    W, b, a, x, p, _ = separate_units(source)
    return W, b, a, x, p, W, b, a, source.choice(DEPTHS), torch.ones_like(b)


@instances
def a_region_without_mass(source: Source):
    """The law has no mass in the region below all bends, or in the one above."""
    W, b, a, x, p, *others = functions_at_any_depth().build(source)
    return W, b, a, x, without_an_end(source, p), *others


@limit(
    "linear.rank-limit",
    paper("linear", "slides B, Corollary 1"),
    instances=functions_at_any_depth(),
    reach=index_ranks,
    tight=functions_of_one_singular_value(),
    needs={"every region has positive mass": Need(a_region_without_mass(), {"weights": as_given})},
    mutants={
        "exponents 2.04/L": {"exponent": Fraction(51, 25)},
        "exponents 1.96/L": {"exponent": Fraction(49, 25)},
        "a rate of 1/L^1.02": {"order": Fraction(51, 50)},
        "the network as it is given": {"weights": as_given},
    },
)
def test_rank_limit(W, b, a, x, p, V, d, e, L, lam, *, exponent=2, order=1, weights=projected):
    r"""The cost of a function tends to its index rank as the depth grows, at an explicit rate.

    Let $f$ be a two-layer function, $R = \operatorname{rank} C_f$ for a law with mass in every
    region, and $\mathrm{path}$ the path norm of any network for $f$, such as $R_2(f)$. Then
    $$R\,|C_f^{1/2}|_+^{\frac2{RL}} \le \mathcal{MV}(f; \tfrac2L)^{\frac2L} \le R_L(f) \le
      R\,(\mathrm{path}/R)^{\frac2L}, \qquad |R_L(f) - R| \le \tfrac2L \max\bigl(|\log
      |C_f^{1/2}|_+|,\ R\,|\log\tfrac{\mathrm{path}}R| \max(1, \tfrac{\mathrm{path}}R)^{\frac2L}\bigr).$$

    The first inequality is that of the means; the second, linear.mixed-variation-bound, is checked
    at every $\lambda$ for every network; the third is linear.path-norm-upper. The rate is checked for
    both ends of an interval that contains $R_L(f)$: the mixed variation, and the cost of the network
    whose weights are projected onto $\operatorname{range} C_f$, at the $\lambda$ of the path norm.
    Depths go up to 4096, and to $2^{24}$ in cases of equality. The limit follows from the rate. The
    lower end is sharper by $\kappa_R^{1/L}$ (linear.gradient-volume).
    """
    net = costs.two_layer_network(W, b, a)
    root, noise = costs.egop_root(net.jacobian(x).squeeze(-2), p), net.jacobian_noise(x).amax(-1)
    U, path = weights(V, root), costs.path_norm_of_units(V, e)
    R = torch.zeros_like(path) + linalg.rank(root, noise)
    one = torch.ones_like(path)
    safe = torch.where(R > 0, R, one)
    log_volume = linalg.log_pseudo_determinant(root, noise)
    lower = R * torch.exp(log_volume / safe * linalg.scalar(Fraction(exponent, L), path))
    mixed = linalg.schatten_power(root, Fraction(2, L), noise)
    share = torch.where(path > 0, path, one) / safe
    upper = R * linalg.power(share, Fraction(exponent, L))
    steepest = linalg.power(torch.maximum(share, one), Fraction(2, L)) * R * share.log().abs()
    rate = 2 * torch.maximum(log_volume.abs(), steepest) / L ** float(order)
    at_best = costs.phi_at(U, e, L, costs.path_norm_lambda(U, e))
    return (
        leq(lower, mixed, label="the lower end"),
        leq(mixed, costs.phi_at(V, e, L, lam), label="the mixed variation, at every λ"),
        # The projection errs by the condition number of the gradients.
        leq(at_best, upper, terms=2**20, label="the upper end"),
        leq(R - mixed, rate, scale=R + mixed, label="the rate from below"),
        leq(at_best - R, rate, scale=at_best + R, terms=2**20, label="the rate from above"),
    )
