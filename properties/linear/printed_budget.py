"""Corollary on minimal-norm interpolants, slides B of `linear`: what the printed budget says about
every function within it, minimal or not. Up to depth 13 it suffices; from depth 14 on it does not."""

from fractions import Fraction

import torch

from rankcheck import bound, construction, costs, eq, leq, linalg, paper
from rankcheck.instances import Source, instances, matrix, orthogonal, positive

from ._reach import index_ranks

#: (r + √r)^{L−1} ≤ (r + 1)^L κ_{r+1} for every integer r ≥ 2 up to this depth.
PROVED = 13
#: Two functions, by r: the weights, the scales λ, a level below every σ_i, and the least depth at
#: which the function is within the printed budget.
FUNCTIONS = {
    2: (((5, -1, -1), (-1, 5, -1), (-1, -1, 5)), (1.0, 1.0, 1.0), 3.4641, 15),
    3: (
        ((36, -9, -9, 0), (-9, 36, -9, 0), (-9, -9, 36, 0), (3, 3, 3, 26), (3, 3, 3, -26)),
        (1.25, 1.25, 1.25, 1.0, 1.0),
        25.98,
        14,
    ),
}
#: So many layers more than that depth.
FURTHER = (0, 1, 2, 4, 8, 16, 32, 100, 1000)


def function_of(source: Source, r: int):
    """W, b, a, x, p, λ of the function for r, turned and scaled at random, and the scale t.

    Two of the first three units are active at each of the points x, which have equal masses; of the
    last two units, if there are five, one is.
    """
    weights, scales, _, _ = FUNCTIONS[r]
    x = 1 - 3 * torch.eye(3, dtype=torch.float64)
    if r == 3:
        side = torch.tensor([[1.0]] * 3 + [[-1.0]] * 3, dtype=torch.float64)
        x = torch.cat((x.repeat(2, 1), side), -1)
    t = positive(source, 1, low=0.5, high=2.0)
    turn = orthogonal(source, len(weights[0])).mT
    W = t.unsqueeze(-1) * (torch.tensor(weights, dtype=torch.float64, device=turn.device) @ turn)
    x = x.to(turn.device) @ turn
    zero = 0 * W[..., 0]
    lam = zero + torch.tensor(scales, dtype=torch.float64, device=turn.device)
    return W, zero, zero + 1, x, (0 * x[..., 0] + 1) / x.shape[-2], lam, t[..., 0]


@instances
def functions_within_the_budget(source: Source):
    """One of the two functions, r, a level ε below its singular values, and a depth."""
    r = source.integer(2, 3)
    *parts, t = function_of(source, r)
    _, _, level, least = FUNCTIONS[r]
    return *parts, r, level * t, least + source.choice(FURTHER)


@construction(
    "linear.functions-within-the-printed-budget",
    paper("rankcheck", "docs/proofs/printed-budget.md, Proposition 3"),
    instances=functions_within_the_budget(),
    mutants={
        "one layer fewer": {"fewer": 1},
        "1 + 1/r, as it follows from the theorem": {"threshold": costs.effective_rank_threshold},
    },
)
def test_functions_within_the_printed_budget(
    W, b, a, x, p, lam, r, eps, L, *, fewer=0, threshold=costs.effective_rank_threshold_as_printed
):
    r"""From depth 14 on, functions within the printed budget have a larger effective index rank.

    There are $f$, $r$, $\varepsilon$, $J$ with $J < \varepsilon\sqrt r\,(1 +
    \frac1{\sqrt r})^{(L-1)/2}$ and $R_L(f) \le r^{(L-2)/L} J^{2/L}$, but
    $\operatorname{rank}_{I,\varepsilon}(f) = r + 1$: with $r = 3$ at every $L \ge 14$, with $r = 2$
    at every $L \ge 15$. Up to depth 13 there are none (linear.printed-budget-to-depth-13).

    $r = 2$: $f(x) = \sum_k [w_k \cdot x]_+$ with the rows $w_k$ of $6I - 11^\top$, under the law of
    the three points $(1, 1, 1) - 3e_k$; at each of them two units are active, and
    $\sigma_i(C_f^{1/2}) = 2\sqrt3$. $r = 3$: the rows of $9(5I - 11^\top)$ in the first three
    coordinates, and two more units $(3, 3, 3, \pm 26)$; six points, and $\sigma_i \ge 15\sqrt3$.
    The cost is that at explicit scales $\lambda$, which bounds $R_L(f)$ from above.

    So no argument that uses only the cost of $f$ gives the printed corollary at these depths. It
    says nothing about minimal interpolants of data. Checked at up to 1000 layers more than the
    least depth. Proof: docs/proofs/printed-budget.md.
    """
    L = L - fewer
    C = costs.egop(costs.two_layer_network(W, b, a).jacobian(x).squeeze(-2), p)
    J = (1 - 2.0**-20) * threshold(r, eps, L)
    allowed = linalg.power(linalg.scalar(r, J), Fraction(L - 2, L)) * linalg.power(
        J, Fraction(2, L)
    )
    return (
        eq(costs.effective_index_rank(C, eps), r + 1, label="the effective index rank"),
        leq(costs.phi_at(W, a, L, lam), allowed, label="the budget"),
    )


@instances
def functions_of_rank_above(source: Source, *, depths):
    """Units W, b, a, points x of masses p, λ, a rank r ≥ 2 below K, D and N, and a depth.

    Any units at any points; units α e_k − β 1 of which each two are active at some point; or, at the
    largest depth, one of the two functions of the construction.
    """
    kind = source.choice(("a function of the construction", "pairs of units", "any"))
    if kind == "a function of the construction":
        r = source.integer(2, 3)
        *parts, _ = function_of(source, r)
        return *parts, r, depths[1]
    L = source.integer(*depths)
    D = source.integer(3, 4)
    if kind == "any":
        K, N = source.integer(3, 5), source.integer(3, 6)
        W, b, a = matrix(source, K, D), source.tensor(K), source.tensor(K)
        x, lam = source.tensor(N, D), positive(source, K)
    else:
        W, x = pairs_of_units(source, D)
        a = lam = torch.ones_like(W[..., 0])
        b = -a / 2
    mass = positive(source, x.shape[-2])
    p = mass / mass.sum(-1, keepdim=True)
    return W, b, a, x, p, lam, source.integer(2, min(W.shape[-2], D, x.shape[-2]) - 1), L


@instances
def functions_of_any_size(source: Source, *, depths):
    """The same with outer weights 2^±32 times as large: both sides of the bound grow alike."""
    W, b, a, *others = functions_of_rank_above(depths=depths)(source)
    return W, b, a * linalg.scalar(Fraction(2) ** source.choice((0, 32, -32)), a), *others


def pairs_of_units(source: Source, K: int):
    """W = αI − β11ᵀ, and for each pair of units the x at which Wx is 1 for these, 0 for the others."""
    alpha, beta = positive(source, 1, 1, low=1.0), source.tensor(1, 1, low=-1.0, high=0.24)
    pairs = [(i, j) for j in range(K) for i in range(j)]
    active = torch.zeros(len(pairs), K, dtype=torch.float64)
    for place, pair in enumerate(pairs):
        active[place, list(pair)] = 1.0
    ones = torch.ones_like(alpha)
    W = alpha * linalg.eye(K, like=alpha) - beta * ones
    # (αI − β11ᵀ)⁻¹ = (I + β/(α − βK) 11ᵀ)/α, as βK < α
    x = (ones * active.to(alpha.device) + 2 * beta / (alpha - K * beta)) / alpha
    return W, x


@bound(
    "linear.printed-budget-to-depth-13",
    paper("rankcheck", "docs/proofs/printed-budget.md, Theorem 2"),
    instances=functions_of_any_size(depths=(2, PROVED)),
    reach=index_ranks,
    needs={"L ≤ 13": functions_of_rank_above(depths=(PROVED + 1, PROVED + 2))},
    mutants={"1.02 (r + √r)": {"more": Fraction(51, 50)}},
)
def test_printed_budget_to_depth_13(W, b, a, x, p, lam, r, L, *, more=1):
    r"""At depths up to 13 every function within the printed budget has a small effective index rank.

    If $R_L(f) \le r^{(L-2)/L} J^{2/L}$ with $J < \varepsilon\sqrt r\,(1 +
    \frac1{\sqrt r})^{(L-1)/2}$, $L \le 13$ and $r \ge 1$, then
    $\operatorname{rank}_{I,\varepsilon}(f) \le r$. So the printed corollary holds at these depths.

    Checked in the form $((r + \sqrt r)\,\sigma_{r+1}(C_f^{1/2})^{2/(L-1)})^{(L-1)/L} \le \Phi_L(f)$
    for $r \ge 2$, with the cost at any $\lambda$: the left side is the budget at $\varepsilon =
    \sigma_{r+1}$. For $r = 1$ the corollary is linear.effective-rank-corollary.

    By linear.gradient-volume, $\Phi_L(f) \ge (r + 1)\,\kappa_{r+1}^{1/L}\,\sigma_{r+1}^{2/L}$, and
    $(r + \sqrt r)^{L-1} \le (r + 1)^L \kappa_{r+1}$ for $L \le 13$. At $L = 14$ this still holds for
    every $r \ne 3$. The largest ratio known is 0.9873, that of the function with $r = 3$ of
    linear.functions-within-the-printed-budget at depth 13. Proof: docs/proofs/printed-budget.md.
    """
    C = costs.egop(costs.two_layer_network(W, b, a).jacobian(x).squeeze(-2), p)
    size = (linalg.power(linalg.scalar(r, C), Fraction(1, 2)) + r) * float(more)
    sums = size * linalg.power(linalg.singular_values(C)[..., r], Fraction(1, L - 1))
    return leq(linalg.power(sums, Fraction(L - 1, L)), costs.phi_at(W, a, L, lam))
