"""Proposition 4.3/14.3 and §3.2 of `bottleneck`: the second correction of linear maps, and its shares."""

from fractions import Fraction

import torch

from rankcheck import Erratum, bound, costs, eq, leq, limit, linalg, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    instances,
    isometry_at,
    nonnegative_isometry,
    positive,
    semi_orthogonal,
    slope,
)

from ._invertible import NOISE, invertible


def ends_and_roots(source: Source, depth: tuple[int, int]):
    """A depth, isometries V and U of R^k, and roots t of singular values."""
    k, L = source.integer(1, 3), source.integer(*depth)
    V, U = (semi_orthogonal(source, k + source.integer(0, 1), k) for _ in range(2))
    return L, V, U, positive(source, k, low=0.5, high=2.0)


@instances
def spectra_on_cones(source: Source):
    """Roots t of singular values, isometries V, U_1, ..., U_L, a slope, and a point x.

    U_ℓ T^ℓ Vᵀx >= 0 for the isometries between the first and the last. In half of the draws they are
    non-negative, and otherwise any isometries with this property.
    """
    L, V, U, t = ends_and_roots(source, (1, 6))
    y = source.tensor(len(t), low=0.0)
    if source.choice(("orthant", "any")) == "orthant":
        inside = [nonnegative_isometry(source, len(t), V) for _ in range(L - 1)]
    else:
        y = y - 2
        inside = [isometry_at(source, t**layer * y) for layer in range(1, L)]
    return t, (V, *inside, U), slope(source), V @ y


@instances
def outside_the_cone(source: Source):
    """The same at −x, for slope 0 and a network with a hidden layer."""
    t, isometries, _, x = spectra_on_cones()(source)
    source.require(len(isometries) > 2, "there is a hidden layer")
    return t, isometries, 0, -x


def all_in_the_first_layer(t, isometries, slope):
    """All of S in the first layer, and isometries after it."""
    L = len(isometries) - 1
    first = witnesses.balanced_cone_network(t**L, isometries[:2], slope)
    if L == 1:
        return first
    return witnesses.balanced_cone_network(torch.ones_like(t), isometries[1:], slope).after(first)


@limit(
    "bottleneck.second-correction-linear",
    paper("bottleneck", "Prop. 4.3"),
    instances=spectra_on_cones(),
    needs={"the powers of A take the domain to orthants": outside_the_cone()},
    mutants={"all of it in the first layer": {"witness": all_in_the_first_layer}},
    witness=witnesses.balanced_cone_network,
)
def test_second_correction_linear(t, isometries, a, x, *, witness=witnesses.balanced_cone_network):
    r"""The least cost of a linear map on a suitable cone, up to the second correction.

    For $A = U S V^T$ and isometries with $U_\ell S^{\ell/L} V^T \Omega \ge 0$, $U_0 = V$ and
    $U_L = U$ (they exist if the domains $S^p V^T \Omega$ are completely positive), the network $W_\ell = U_\ell S^{1/L} U_{\ell-1}^T$ equals $A$ on $\Omega$ for every
    slope, and its cost is
    $$L \operatorname{tr} S^{2/L} = L \|A\|_{S^{2/L}}^{2/L} = kL + 2 \log |A|_+
      + \frac{1}{2L} \|\log_+ A^T A\|_F^2 + O(L^{-2}),$$
    with the remainder of bottleneck.cost-expansion.

    In the limit, $R^{(2)}(x \mapsto Ax; \Omega) = \frac12 \|\log_+ A^T A\|_F^2$.
    """
    net, L = witness(t, isometries, a), len(isometries) - 1
    A = (isometries[-1] * t**L) @ isometries[0].mT
    cost, rest = net.cost(), costs.expansion_remainder(A, L)
    entries = tolerances.network_scale(net, x.abs() + 1)
    size = cost + costs.expansion_remainder(A, 1)
    off = (cost - costs.cost_expansion(A, L)).abs()
    return (
        eq(net(x), A @ x, scale=entries, label="the function"),
        eq(cost, costs.linear_cost(A, L), label="the cost"),
        leq(off, rest, scale=size, label="the second correction"),
    )


@instances
def cheapest_linear_networks(source: Source):
    """A linear map as a network of least cost; k, R^(1)(A), the numbers t_i = log s_i; two layers.

    Behind these a part of the network begins and ends: 0 ≤ first < last ≤ L.
    """
    L, V, U, t = ends_and_roots(source, (2, 12))
    if source.choice(("orthant", "any")) == "orthant":
        inside = [nonnegative_isometry(source, len(t), V) for _ in range(L - 1)]
    else:
        y = source.tensor(len(t), low=0.0) - 2
        inside = [isometry_at(source, t**layer * y) for layer in range(1, L)]
    net = witnesses.balanced_cone_network(t, (V, *inside, U), slope(source))
    logs, first = t.log() * L, source.integer(0, L - 1)
    return net, len(t), 2 * logs.sum(), logs, first, source.integer(first + 1, L)


@instances
def planes_beside_constants(source: Source):
    """y ↦ (y, c), 0 < c ≤ 2, as a network of least cost, with R^(1) = R(c); layers in the middle."""
    n, L = source.integer(1, 3), source.integer(5, 12)
    c = positive(source, low=0.5, high=1.0)
    net = witnesses.plane_beside_constant(n, c, L, slope(source))
    return net, n, c * c, c.new_zeros(n), 0, source.integer(1, L - 2)


@limit(
    "bottleneck.shares-of-the-first-correction",
    paper("bottleneck", "end of the proof of Prop. 14"),
    instances=cheapest_linear_networks(),
    needs={"f is linear": planes_beside_constants()},
    mutants={
        "2 % more than the share": {"share": 1.02},
        "a remainder of a third": {"rest": Fraction(1, 3)},
    },
    errata=Erratum(
        printed=r"We know that $\lim R^{(1)}(\alpha_{\ell_1} \to \alpha_{\ell_2}; \Omega) = "
        r"R^{(1)}(f_\theta; \Omega) \lim (\ell_2 - \ell_1)/L$",
        right="for the linear maps of part 3, whose proof the line ends. For other functions it "
        r"fails: $f(y) = (y, c)$ on $[0, 1]^n$ with $0 < c \le 1$ has $R^{(1)}(f) = c^2$, and an "
        "optimal network pays it in its last layer alone.",
        survives=r"Prop. 4.3 and 14.3. The two lines after it, $1/p R^{(2)}(\alpha) + 1/(1 - p) "
        r"R^{(2)}(\alpha \to f) \ge R^{(2)}(f)$, are Eq. (1) of the proof.",
    ),
    witness=witnesses.balanced_cone_network,
    audit="left out: it is about networks whose first correction is known",
)
def test_shares_of_the_first_correction(net, k, correction, logs, first, last, *, share=1, rest=1):
    r"""In the cheapest network of a linear map every layer has its share of the first correction.

    In the network $W_\ell = U_\ell S^{1/L} U_{\ell-1}^T$ of $A = U S V^T$ (bottleneck.second-correction-linear)
    the layers $\ell_1 + 1, \dots, \ell_2$ are $M = \ell_2 - \ell_1$ layers of least cost for a map with the
    singular values $s_i^{M/L}$, and
    $$0 \le \sum_{\ell_1 < \ell \le \ell_2} \|W_\ell\|_F^2 - kM - \frac ML R^{(1)}(A)
      \le \frac{2M}{L^2} \sum_i (\log s_i)^2 \max(1, s_i^{2/L}).$$
    So $R^{(1)}(\alpha_{\ell_1} \to \alpha_{\ell_2}) = \frac ML R^{(1)}(f)$, the line at the end of the proof of
    Prop. 14.3, which is about linear maps.

    The control has the same line for a map that is not linear. $f(y) = (y, c)$ with $0 < c \le 1$ has
    $R(f; L) = nL + c^2$ at every $L \ge 2$ (bottleneck.plane-beside-a-constant), and a network of this cost pays
    for $c$ in its last layer alone: for $p_2 < 1$ the layers between the ratios $p_1$ and $p_2$ cost $n$ each, and
    their first correction is 0 and not $(p_2 - p_1)\,c^2$.
    """
    L, M = net.depth, last - first
    layers = torch.stack(net.layer_costs())
    more, size = layers[first:last].sum() - k * M, layers.sum() + k * L
    part = correction * linalg.scalar(Fraction(M, L), correction)
    growth = torch.relu(logs * linalg.scalar(Fraction(2, L), logs)).exp()
    remainder = (logs * logs * growth).sum() * linalg.scalar(Fraction(2 * M, L * L) * rest, logs)
    return (
        leq(share * part, more, scale=size, label="from below"),
        leq(more, part + remainder, scale=size, label="from above"),
    )


@instances
def maps_of_rank(source: Source):
    """A of rank k, of any shape, with singular values far from 0."""
    k = source.integer(1, 3)
    out, into = (semi_orthogonal(source, k + source.integer(0, 1), k) for _ in range(2))
    return (out @ invertible(source, k) @ into.mT,)


@instances
def one_value_beyond_one(source: Source):
    """A partial isometry with one singular value s > 1, or s < 1, instead of 1."""
    k, s = source.integer(1, 3), positive(source, 1, low=0.25, high=8.0)
    out, into = (semi_orthogonal(source, k + source.integer(0, 1), k) for _ in range(2))
    return ((out * torch.hstack((s, s.new_ones(k - 1)))) @ into.mT,)


def half_the_square(A):
    """R^(2)(A) = ½‖log_+ AᵀA‖²."""
    return costs.log_gram_squared(A, NOISE) / 2


@bound(
    "bottleneck.second-correction-bounds-the-norm",
    paper("bottleneck", "§3.2"),
    instances=maps_of_rank(),
    tight=one_value_beyond_one(),
    mutants={
        "2 % less": {"weight": 0.98},
        "the first correction": {
            "correction": lambda A: torch.relu(2 * linalg.log_pseudo_determinant(A, NOISE))
        },
    },
)
def test_second_correction_bounds_the_norm(A, *, correction=half_the_square, weight=1):
    r"""The second correction of a linear map bounds its operator norm.

    $$2\,(\log \|A\|_{op})^2 \le R^{(2)}(A) = \tfrac12 \|\log_+ A^T A\|_F^2, \qquad A \ne 0,$$
    so that $\|A\|_{op} \le e^{\sqrt{R^{(2)}(A)/2}}$. Rank and pseudo-determinant do not bound it: that of
    $\operatorname{diag}(s, 1/s)$ is 1 for every $s$. The hidden maps of the cheapest linear networks, $A^p$ up
    to isometries, are therefore bounded.

    Checked as $\log \|A\|_{op} \le \sqrt{R^{(2)}(A)/2}$. Proof: one of the terms of
    $R^{(2)} = 2 \sum_i (\log s_i)^2$ is that of the largest singular value.
    """
    root = linalg.power(correction(A) / 2, Fraction(1, 2))
    return leq(linalg.operator_norm(A).log(), weight * root, scale=1 + root)
