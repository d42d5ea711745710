"""Theorem 3.2 and Proposition 4.2/14.2 of `bottleneck`: costs of sums, of linear maps too."""

from fractions import Fraction

import torch

from rankcheck import (
    Erratum,
    Network,
    bound,
    construction,
    costs,
    eq,
    identity,
    leq,
    linalg,
    paper,
    refuted,
    tolerances,
    witnesses,
)
from rankcheck.instances import Source, instances, orthogonal, positive, semi_orthogonal, slope

from ._active import active_network
from ._invertible import NOISE, invertible

#: A bound on the rounding error of the singular values, for `maps_and_a_new_direction`.
FINE = 2.0**-36


@instances
def summands(source: Source):
    """Networks f and g of one depth and slope, with Jacobians of rank one or two, and a point.

    In a third of the draws they are near `orthogonal_summands`, with biases.
    """
    if source.integer(0, 2) == 0:
        near = source.choice((2.0**-10, 2.0**-6))
        f, g, x = orthogonal_summands()(source)
        return moved(source, f, near), moved(source, g, near), x
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    inputs, outputs = k + m + source.integer(0, 1), k + m + source.integer(0, 1)
    x, a = source.tensor(inputs), slope(source)
    f = active_network(source, x, rank=k, depth=L, outputs=outputs, slope=a)
    return f, active_network(source, x, rank=m, depth=L, outputs=outputs, slope=a, start=k), x


def moved(source: Source, net: Network, near: float):
    """The network with every parameter moved by at most this much."""
    parts = (net.weights, net.biases)
    W, b = ([p + source.tensor(*p.shape, low=-near, high=near) for p in part] for part in parts)
    return net.with_parameters(W, b)


@instances
def orthogonal_summands(source: Source):
    """f and g linear, multiples of isometries in each layer, between orthogonal planes, at a point.

    The singular values of a layer are near 1, or between 1/2 and 2. Or f and f again, whose sum has
    the rank of f, and twice its singular values.
    """
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    low, high = source.choice(((1.0, 1.0 + 2.0**-20), (0.5, 2.0)))
    into, out = (semi_orthogonal(source, k + m, k + m) for _ in range(2))
    y, a = positive(source, k + m), slope(source)

    def part(units: slice, count: int) -> Network:
        t = torch.diag(positive(source, count, low=low, high=high))
        return Network.linear((t @ into[:, units].mT, *[t] * (L - 2), out[:, units] @ t), a)

    one, first, second = source.integer(0, 3) == 0, slice(k), slice(k, k + m)
    return part(first, k), part(first, k) if one else part(second, m), into @ y


def last_biases(f, g):
    """Twice the inner product of the last biases."""
    return 2 * (f.biases[-1] @ g.biases[-1])


def ranks_of_summands(f, g, x):
    """The ranks of Jf(x) and Jg(x)."""
    ranks = (linalg.rank(net.jacobian(x), net.jacobian_noise(x)) for net in (f, g))
    return dict(zip(("rank Jf", "rank Jg"), ranks, strict=True))


@construction(
    "bottleneck.sum",
    paper("bottleneck", "Thm 3.2"),
    instances=summands(),
    tight=orthogonal_summands(),
    mutants={
        "without the cross term of the last biases, as printed": {"cross": lambda f, g: 0},
        "log|J|_+ counted 2.04 times": {"weight": 2.04},
        "singular values to the power 2.04/L": {"exponent": Fraction(51, 25)},
    },
    witness=Network.add,
    reach=ranks_of_summands,
)
def test_sum(f, g, x, *, cross=last_biases, weight=2, exponent=2):
    r"""The excess cost is additive for sums, up to the biases of the last layer.

    The parallel network of depth $L \ge 2$ computes $f + g$. For all $k$ and $m$ its excess
    $\|\theta\|^2 - (k + m) L$ is $\|\theta_f\|^2 - kL$ plus $\|\theta_g\|^2 - mL$ plus
    $2 \langle b_{L,f}, b_{L,g} \rangle$. With $k = \operatorname{rank} Jf(x)$ and
    $m = \operatorname{rank} Jg(x)$ it is at least $2 \log |J(f + g)(x)|_+$ where
    $k + m = \operatorname{rank} J(f+g)(x)$, since
    $$L \|J(f + g)(x)\|_{S^{2/L}}^{2/L} \le \|\theta_f\|^2 + \|\theta_g\|^2 + 2 \langle b_{L,f}, b_{L,g} \rangle$$
    at every $x$: this is an equality for multiples of isometries between orthogonal planes, and the
    logarithm only for isometries.

    Not checked is the limit: with the cheapest networks of $f$ and $g$,
    $R^{(1)}(f + g) \le R^{(1)}(f) + R^{(1)}(g) + 2 \limsup \langle b_{L,f}, b_{L,g} \rangle$ where
    $R^{(0)}(f + g) = R^{(0)}(f) + R^{(0)}(g)$, without the last term if one of the two needs no bias
    in its last layer.
    """
    net = f.add(g)
    k, m = ranks_of_summands(f, g, x).values()
    J, noise = f.jacobian(x) + g.jacobian(x), net.jacobian_noise(x)
    excess, cost = costs.excess(f, k) + costs.excess(g, m), f.cost() + g.cost()
    log_det = weight * linalg.log_pseudo_determinant(J, noise)
    least = net.depth * linalg.schatten_power(J, Fraction(exponent, net.depth), noise)
    together, size = excess + cross(f, g), cost + (k + m) * net.depth
    adds_up = linalg.rank(J, noise) == k + m
    return (
        eq(net(x), f(x) + g(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(costs.excess(net, k + m), together, scale=size, label="the excess"),
        leq(log_det, together, scale=size, where=adds_up, label="the Jacobian"),
        leq(least, cost + cross(f, g), scale=size, label="the Jacobian at this depth"),
    )


@instances
def planes_beside_constants(source: Source):
    """Ranks k, m >= 1, a depth, a slope, and the values v, w in [0, 1] of two constants."""
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 8)
    v, w = source.tensor(low=0.0, high=1.0), source.tensor(low=0.0, high=1.0)
    return k, m, L, slope(source), v, w


@refuted(
    "bottleneck.sum-as-printed",
    paper("bottleneck", "Thm 3.2/11.2"),
    instances=planes_beside_constants(),
    errata=Erratum(
        printed=r"If $R^{(0)}(f+g) = R^{(0)}(f) + R^{(0)}(g)$, then $R^{(1)}(f+g) \le R^{(1)}(f) "
        r"+ R^{(1)}(g)$. Proof: Since $R(f+g;\Omega,L) \le R(f;\Omega,L) + R(g;\Omega,L)$, ...",
        right=r"$R^{(1)}(f+g) \le R^{(1)}(f) + R^{(1)}(g) + 2 \limsup \langle b_f, b_g\rangle$, "
        "with the biases of the two last layers, which are added before they are squared "
        "(bottleneck.sum). For $f = (x_1, 0, 1)$ and $g = (0, x_2, 1)$ on [0, 1]² the ranks are "
        r"1, 1 and 2, $R(f; L) = R(g; L) = L + 1$ and $R(f + g; L) = 2L + 3$ for every $L \ge 2$, "
        "so that $R^{(1)}(f + g) = 3 > 2$.",
        survives="The rule holds if $f$ or $g$ needs no bias in its last layer, as linear maps on "
        "cones do. Prop. 4.2 inherits this condition, as its proof uses the same inequality.",
        weight="theorem",
    ),
    readings={
        "all ranks, zero included": "constants $f = g = 1$ on a domain with 0: $R^{(1)} = 1$, 1 "
        "and 3",
        "positive ranks only": r"the instances here have the ranks $k$, $m \ge 1$ and $k + m$",
        "at finite depth, as in the proof": r"the sides differ by the same amount at every $L \ge "
        "2$",
        "in the limit of large depth, as in the theorem": "the costs are affine in $L$, so the "
        "difference is that of the first corrections",
        "bounded domains in the positive orthant only": "the domain is $[0, 1]^{k + m}$",
        r"$\theta$ without the biases": r"section 2 defines $\theta$ with them; the printed inequality "
        "is true if they do not count, but $R$ is then another cost",
    },
    corrected_by="bottleneck.sum",
)
def test_sum_as_printed(k, m, L, a, v, w):
    r"""The first correction is subadditive under sums whose ranks add up.

    If $R^{(0)}(f + g) = R^{(0)}(f) + R^{(0)}(g)$ then
    $R^{(1)}(f + g) \le R^{(1)}(f) + R^{(1)}(g)$.

    Tested for $f(x, y) = (x, 0, v)$ and $g(x, y) = (0, y, w)$ with $x \in [0, 1]^k$,
    $y \in [0, 1]^m$, and $v, w \in [0, 1]$, at finite depth: the right side is at most the cost of two
    networks, and $R(f + g; \Omega, L) \ge (k + m) L + R(v + w)$ for every network
    (bottleneck.plane-beside-a-constant, where the costs are shown to be affine in $L$).
    """
    f, g = witnesses.plane_beside_constant(k, v, L, a), witnesses.plane_beside_constant(m, w, L, a)
    size = f.cost() + g.cost()
    return leq(witnesses.least_constant_cost(v + w) + (k + m) * L, size, scale=size)


def skew_bases(source: Source, k: int, m: int, low: float):
    """Bases of a k-plane and an m-plane with principal angles of sine 2t/(1 + t²), t in [low, 1]."""
    Q = semi_orthogonal(source, k + m + source.integer(0, 1), k + m)
    common = min(k, m)
    t = source.tensor(common, low=low, high=1.0) if low < 1 else Q.new_ones(common)
    t = torch.hstack((t, Q.new_ones(m - common)))
    cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    near = torch.hstack((Q[:, :common], Q[:, k : k + m - common]))
    return Q[:, :k], (cosine * near + sine * Q[:, k:]) @ orthogonal(source, m)


@instances
def skew_sums(source: Source, *, low=0.25, near_isometry=False):
    """Factors U, M, V of A = U_A M_A V_Aᵀ and of B, with independent images and row spaces."""
    k, m = source.integer(1, 2), source.integer(1, 2)
    U_A, U_B = skew_bases(source, k, m, low)
    V_A, V_B = skew_bases(source, k, m, low)
    block = orthogonal if near_isometry else invertible
    M_A, M_B = block(source, k), block(source, m)
    return U_A, M_A, V_A, U_B, M_B, V_B


@instances
def longer_bases(source: Source):
    """The same with the basis U_A multiplied by 3/2: its columns are no longer unit vectors."""
    U_A, *rest = skew_sums()(source)
    return 1.5 * U_A, *rest


@bound(
    "bottleneck.first-correction-linear-sum",
    paper("bottleneck", "Thm 3.2, for linear maps"),
    instances=skew_sums(),
    tight=skew_sums(low=1 - 2.0**-10, near_isometry=True),
    needs={"the bases are orthonormal": longer_bases()},
    mutants={"angles that weigh 2 % more": {"weight": 1.02}},
)
def test_first_correction_linear_sum(U_A, M_A, V_A, U_B, M_B, V_B, *, weight=1):
    r"""The first correction of a sum of linear maps is smaller by the angles between the parts.

    Let $A$ and $B$ have images with orthonormal bases $U_A$, $U_B$ and row spaces with $V_A$, $V_B$,
    and $\operatorname{rank}(A + B) = \operatorname{rank} A + \operatorname{rank} B$. Then
    $$\|U_A^T U_B\|_F^2 + \|V_A^T V_B\|_F^2
      \le 2 \log |A|_+ + 2 \log |B|_+ - 2 \log |A + B|_+.$$
    So $R^{(1)}(A + B) \le R^{(1)}(A) + R^{(1)}(B)$ with $R^{(1)} = 2 \log |\cdot|_+$
    (bottleneck.linear-on-cone), and equality, the hypothesis of Prop. 4.2, holds for orthogonal
    images and orthogonal row spaces only.

    Proof: $A + B = (U_A\, U_B) \operatorname{diag}(M_A, M_B) (V_A\, V_B)^T$, so $|A + B|_+$ is
    $|A|_+ |B|_+$ times $|(U_A\, U_B)|_+ |(V_A\, V_B)|_+$, and $|(U_A\, U_B)|_+^2 = \det(1 - C^T C)
    \le e^{-\|C\|_F^2}$ with $C = U_A^T U_B$.
    """
    A, B = U_A @ M_A @ V_A.mT, U_B @ M_B @ V_B.mT
    angles = linalg.frobenius_squared(U_A.mT @ U_B) + linalg.frobenius_squared(V_A.mT @ V_B)
    first, second = linalg.log_pseudo_determinant(M_A), linalg.log_pseudo_determinant(M_B)
    both = linalg.log_pseudo_determinant(A + B, NOISE)
    size = 1 + first.abs() + second.abs() + both.abs()
    return leq(angles * weight, 2 * (first + second - both), scale=size)


def sums(source: Source, low: float):
    """A and B of `skew_sums`, and a depth."""
    U_A, M_A, V_A, U_B, M_B, V_B = skew_sums(low=low)(source)
    return U_A @ M_A @ V_A.mT, U_B @ M_B @ V_B.mT, source.integer(1, 8)


@instances
def orthogonal_sums(source: Source):
    """A and B with orthogonal images and row spaces, and a depth."""
    return sums(source, 1.0)


@instances
def sums_at_an_angle(source: Source):
    """A and B whose images or row spaces are not orthogonal, and a depth."""
    return sums(source, 0.25)


@identity(
    "bottleneck.second-correction-sum",
    paper("bottleneck", "Prop. 4.2/14.2"),
    instances=orthogonal_sums(),
    needs={"the first corrections add up": sums_at_an_angle()},
    mutants={"the part of B left out": {"share": 0}},
    errata=Erratum(
        printed=r"$R(f+g;\Omega,L) \le R(f;g(\Omega),L) + R(g;\Omega,L)$",
        right=r"$R(f;\Omega,L)$ in place of $R(f;g(\Omega),L)$. The inequality holds where $f$ or "
        "$g$ needs no bias in its last layer (bottleneck.sum-as-printed).",
        survives="Prop. 4.2 and 14.2 where $f$ or $g$ needs no bias in its last layer.",
        place="proof of Prop. 14.2",
    ),
)
def test_second_correction_sum(A, B, L, *, share=1):
    r"""For linear maps whose first corrections add up, the second corrections and the costs add up.

    Let $\operatorname{rank}(A + B) = \operatorname{rank} A + \operatorname{rank} B$ and
    $|A + B|_+ = |A|_+ |B|_+$, the hypothesis of Prop. 4.2 for linear maps. It makes the images and the row
    spaces orthogonal (bottleneck.first-correction-linear-sum), so that
    $$\|\log_+ (A+B)^T (A+B)\|_F^2 = \|\log_+ A^T A\|_F^2 + \|\log_+ B^T B\|_F^2$$
    and $L \|A + B\|_{S^{2/L}}^{2/L} = L \|A\|_{S^{2/L}}^{2/L} + L \|B\|_{S^{2/L}}^{2/L}$ at every depth: for
    linear maps the inequality of Prop. 4.2 is an equality.

    Without $R^{(1)}(A + B) = R^{(1)}(A) + R^{(1)}(B)$ even "at most" is false for about half of
    the drawn pairs. For nonlinear networks, see bottleneck.second-correction-of-sums; for functions in
    general the rule follows from bottleneck.sum where one of the two sequences of networks has no bias in
    its last layer, which is not checked.
    """
    u, v, both = (costs.log_gram_squared(M, NOISE) for M in (A, B, A + B))
    cost = costs.linear_cost(A, L, NOISE) + costs.linear_cost(B, L, NOISE) * share
    return (
        eq(both, u + v * share, scale=1 + u + v, label="the second correction"),
        eq(costs.linear_cost(A + B, L, NOISE), cost, scale=cost, label="the cost"),
    )


@instances
def maps_and_a_new_direction(source: Source):
    """A of rank k, unit vectors orthogonal to its image and its row space, ε in [2⁻¹⁰, 1], a depth."""
    k, L = source.integer(1, 3), source.integer(1, 12)
    out, into = (semi_orthogonal(source, k + 1, k + 1) for _ in range(2))
    A = out[:, :k] @ invertible(source, k) @ into[:, :k].mT
    return A, out[:, k], into[:, k], positive(source, low=2.0**-10, high=1.0), L


def costs_of_two_terms(A, L, noise):
    """L rank A + 2 log|A|_+."""
    return L * linalg.rank(A, noise) + 2 * linalg.log_pseudo_determinant(A, noise)


@identity(
    "bottleneck.minima-of-each-rank",
    paper("bottleneck", "§3.1, minima of each rank"),
    instances=maps_and_a_new_direction(),
    mutants={
        "the two-term sum for the cost": {"cost": costs_of_two_terms},
        "the exponent of one layer more": {"more": 1},
    },
)
def test_minima_of_each_rank(A, u, v, e, L, *, cost=costs.linear_cost, more=0):
    r"""A new singular value raises the cost of a linear map, and lowers its two-term approximation.

    For $A$ of rank $k$, unit vectors $u \perp \operatorname{Im} A$ and $v \perp \operatorname{Im} A^T$, and
    $\varepsilon > 0$,
    $$R(A + \varepsilon u v^T; L) = R(A; L) + L\,\varepsilon^{2/L},$$
    while $L \operatorname{rank} A + 2 \log|A|_+$ changes by $L + 2 \log \varepsilon$, which is negative for
    $\varepsilon < e^{-L/2}$ and tends to $-\infty$.

    So for $L \ge 3$ the cost is a cusp at the matrices of rank $k$, in the directions that raise the rank, and a
    minimum of loss plus cost among them is a local minimum in these directions. The sum of the first two terms,
    with which the source argues for one local minimum for each rank, has no local minimum of a rank below
    the largest: the argument is about the cost, or about functions of a fixed rank. Only these directions are
    checked, and linear maps.
    """
    B = A + e * torch.outer(u, v)
    size = 1 + L * A.shape[1] + costs.linear_cost(A, L, FINE)
    rise = linalg.power(e, Fraction(2, L + more)) * L
    two = costs_of_two_terms(B, L, FINE) - costs_of_two_terms(A, L, FINE)
    return (
        eq(cost(B, L, FINE) - cost(A, L, FINE), rise, scale=size, label="the cost"),
        eq(two, 2 * e.log() + L, scale=size, label="two terms"),
    )
