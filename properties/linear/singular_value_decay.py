"""Last Theorem, slides A of `linear`: the singular values of a cheap function decay."""

from fractions import Fraction

import torch

from rankcheck import bound, costs, leq, linalg, paper
from rankcheck.instances import (
    Source,
    depth,
    functions_of_any_rank,
    instances,
    positive,
    separate_units,
)

from ._reach import index_ranks


@instances
def functions_and_ranks(source: Source):
    """Units at points, their law, L and λ; a number r ≥ 1, and k below the number of σ_i."""
    W, b, a, x, p, L, lam = functions_of_any_rank(least=2).build(source)
    k = source.integer(1, min(W.shape[-1], x.shape[-2]) - 1)
    return W, b, a, x, p, L, lam, positive(source, low=1.0, high=6.0), k


@instances
def flat_tails(source: Source):
    """σ_1 ≥ σ_2 = ... = σ_K, k = K − 1, and a number r ≥ 1."""
    W, b, a, x, p, _ = separate_units(source, least=2)
    first = torch.arange(W.shape[-2], device=W.device) == 0
    a = torch.where(first, (1 + source.tensor(1, low=0.0, high=2.0)) * a, a)
    r = positive(source, low=1.0, high=6.0)
    return W, b, a, x, p, depth(source), torch.ones_like(b), r, W.shape[-2] - 1


@instances
def heavier_laws(source: Source):
    """The same under 16 times the mass."""
    W, b, a, x, p, L, lam, r, k = flat_tails().build(source)
    return W, b, a, x, 16 * p, L, lam, r, k


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
    net = costs.two_layer_network(W, b, a)
    q = Fraction(2, L - 1)
    root, noise = costs.egop_root(net.jacobian(x).squeeze(-2), p), net.jacobian_noise(x).amax(-1)
    sigma = linalg.singular_values(root)
    some = sigma[..., 0] > 0
    top = torch.where(some, sigma[..., 0], torch.ones_like(sigma[..., 0]))
    following = torch.where(linalg.rank(root, noise) > k, sigma[..., k], torch.zeros_like(top))
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
