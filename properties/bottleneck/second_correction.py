"""Proposition 4.1/14.1 of `bottleneck`: the second correction of compositions, by shares of the layers."""

from fractions import Fraction
from functools import partial

import torch

from rankcheck import Erratum, bound, costs, eq, leq, limit, linalg, networks, paper, tolerances
from rankcheck.instances import (
    Source,
    box,
    instances,
    network,
    orthogonal,
    point_in,
    positive,
    semi_orthogonal,
)

from ._invertible import NOISE, invertible


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
    s = positive(source, k, low=0.25, high=4.0)
    return (V * s) @ V.mT, (V * s**m) @ V.mT, linalg.scalar(Fraction(1, m + 1), s)


@instances
def projections_onto_lines(source: Source):
    """Projections onto two lines at an angle, of rank one; the share 1/2."""
    Q, t = orthogonal(source, 2), source.tensor(1, low=0.25, high=0.75)
    u, across = Q.mT
    v = ((1 - t * t) * u + 2 * t * across) / (1 + t * t)
    return torch.outer(u, u), torch.outer(v, v), linalg.scalar(Fraction(1, 2), t)


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
    u, v, whole = (costs.log_gram_squared(M, NOISE) / 2 for M in (A, B, A @ B))
    first, second = linalg.power(u, Fraction(1, 2)), linalg.power(v, Fraction(1, 2))
    parts, product = (
        linalg.power(u, exponent) + linalg.power(v, exponent),
        linalg.power(whole, exponent),
    )
    best = u * p + v * (1 - p) if exchanged else u / p + v / (1 - p)
    size = (1 + first + second) ** 2
    return (
        leq(product, parts, scale=size, label="the product"),
        leq((first + second) ** 2, best, scale=size, label="the shares"),
    )


@instances
def negative_parts(source: Source):
    """u < 0 or v < 0, the other of any sign, and a share p in (0, 1)."""
    low, other = positive(source), source.tensor()
    p = source.tensor(low=2.0**-10, high=1 - 2.0**-10)
    return (-low, other, p) if source.integer(0, 1) == 0 else (other, -low, p)


@instances
def equal_negative_parts(source: Source):
    """u : v = p : 1 − p, both negative, with p near 0 or 1."""
    low, p = positive(source), source.tensor(low=2.0**-26, high=2.0**-24)
    p = 1 - p if source.integer(0, 1) == 0 else p
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


def stretched(parts, t, m):
    """outer ∘ T ∘ σ ∘ inner for parts = (outer, inner) and T = diag t, by m layers T^{1/m}; ReLU."""
    outer, inner = parts
    layer = torch.diag(linalg.power(t, Fraction(1, m)))
    zero = torch.zeros_like(inner.biases[-1])
    weights = (*inner.weights, *[layer] * m, *outer.weights)
    return inner.with_parameters(weights, (*inner.biases, *[zero] * m, *outer.biases))


@instances
def sequences(source: Source):
    """(f_2, f_1), (g_2, g_1), diagonals t of f and of g, numbers of layers in between, and a point.

    f = f_2∘T∘σ∘f_1 and g = g_2∘T∘σ∘g_1 with k units at T, for the ReLU σ; g >= 0 on a box around the
    point.
    """
    k, middle = source.integer(1, 2), source.integer(1, 2)

    part = partial(network, source, depth=(1, 2), width=(1, 2), slopes="relu", bound=2.0)
    g_1, g_2 = part(outputs=k), part(inputs=k, outputs=middle)
    f_1, f_2 = part(inputs=middle, outputs=k), part(inputs=k)
    s, t = (positive(source, k, low=0.25, high=4.0) for _ in range(2))
    low, high = box(source, g_1.widths[0])
    lower, _ = networks.interval_bounds(stretched((g_2, g_1), t, 1), low, high)
    g_2 = g_2.with_parameters(g_2.weights, (*g_2.biases[:-1], g_2.biases[-1] + torch.relu(-lower)))
    n, m = (source.choice((1, 2, 4, 8, 16, 32, 64)) for _ in range(2))
    return (f_2, f_1), (g_2, g_1), s, t, n, m, point_in(source, low, high)


@instances
def negative_sequences(source: Source):
    """The same with a last bias of g such that g < 0 at the point."""
    f, (g_2, g_1), s, t, n, m, x = sequences()(source)
    value = stretched((g_2, g_1), t, 1)(x)
    biases = (*g_2.biases[:-1], g_2.biases[-1] - value - 1)
    return f, (g_2.with_parameters(g_2.weights, biases), g_1), s, t, n, m, x


def by_own_share(p):
    """1/p for f, which has the share p of the layers, and 1/(1 − p) for g."""
    return 1 / p, 1 / (1 - p)


def expansion(parts, t, m):
    """r and u of the cost kL + r + u/L of `stretched`, and a bound of the remainder."""
    D, depth = torch.diag(t), parts[0].depth + parts[1].depth
    first = parts[0].cost() + parts[1].cost() - len(t) * depth
    second, share = costs.log_gram_squared(D) / 2, Fraction(1, m) - Fraction(1, m + depth)
    rest = costs.expansion_remainder(D, m) + second * linalg.scalar(share, second)
    return first + 2 * linalg.log_pseudo_determinant(D), second, rest


@limit(
    "bottleneck.second-correction-split",
    paper("bottleneck", "proof of Prop. 14"),
    instances=sequences(),
    needs={"g is non-negative": negative_sequences()},
    mutants={"the weights exchanged": {"weights": lambda p: (1 / (1 - p), 1 / p)}},
    errata=(
        Erratum(
            printed=r"$R^{(2)}(f\circ g) \le 1/(1 - p) R^{(2)}(f) + 1/p R^{(2)}(g)$, for $\lim "
            "L_f/(L_f + L_g) = p$",
            right="With $p$ the share of $f$, the concatenation has $1/p R^{(2)}(f) + 1/(1 - p) "
            "R^{(2)}(g)$. The printed inequality is true as well, for every $p$: the least value "
            r"of either side over $p$ is $(\sqrt{R^{(2)}(f)} + \sqrt{R^{(2)}(g)})^2$, and it is "
            "the same.",
            survives="Prop. 4.1 and 14.1: only this least value is used.",
        ),
        Erratum(
            printed=r"We subtract $(L_f + L_g) R^{(0)}(f\circ g) + R^{(1)}(f\circ g)$ divide by "
            "$L_f + L_g$ and take the limit",
            right="multiply by $L_f + L_g$: what is left is $R^{(2)}/(L_f + L_g)$. The same for "
            "Prop. 14.2, which divides by $L$.",
            survives="Prop. 4 and 14 as stated.",
        ),
    ),
)
def test_second_correction_split(f, g, s, t, n, m, x, *, weights=by_own_share):
    r"""The second correction of a concatenation, by the shares of its parts in the layers.

    Let $f = f_2 \circ S \circ \sigma \circ f_1$ and $g = g_2 \circ T \circ \sigma \circ g_1 \ge 0$ with ReLU
    networks $f_i$, $g_i$ and positive diagonal $k \times k$ matrices $S$, $T$. With $n$ layers $S^{1/n}$,
    $f$ has networks of every depth $L_f > d_f = \operatorname{depth} f_1 + \operatorname{depth} f_2$, of cost
    $$k L_f + r_f + \frac{u_f}{L_f} + O(L_f^{-2}), \quad r_f = \|\theta_{f_1}\|^2 + \|\theta_{f_2}\|^2 - k d_f
      + 2 \log |S|, \quad u_f = \tfrac12 \|\log S^2\|_F^2,$$
    and $g$ alike. Concatenated, with $L = L_f + L_g$ and $L_f = pL$, they compute $f \circ g$ and cost
    $$kL + r_f + r_g + \frac1L \Bigl( \frac{u_f}p + \frac{u_g}{1 - p} \Bigr) + O(L^{-2}),$$
    with the remainders of bottleneck.cost-expansion and $u_f (1/n - 1/L_f)$, $u_g (1/m - 1/L_g)$. The least value
    of the bracket over $p$ is $(\sqrt{u_f} + \sqrt{u_g})^2$ (bottleneck.second-correction-composition).

    These are the expansions from which the proof of Prop. 14.1 starts, for nonlinear functions. Where
    $f_1$ and $f_2$ are isometries without biases, and $f_1 > 0$ at an inner point of the domain, this is
    the expansion of the least cost, and $u_f = R^{(2)}(f)$.
    """
    f_n, g_m = stretched(f, s, n), stretched(g, t, m)
    net = f_n.after(g_m)
    L, k = net.depth, len(s)
    (r_f, u_f, rest_f), (r_g, u_g, rest_g) = expansion(f, s, n), expansion(g, t, m)
    w_f, w_g = weights(Fraction(f_n.depth, L))
    predicted = (u_f * linalg.scalar(w_f, s) + u_g * linalg.scalar(w_g, s)) / L
    off = (costs.excess(net, k) - r_f - r_g - predicted).abs()
    size = net.cost() + k * L + r_f.abs() + r_g.abs()
    one_each = stretched(f, s, 1)(stretched(g, t, 1)(x))
    inner, whole = tolerances.network_scale(g_m, x), tolerances.network_scale(net, x)
    entries = whole + tolerances.network_scale(f_n, inner)
    return (
        eq(net(x), one_each, scale=entries, label="the function"),
        leq(off, rest_f + rest_g, scale=size, label="the second correction"),
    )
