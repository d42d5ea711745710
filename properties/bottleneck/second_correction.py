"""Proposition 4/14 of `bottleneck`: the second correction of linear maps, and what the proof computes.

For nonlinear functions: second_correction_networks.py and second_correction_split.py.
"""

from fractions import Fraction

import torch

from rankcheck import Erratum, bound, costs, eq, leq, limit, linalg, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    balanced_linear_networks,
    instances,
    isometry_at,
    networks_at_points,
    nonnegative_isometry,
    orthogonal,
    positive,
    semi_orthogonal,
    slope,
    triangular,
)


@instances
def spectra_on_cones(source: Source):
    """Roots t of singular values, isometries V, U_1, ..., U_L, a slope, and a point x.

    U_ℓ T^ℓ Vᵀx >= 0 for the isometries between the first and the last. In half of the draws they are
    non-negative, and otherwise any isometries with this property.
    """
    k, L = source.integer(1, 3), source.integer(1, 6)
    V = semi_orthogonal(source, k + source.integer(0, 1), k)
    U = semi_orthogonal(source, k + source.integer(0, 1), k)
    t = positive(source, k, low=0.5, high=2.0)
    y = source.tensor(k, low=0.0)
    if source.choice(("orthant", "any")) == "orthant":
        inside = [nonnegative_isometry(source, k, V) for _ in range(L - 1)]
    else:
        y = y - 2
        inside = [isometry_at(source, t**layer * y) for layer in range(1, L)]
    return t, (V, *inside, U), slope(source), (V @ y.unsqueeze(-1)).squeeze(-1)


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
    net = witness(t, isometries, a)
    L = len(isometries) - 1
    A = (isometries[-1] * (t**L).unsqueeze(-2)) @ isometries[0].mT
    value = (A @ x.unsqueeze(-1)).squeeze(-1)
    cost = net.cost()
    size = cost + costs.expansion_remainder(A, 1)
    return (
        eq(net(x), value, scale=tolerances.network_scale(net, x.abs() + 1), label="the function"),
        eq(cost, costs.linear_cost(A, L), label="the cost"),
        leq(
            (cost - costs.cost_expansion(A, L)).abs(),
            costs.expansion_remainder(A, L),
            scale=size,
            label="the second correction",
        ),
    )


def invertible(source: Source, n: int):
    """An invertible n × n matrix."""
    return orthogonal(source, n) @ triangular(source, n, low=0.25, high=4.0, above=2.0)


@instances
def chained_pairs(source: Source):
    """A and B of rank k with (ker A)^⊥ = Im B, any sizes, and a share p in (0, 1)."""
    k = source.integer(1, 3)
    V, out, into = (semi_orthogonal(source, k + source.integer(0, 1), k) for _ in range(3))
    p = source.tensor(low=2.0**-6, high=1 - 2.0**-6)
    return out @ invertible(source, k) @ V.mT, V @ invertible(source, k) @ into.mT, p


@instances
def powers_of_one_map(source: Source):
    """A positive semi-definite, B = A^m, and the best share for A, p = 1/(m + 1)."""
    k, m = source.integer(1, 3), source.integer(1, 2)
    V = semi_orthogonal(source, k + source.integer(0, 1), k)
    s = positive(source, k, low=0.25, high=4.0).unsqueeze(-2)
    A = (V * s) @ V.mT
    return A, (V * s**m) @ V.mT, s.new_zeros(source.batch) + linalg.scalar(Fraction(1, m + 1), s)


@instances
def projections_onto_lines(source: Source):
    """Projections onto two lines at an angle, of rank one; the share 1/2."""
    Q, t = orthogonal(source, 2), source.tensor(1, low=0.25, high=0.75)
    u = Q[..., :1]
    v = (1 - t * t)[..., None] * u + (2 * t)[..., None] * Q[..., 1:]
    v = v / (1 + t * t)[..., None]
    return u @ u.mT, v @ v.mT, t.new_zeros(source.batch) + 0.5


#: A bound on the rounding error of the singular values of a product, for these instances.
NOISE = 2.0**-32


@bound(
    "bottleneck.second-correction-composition",
    paper("bottleneck", "Prop. 4.1"),
    instances=chained_pairs(),
    tight=powers_of_one_map(),
    needs={"the complement of ker A is Im B": projections_onto_lines()},
    mutants={
        "without the roots": {"exponent": Fraction(1)},
        "the shares exchanged": {"exchanged": True},
    },
    effort=0.6,
)
def test_second_correction_composition(A, B, p, *, exponent=Fraction(1, 2), exchanged=False):
    r"""For linear maps the root of the second correction is subadditive under composition.

    For two matrices of one rank with $(\ker A)^\perp = \operatorname{Im} B$,
    $$\|\log_+ (AB)^T AB\|_F \le \|\log_+ A^T A\|_F + \|\log_+ B^T B\|_F,$$
    that is $\sqrt{R^{(2)}(AB)} \le \sqrt{R^{(2)}(A)} + \sqrt{R^{(2)}(B)}$, with equality for powers
    of one positive matrix. This is Prop. 4.1 for these maps: its hypotheses $R^{(0)}(AB) = R^{(0)}(A) =
    R^{(0)}(B)$ and $R^{(1)}(AB) = R^{(1)}(A) + R^{(1)}(B)$ say that the ranks are equal and that
    $|AB|_+ = |A|_+ |B|_+$, and this holds if and only if $(\ker A)^\perp = \operatorname{Im} B$.

    Also checked is $(\sqrt u + \sqrt v)^2 \le u/p + v/(1-p)$ for $u, v \ge 0$ and $0 < p < 1$, with
    equality at the best $p$. As the left side is symmetric, print's inequality, with the weights
    $1/(1-p)$ and $1/p$, is true as well. This minimum gives the rule for nonlinear functions where the
    expansions of bottleneck.second-correction-split exist and $g$ is non-negative; what it says of
    nonlinear networks is bottleneck.second-correction-of-compositions. Without the sign of $g$ the rule
    is open (bottleneck.composition-as-printed).
    """
    u, v = costs.log_gram_squared(A, NOISE) / 2, costs.log_gram_squared(B, NOISE) / 2
    first, second = linalg.power(u, Fraction(1, 2)), linalg.power(v, Fraction(1, 2))
    parts = linalg.power(u, exponent) + linalg.power(v, exponent)
    product = linalg.power(costs.log_gram_squared(A @ B, NOISE) / 2, exponent)
    size = 1 + first + second
    best = u / p + v / (1 - p)
    if exchanged:
        best = u * p + v * (1 - p)
    return (
        leq(product, parts, scale=size * size, label="the product"),
        leq((first + second) ** 2, best, scale=size * size, label="the shares"),
    )


@instances
def negative_parts(source: Source):
    """u < 0 or v < 0, the other of any sign, and a share p in (0, 1)."""
    low, other = positive(source), source.tensor()
    p = source.tensor(low=2.0**-10, high=1 - 2.0**-10)
    if source.integer(0, 1) == 0:
        return -low, other, p
    return other, -low, p


@instances
def equal_negative_parts(source: Source):
    """u : v = p : 1 − p, both negative, with p near 0 or 1."""
    low, p = positive(source), source.tensor(low=2.0**-26, high=2.0**-24)
    if source.integer(0, 1) == 0:
        p = 1 - p
    return -low * p, -low * (1 - p), p


@instances
def nonnegative_parts(source: Source):
    """u, v > 0 and a share p."""
    return positive(source), positive(source), source.tensor(low=2.0**-6, high=1 - 2.0**-6)


@bound(
    "bottleneck.second-correction-nonnegative",
    paper("bottleneck", "Prop. 4/14"),
    instances=negative_parts(),
    tight=equal_negative_parts(),
    needs={"one of the two is negative": nonnegative_parts()},
    mutants={"a gain of 2.04 times the smaller part": {"gain": 2.04}},
    errata=Erratum(
        printed=r"If there is a limiting representation as $L \to 0$ in the optimal "
        "representation of $f$",
        right=r"as $L \to \infty$: the depth of a network is at least one, and the corrections "
        "are those of infinite depth.",
        survives=r"Prop. 4 and 14 with $L \to \infty$.",
    ),
)
def test_second_correction_nonnegative(u, v, p, *, gain=2):
    r"""Arithmetic of the proof that a limiting representation has no negative second correction.

    Let $r(q) = u/q + v/(1-q)$ with $\min(u, v) < 0$, $0 < p < 1$, and
    $m = \min(u/p, v/(1-p)) < 0$. Then $r(q) \le r(p) - 2|m|$ for $q = p/4$ if $u/p = m$, and for
    $1 - q = (1-p)/4$ otherwise.

    If $K$ is a limiting representation at the ratio $p$, $R^{(2)}(f) = r(p)$ with
    $u = R^{(2)}(K)$, $v = R^{(2)}(K \to f)$, and $R^{(2)}(f) \le r(q)$ for all $q$, as one can map
    to $K$ in the first $qL$ layers. So $u, v \ge 0$, and $R^{(2)}(f) \ge 0$. This limit is not
    checked, and no network enters: no function with a negative second correction is known. For
    nonlinear networks of functions with $R^{(1)}(f) = 2 \log |Jf(x)|_+$ at some $x$,
    bottleneck.second-correction-of-the-jacobian gives more.
    """
    first = u / p <= v / (1 - p)
    q = torch.where(first, p / 4, 1 - (1 - p) / 4)
    least = torch.where(first, u / p, v / (1 - p))
    before, after = u / p + v / (1 - p), u / q + v / (1 - q)
    size = u.abs() / p + v.abs() / (1 - p) + u.abs() / q + v.abs() / (1 - q)
    return leq(-gain * least, before - after, scale=size)


@bound(
    "bottleneck.second-correction-of-the-jacobian",
    paper("rankcheck", "rankcheck.theory.costs.corrections"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(scale=(1 + 2.0**-11, 1 + 2.0**-10)),
    mutants={"2 % more": {"weight": Fraction(51, 50)}},
    audit="at points: |a| ≤ 1; ranks",
)
def test_second_correction_of_the_jacobian(net, x, *, weight=1):
    r"""The Jacobian bounds the second correction where it attains the first.

    With $k = \operatorname{rank} Jf(x)$ and the singular values $s_i > 0$ of $Jf(x)$,
    $$\|\theta\|^2 - kL - 2 \log |Jf(x)|_+
      \ge \frac2L \sum_{i \le k} (\log s_i)^2 \Bigl(1 + \frac{2}{3L} \log s_i\Bigr).$$
    The first term of the right side is $\frac{1}{2L} \|\log_+ Jf(x)^T Jf(x)\|_F^2$. So
    $R^{(2)}(f) \ge \frac12 \|\log_+ Jf(x)^T Jf(x)\|_F^2 \ge 0$ where $R^{(0)}(f) = k$ and
    $R^{(1)}(f) = 2 \log |Jf(x)|_+$: a limit, which is not checked.

    Proof: $\|\theta\|^2 \ge L \sum_i e^{t_i}$ with $t_i = \frac2L \log s_i$
    (bottleneck.regularity-bound), and $e^t \ge 1 + t + t^2/2 + t^3/6$ for every $t$.
    """
    J, noise, L = net.jacobian(x), net.jacobian_noise(x), net.depth
    k = linalg.rank(J, noise)
    log_det = 2 * linalg.log_pseudo_determinant(J, noise)
    more = costs.excess(net, k) - log_det
    size = net.cost() + k * L + log_det.abs()
    return leq(costs.second_order(J, L, noise) * linalg.scalar(weight, log_det), more, scale=size)
