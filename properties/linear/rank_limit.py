"""Depth, slides A and B of `linear`: the cost tends to the rank, and singular values decay."""

from fractions import Fraction

import torch

from rankcheck import Need, bound, costs, leq, limit, linalg, paper
from rankcheck.instances import (
    Source,
    aligned_units_at_points,
    away_from_zero,
    depth,
    functions_of_any_rank,
    instances,
    low_rank,
    positive,
    semi_orthogonal,
    separate_units,
    signs,
    two_networks_on_a_line,
    units_on_a_line,
    units_with_scales,
)

from ._helpers import as_given, gradients, index_ranks, projected, root_and_noise, without_an_end

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


def upper_end(path, r, L, exponent):
    """r (path/r)^{e/L}, and r |log(path/r)| max(1, path/r)^{2/L}; path/r is 1/r or path if one is 0."""
    one = torch.ones_like(path)
    share = torch.where(path > 0, path, one) / torch.maximum(r, one)
    steepest = linalg.power(torch.maximum(share, one), Fraction(2, L)) * r * share.log().abs()
    return r * linalg.power(share, Fraction(exponent, L)), steepest


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

    With $B = D_aW$ of rank $r$ and $\mathrm{path} = \sum_k |a_k| \|w_k\|$, $r\,|B|_+^{2/(rL)} \le
    \Phi_L(W, a) \le r\,(\mathrm{path}/r)^{2/L}$ and $|\Phi_L - r| \le \frac2L \max\bigl(|\log
    |B|_+|,\ r\,|\log\frac{\mathrm{path}}r| \max(1, \frac{\mathrm{path}}r)^{2/L}\bigr)$.

    The lower end is checked at every $\lambda$, the upper end and the rate at the $\lambda$ of the
    path norm, at depths up to $2^{24}$. The limit $\Phi_L \to r$ follows from the rate. The corollary,
    about functions, is linear.rank-limit.
    """
    B, path = a.unsqueeze(-1) * W, costs.path_norm_of_units(W, a)
    r, counted = (torch.zeros_like(path) + rank for rank in (costs.unit_rank(W, a), linalg.rank(B)))
    log_volume = linalg.log_pseudo_determinant(B)
    mean = log_volume / torch.maximum(counted, torch.ones_like(path))
    lower = counted * torch.exp(mean * linalg.scalar(Fraction(exponent, L), path))
    upper, steepest = upper_end(path, r, L, exponent)
    rate = torch.maximum(log_volume.abs(), steepest)
    at_best = costs.phi_at(W, a, L, costs.path_norm_lambda(W, a))
    return (
        leq(lower, costs.phi_at(W, a, L, lam), label="the lower end, at every λ"),
        leq(at_best, upper, label="the upper end"),
        leq((at_best - r).abs(), 2 * rate / L ** float(order), scale=at_best + r, label="the rate"),
    )


@instances
def functions_at_any_depth(source: Source):
    """Two networks for a function, a law with mass in each region on a line, a depth, and λ > 0."""
    parts = two_networks_on_a_line().build(source)
    return *parts, source.choice(DEPTHS), positive(source, len(parts[-1]))


@instances
def functions_of_one_singular_value(source: Source):
    """The same network twice: separate units, whose σ_i agree, or aligned ones: all bounds agree."""
    if source.integer(0, 3) > 0:
        *units, x, p, _, lam = aligned_units_at_points().build(source)
        return *units, x, p, *units, source.choice(DEEP), lam
    *units, x, p, _ = separate_units(source)
    return *units, x, p, *units, source.choice(DEPTHS), torch.ones_like(p)


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
    root, noise = root_and_noise(W, b, a, x, p)
    U, path = weights(V, root), costs.path_norm_of_units(V, e)
    R = torch.zeros_like(path) + linalg.rank(root, noise)
    log_volume = linalg.log_pseudo_determinant(root, noise)
    mean = log_volume / torch.maximum(R, torch.ones_like(R))
    lower = R * torch.exp(mean * linalg.scalar(Fraction(exponent, L), path))
    mixed = linalg.schatten_power(root, Fraction(2, L), noise)
    upper, steepest = upper_end(path, R, L, exponent)
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


#: Factors of the path norm at which both sides are equal.
SHORTER, LONGER = 1 - Fraction(1, 2**30), 1 + Fraction(1, 2**8)


@instances
def functions_of_two_ranks(source: Source):
    """W, a of rank at most r; V, b, e of rank R > r, with a law of its points; a depth."""
    D = source.integer(2, 4)
    r = source.integer(1, D - 1)
    K = source.integer(r, 4)
    W, a = low_rank(source, K, D, r), away_from_zero(source, K)
    V, b, e, x, p = units_on_a_line(units=(D, 4), inputs=(D, D), full_rank=True).build(source)
    return W, a, V, b, e, x, p, source.choice((2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256))


@instances
def functions_of_equal_cost(source: Source):
    """r and R > r orthogonal units whose two costs are (nearly) equal at the depth L.

    In half of the draws all e_k v_k have one length, so that the bound by the weights is tight.
    Otherwise all singular values of C_g^{1/2} are equal, and the bound by the gradients is tight.
    """
    V, b, e, x, p, t = separate_units(source, least=2)
    R, D = V.shape
    r, L = source.integer(1, R - 1), source.integer(2, 8)
    meets = linalg.power(linalg.scalar(Fraction(R, r), t), Fraction(L, 2)) * t
    by_weights, shorter = signs(source, 1) > 0, signs(source, 1) > 0
    e = torch.where(by_weights, t, e)
    meets = torch.where(shorter, linalg.scalar(SHORTER, t), linalg.scalar(LONGER, t)) * meets
    W = meets * semi_orthogonal(source, D, r).mT
    return W, W.new_ones(r), V, b, e, x, p, L


@bound(
    "linear.low-rank-wins",
    paper("linear", "slides B, Corollary 2"),
    instances=functions_of_two_ranks(),
    tight=functions_of_equal_cost(),
    mutants={"from a depth 2 % smaller": {"factor": 0.98}},
)
def test_low_rank_wins(W, a, V, b, e, x, p, L, *, factor=1):
    r"""Of two functions, the one of lower rank costs less from an explicit depth on.

    Let $f$ have the units $W, a$ with $r = \operatorname{rank} D_aW$, and $g$ the units $V, e$ with
    $R = \operatorname{rank} D_eV > r$. Then $\Phi_L(W, a) \le r^{(L-2)/L} \mathrm{path}^{2/L} \le
    \|D_eV\|_{S^{2/L}}^{2/L} \le \Phi_L(V, e)$ for every $L > T = \frac{2}{\log(R/r)}
    \bigl(\log\frac{\mathrm{path}}r - \frac1R \log|D_eV|_+\bigr)$. And
    $R_L(f) \le r^{(L-2)/L} \mathrm{path}^{2/L} \le \mathcal{MV}(g; \frac2L)^{2/L} \le R_L(g)$ for every
    $L > T'$: this threshold has $|C_g^{1/2}|_+$ in place of $|D_eV|_+$.

    Checked are the two middle inequalities, where $L$ exceeds the threshold; the outer ones are
    linear.phi-sandwich and linear.mixed-variation-bound. The least depth above $T$ is
    `winning_depth`.
    """
    upper = costs.phi_upper(W, a, L)
    root = costs.egop_root(gradients(V, b, e, x), p)
    mixed = linalg.schatten_power(root, Fraction(2, L))
    r, R, R_gradients = costs.unit_rank(W, a), linalg.rank(e.unsqueeze(-1) * V), linalg.rank(root)
    # Without r < R there is no threshold: one above L asserts nothing.
    T = torch.where(r < R, costs.winning_threshold(W, a, V, e), L + 1.0)
    by_gradients = costs.winning_threshold_by_gradients(W, a, root)
    T_gradients = torch.where(r < R_gradients, by_gradients, L + 1.0)
    return (
        leq(upper, costs.phi_lower(V, e, L), where=factor * T < L, label="by the weights"),
        leq(upper, mixed, where=factor * T_gradients < L, label="by the gradients"),
    )


@instances
def functions_and_ranks(source: Source):
    """Units at points, their law, L and λ; a number r ≥ 1, and k below the number of σ_i."""
    W, b, a, x, *others = functions_of_any_rank(least=2).build(source)
    k = source.integer(1, min(W.shape[1], len(x)) - 1)
    return W, b, a, x, *others, positive(source, low=1.0, high=6.0), k


@instances
def flat_tails(source: Source):
    """σ_1 ≥ σ_2 = ... = σ_K, k = K − 1, and a number r ≥ 1."""
    W, b, a, x, p, _ = separate_units(source, least=2)
    a = torch.cat(((1 + source.tensor(1, low=0.0, high=2.0)) * a[:1], a[1:]))
    r = positive(source, low=1.0, high=6.0)
    return W, b, a, x, p, depth(source), torch.ones_like(b), r, len(W) - 1


@instances
def heavier_laws(source: Source):
    """The same under 16 times the mass."""
    W, b, a, x, p, *others = flat_tails().build(source)
    return W, b, a, x, 16 * p, *others


@bound(
    "linear.singular-value-decay",
    paper("linear", "slides A, last Theorem"),
    instances=functions_and_ranks(),
    reach=index_ranks,
    tight=flat_tails(),
    needs={"the law has mass one": heavier_laws()},
    mutants={
        "exponent 2.04/(L − 1)": {"inner": Fraction(51, 25)},
        "exponent 1.96/(L − 1)": {"inner": Fraction(49, 25)},
        "exponent 1.02 (L − 1)/2": {"outer": Fraction(51, 100)},
        "nine tenths of the cost": {"of_cost": Fraction(9, 10)},
        "sharpest, with exponent 2.04/L": {"deep": Fraction(51, 25)},
        "sharpest, with exponent 1.96/L": {"deep": Fraction(49, 25)},
    },
    loose={
        "from the cost": "from index rank 2 on, the mixed variation at 2/(L − 1) is less than the cost; "
        "the ratio of the two sides as checked, k(σ_{k+1}/σ_1)^{2/(L−1)} and rA^{2/(L−1)} − 1, tends to 1 "
        "with the depth only"
    },
)
def test_singular_value_decay(
    W, b, a, x, p, L, lam, r, k, *, inner=2, outer=Fraction(1, 2), deep=2, of_cost=1
):
    r"""The singular values of a function that costs no more than one of rank r decay.

    Every $f$ with $\Phi_L(f) \le r^{(L-2)/L} R^{2/L}$ has
    $\frac{\sigma_{k+1}}{\sigma_1} \le \bigl(\frac{r A^{2/(L-1)} - 1}{k}\bigr)^{(L-1)/2}$,
    $A = R/\sigma_1$, $\sigma_i = \sigma_i(C_f^{1/2})$, for real $r \ge 1$. A minimal interpolant is
    such an $f$ if $R$ is the $R_2$-cost of an interpolant of index rank $r$.

    Checked for the least $R$ that the cost at $\lambda$ allows, which covers every larger one; and
    for the least $R$ that the mixed variation allows. Every spectrum $\sigma_1 \ge \sigma_2 =
    \cdots = \sigma_{k+1}$ attains the second bound at $r = 1$. The proof gives the sharper bound
    with $r^{1 - 1/(L-1)}$ in place of $r$, which these spectra attain at every $r$.

    Sharpest: $\frac{\sigma_{k+1}}{\sigma_1} \le \bigl(\frac{r^{1 - 2/L} A^{2/L} - 1}{k}\bigr)^{L/2}$,
    since $\sigma_1^{2/L} + k\,\sigma_{k+1}^{2/L} \le \sum_i \sigma_i^{2/L} \le \Phi_L(f)$ by
    linear.mixed-variation-bound. The same spectra attain it at every $r$.
    """
    root, noise = root_and_noise(W, b, a, x, p)
    q, sigma = Fraction(2, L - 1), linalg.singular_values(root)
    some = sigma[0] > 0
    top = torch.where(some, sigma[0], torch.ones_like(sigma[0]))
    following = torch.where(linalg.rank(root, noise) > k, sigma[k], torch.zeros_like(top))
    cost = linalg.power(costs.phi_at(W, a, L, lam), Fraction(L, 2))
    mixed = linalg.power(linalg.schatten_power(root, q, noise), 1 / q)

    # Both sides to the power 2/(L − 1): a base that may be a rounded zero has no such root.
    tail = k * linalg.power(following / top, 1 / ((L - 1) * outer))

    def whole(power_of_cost, factor):
        R = power_of_cost / linalg.power(r, Fraction(L - 2, 2))
        return linalg.power(r, factor) * linalg.power(R / top, Fraction(inner, L - 1))

    by_cost = whole(cost, 1) * float(of_cost)
    by_mixed, sharper = whole(mixed, 1), whole(mixed, 1 - q / 2)

    def sharpest(cost_of_all):
        R = linalg.power(cost_of_all, Fraction(L, 2)) / linalg.power(r, Fraction(L - 2, 2))
        return linalg.power(r, Fraction(L - 2, L)) * linalg.power(R / top, Fraction(deep, L))

    sums = sharpest(linalg.schatten_power(root, Fraction(2, L), noise))
    part = k * linalg.power(following / top, Fraction(2, L))
    return (
        leq(tail, by_cost - 1, scale=by_cost, where=some, label="from the cost"),
        leq(tail, by_mixed - 1, scale=by_mixed, where=some, label="from the mixed variation"),
        leq(tail, sharper - 1, scale=sharper, where=some, label="sharper"),
        leq(part, sums - 1, scale=sums, where=some, label="sharpest"),
    )
