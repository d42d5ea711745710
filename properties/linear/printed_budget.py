"""A bound of the cost by gradients, and what the printed budget of slides B of `linear` allows."""

from fractions import Fraction
from itertools import combinations, product

import torch

from rankcheck import bound, conjecture, construction, costs, eq, leq, linalg, paper
from rankcheck.instances import (
    Source,
    depth,
    functions_of_any_rank,
    instances,
    matrix,
    orthogonal,
    positive,
    semi_orthogonal,
    separate_units_at_points,
    signs,
)

from ._helpers import gradients, index_ranks, members, root_and_noise

#: For n units, squares of rationals that sum to one over the number of sets of (n + 1)/2 units.
SQUARES = {1: (Fraction(1),), 3: (Fraction(1, 9),) * 3, 5: (Fraction(9, 100), Fraction(1, 100))}


@instances
def functions_of_rank(source: Source):
    """Units W, b, a, points x of masses p, a depth, λ > 0, and n up to the rank that fits."""
    family = source.choice((functions_of_any_rank(least=2), separate_units_at_points()))
    W, b, a, x, p, L, lam = family.build(source)
    return W, b, a, x, p, L, lam, source.integer(1, min(*W.shape, len(x), 3))


@instances
def half_of_the_units(source: Source):
    """An odd number n of orthogonal units of one length; any (n + 1)/2 of them are active."""
    n = source.choice(tuple(SQUARES))
    t = positive(source, 1, 1, low=0.5, high=2.0)
    rows = semi_orthogonal(source, source.integer(n, max(n, 4)), n).mT
    sets = [set_ for set_ in combinations(range(n), (n + 1) // 2) for _ in SQUARES[n]]
    a = signs(source, n)
    x = members(sets, n, t) @ rows / t
    masses = SQUARES[n] * (len(sets) // len(SQUARES[n]))
    p = torch.stack([linalg.scalar(mass, t) for mass in masses])
    return t * rows, -torch.ones_like(a) / 2, a, x, p, depth(source), a * a, n


@instances
def heavier_laws(source: Source):
    """The same under four times the mass."""
    W, b, a, x, p, *others = half_of_the_units().build(source)
    return W, b, a, x, 4 * p, *others


@bound(
    "linear.gradient-volume",
    paper("rankcheck", "docs/proofs/printed-budget.md, Theorem 1"),
    instances=functions_of_rank(),
    reach=index_ranks,
    tight=half_of_the_units(),
    needs={"the law has mass one": heavier_laws()},
    mutants={
        "exponent 2.04/(nL)": {"exponent": Fraction(51, 50)},
        "exponent 1.96/(nL)": {"exponent": Fraction(49, 50)},
        "κ_n 2 % larger": {"constant": Fraction(51, 50)},
        "λ_max ≥ 1.02 τ²": {"trace": Fraction(51, 50)},
    },
)
def test_gradient_volume(W, b, a, x, p, L, lam, n, *, exponent=1, constant=1, trace=1):
    r"""The product of the gradients' singular values bounds the cost from below.

    For $h(x) = a^\top [Wx + b]_+ + c$, every law of $x$, every $\lambda > 0$ with $\|\lambda\| = 1$
    and every $n \le \operatorname{rank} C_h$, with $\sigma_i = \sigma_i(C_h^{1/2})$:
    $$n\,\kappa_n^{1/L}\,(\sigma_1 \cdots \sigma_n)^{\frac2{nL}} \le
      \|D_\lambda^{-1} D_a W\|_{S^{2/(L-1)}}^{2/L}, \qquad \kappa_n = \frac{4n}{(n+1)^{1+1/n}}.$$
    So $R\,\kappa_R^{1/L} |C_f^{1/2}|_+^{2/(RL)} \le R_L(f)$ with $R = \operatorname{rank}_I(f)$.
    linear.mixed-variation-bound gives the same with 1 in place of $\kappa_n$; $\kappa_1 = 1$,
    $\kappa_2 = 1.54$, $\kappa_3 = 1.89$, and $\kappa_n \to 4$.

    So $R_L(f) \le r^{(L-2)/L} J^{2/L}$ with $J < \varepsilon r\,(1 + \frac1r)^{L/2}
    \sqrt{\kappa_{r+1}}$ gives $\operatorname{rank}_{I,\varepsilon}(f) \le r$.

    The step that is new: $B = \mathbb E[vv^\top]$ with $v = \lambda \circ s(x)$, $s(x) \in \{0, 1\}^K$
    the active units, has $\lambda_{\max}(B) \ge (\operatorname{tr} B)^2$, since
    $\|v\|^2 = \lambda^\top v$. Checked as well.

    For odd $n$, orthogonal units of one length of which any $(n + 1)/2$ are active with the same
    probability attain the bound. For even $n$ no case of equality is known. Checked for laws with
    finitely many atoms and $n \le 5$. Proof: docs/proofs/printed-budget.md.
    """
    root, noise = root_and_noise(W, b, a, x, p)
    full, sigma = linalg.rank(root, noise) >= n, linalg.singular_values(root)[:n]
    sigma = torch.where(full, sigma, torch.ones_like(sigma))
    least = costs.gradient_volume_bound(linalg.power(sigma, exponent), L)
    least = least * linalg.power(linalg.scalar(constant, least), Fraction(1, L))

    active = costs.two_layer_network(W, b, a).preactivations(x)[0] >= 0
    length = linalg.power(lam @ lam, Fraction(1, 2))
    v = costs.egop_root(active.to(torch.float64) * (lam / length), p)
    largest, total = linalg.singular_values(v)[0], linalg.frobenius_squared(v)
    return (
        leq(least, costs.phi_at(W, a, L, lam), where=full, label="the cost"),
        leq(total * total * float(trace), largest * largest, label="the active units"),
    )


@instances
def laws_of_active_sets(source: Source, *, units=(2, 4)):
    """λ > 0 for K units, and weights of the 2^K sets of active units, some of them zero."""
    K = source.integer(*units)
    weights = torch.relu(source.tensor(2**K, low=-1.0, high=1.0))
    source.require(weights.sum() > 0, "some set has a positive weight")
    return source.tensor(K, low=0.125, high=1.0), weights


@instances
def three_sets_of_two_units(source: Source):
    """Either unit, and both, with equal probabilities, at λ_1 = λ_2: equality."""
    one = source.tensor(1, low=0.25, high=1.0)
    return torch.cat((one, one)), torch.cat((0 * one, one, one, one))


@conjecture(
    "linear.two-eigenvalues",
    paper("rankcheck", "docs/proofs/printed-budget.md, even n"),
    instances=laws_of_active_sets(),
    tight=three_sets_of_two_units(),
    mutants={"2 % less": {"share": Fraction(49, 50)}},
)
def test_two_eigenvalues(lengths, weights, *, share=1):
    r"""The two largest eigenvalues of the second moment of active units have a product of at most 1/12.

    Let $\|\lambda\| = 1$, $\lambda > 0$, $s$ a random vector of zeros and ones and $\beta_1 \ge \beta_2 \ge \dots$
    the eigenvalues of $B = \mathbb E[vv^\top]$, $v = \lambda \circ s$. Conjecture: $\beta_1 \beta_2 \le \frac1{12}$.

    In the proof of linear.gradient-volume stands $\frac{27}{256}$, which is attained for no law: the bound there is
    $(n+1)^{n+1}/(2n)^{2n}$ for n eigenvalues, and attained for odd n. Two units of which either, and
    both, are active with probability $\frac13$ attain $\frac1{12}$. With it that theorem would be sharper at $n = 2$.
    """
    V = lengths.new_tensor(list(product((0.0, 1.0), repeat=len(lengths)))) * lengths
    total = weights.sum() * (lengths @ lengths)
    values = torch.linalg.eigvalsh(V.mT @ (weights.unsqueeze(-1) * V))
    both = values[-1] * values[-2] * 12
    return leq(both, total * total * linalg.scalar(share, total), scale=total * total)


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
    W, lam = t * (turn.new_tensor(weights) @ turn), turn.new_tensor(scales)
    x = x.to(turn.device) @ turn
    return W, 0 * lam, torch.ones_like(lam), x, x.new_ones(len(x)) / len(x), lam, t[0]


@instances
def functions_within_the_budget(source: Source):
    """One of the two functions, r, a level ε below its singular values, and a depth."""
    r = source.integer(2, 3)
    *parts, t = function_of(source, r)
    _, _, level, least = FUNCTIONS[r]
    return *parts, r, level * t, least + source.choice((0, 1, 2, 4, 8, 16, 32, 100, 1000))


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
    C = costs.egop(gradients(W, b, a, x), p)
    J = (1 - 2.0**-20) * threshold(r, eps, L)
    rank = linalg.power(linalg.scalar(r, J), Fraction(L - 2, L))
    allowed = rank * linalg.power(J, Fraction(2, L))
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
    L, D = source.integer(*depths), source.integer(3, 4)
    if kind == "any":
        K, N = source.integer(3, 5), source.integer(3, 6)
        W, b, a = matrix(source, K, D), source.tensor(K), source.tensor(K)
        x, lam = source.tensor(N, D), positive(source, K)
    else:
        W, x = pairs_of_units(source, D)
        a = lam = W.new_ones(len(W))
        b = -a / 2
    mass = positive(source, len(x))
    return W, b, a, x, mass / mass.sum(), lam, source.integer(2, min(len(W), D, len(x)) - 1), L


@instances
def functions_of_any_size(source: Source, *, depths):
    """The same with outer weights 2^±32 times as large: both sides of the bound grow alike."""
    W, b, a, *others = functions_of_rank_above(depths=depths)(source)
    return W, b, a * linalg.scalar(Fraction(2) ** source.choice((0, 32, -32)), a), *others


def pairs_of_units(source: Source, K: int):
    """W = αI − β11ᵀ, and for each pair of units the x at which Wx is 1 for these, 0 for the others."""
    alpha, beta = positive(source, 1, 1, low=1.0), source.tensor(1, 1, low=-1.0, high=0.24)
    active = members([(i, j) for j in range(K) for i in range(j)], K, alpha)
    # (αI − β11ᵀ)⁻¹ = (I + β/(α − βK) 11ᵀ)/α, as βK < α
    x = (active + 2 * beta / (alpha - K * beta)) / alpha
    return alpha * linalg.eye(K, alpha) - beta, x


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
    C = costs.egop(gradients(W, b, a, x), p)
    size = (linalg.power(linalg.scalar(r, C), Fraction(1, 2)) + r) * float(more)
    sums = size * linalg.power(linalg.singular_values(C)[r], Fraction(1, L - 1))
    return leq(linalg.power(sums, Fraction(L - 1, L)), costs.phi_at(W, a, L, lam))
