"""Corollary 2, slides B of `linear`: from some depth on, the function of lower index rank costs
less."""

from fractions import Fraction

import torch

from rankcheck import bound, costs, leq, linalg, paper
from rankcheck.instances import (
    Source,
    away_from_zero,
    instances,
    low_rank,
    semi_orthogonal,
    separate_units,
    signs,
    units_on_a_line,
)

DEPTHS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256)
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
    return W, a, V, b, e, x, p, source.choice(DEPTHS)


@instances
def functions_of_equal_cost(source: Source):
    """r and R > r orthogonal units whose two costs are (nearly) equal at the depth L.

    In half of the draws all e_k v_k have one length, so that the bound by the weights is tight.
    Otherwise all singular values of C_g^{1/2} are equal, and the bound by the gradients is tight.
    """
    V, b, e, x, p, t = separate_units(source, least=2)
    R, D = V.shape[-2:]
    r, L = source.integer(1, R - 1), source.integer(2, 8)
    meets = linalg.power(linalg.scalar(Fraction(R, r), t), Fraction(L, 2)) * t
    by_weights, shorter = signs(source, 1) > 0, signs(source, 1) > 0
    e = torch.where(by_weights, t, e)
    meets = torch.where(
        shorter, linalg.scalar(SHORTER, t) * meets, linalg.scalar(LONGER, t) * meets
    )
    W = meets.unsqueeze(-1) * semi_orthogonal(source, D, r).mT
    return W, torch.ones_like(W[..., 0]), V, b, e, x, p, L


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
    net = costs.two_layer_network(V, b, e)
    root = costs.egop_root(net.jacobian(x).squeeze(-2), p)
    mixed = linalg.schatten_power(root, Fraction(2, L))
    r, R, R_gradients = costs.unit_rank(W, a), linalg.rank(e.unsqueeze(-1) * V), linalg.rank(root)
    # Without r < R there is no threshold: one above L asserts nothing.
    T = torch.where(r < R, costs.winning_threshold(W, a, V, e), L + 1.0)
    T_gradients = torch.where(
        r < R_gradients, costs.winning_threshold_by_gradients(W, a, root), L + 1.0
    )
    return (
        leq(upper, costs.phi_lower(V, e, L), where=factor * T < L, label="by the weights"),
        leq(upper, mixed, where=factor * T_gradients < L, label="by the gradients"),
    )
