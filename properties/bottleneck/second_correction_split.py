"""Proposition 4.1/14.1 of `bottleneck`, its proof: the second correction of a concatenation, by shares."""

from fractions import Fraction

import torch

from rankcheck import Erratum, Network, costs, eq, leq, limit, linalg, networks, paper, tolerances
from rankcheck.instances import Source, box, instances, network, point_in, positive


def stretched(parts, t, m):
    """outer ∘ T ∘ σ ∘ inner for parts = (outer, inner) and T = diag t, by m layers T^{1/m}; ReLU."""
    outer, inner = parts
    layer = torch.diag_embed(linalg.power(t, Fraction(1, m)))
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

    def part(inputs: int | None = None, outputs: int | None = None) -> Network:
        return network(
            source,
            depth=(1, 2),
            width=(1, 2),
            inputs=inputs,
            outputs=outputs,
            slopes="relu",
            bound=2.0,
        )

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


def by_the_other_share(p):
    """As printed: 1/(1 − p) for f and 1/p for g."""
    return 1 / (1 - p), 1 / p


@limit(
    "bottleneck.second-correction-split",
    paper("bottleneck", "proof of Prop. 14"),
    instances=sequences(),
    needs={"g is non-negative": negative_sequences()},
    mutants={"the weights exchanged": {"weights": by_the_other_share}},
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
    L, k = net.depth, s.shape[-1]
    parts = []
    for (outer, inner), diagonal, layers in ((f, s, n), (g, t, m)):
        D = torch.diag_embed(diagonal)
        first = outer.cost() + inner.cost() - k * (outer.depth + inner.depth)
        first = first + 2 * linalg.log_pseudo_determinant(D)
        second = costs.log_gram_squared(D) / 2
        share = Fraction(1, layers) - Fraction(1, layers + outer.depth + inner.depth)
        rest = costs.expansion_remainder(D, layers) + second * linalg.scalar(share, second)
        parts.append((first, second, rest))
    (r_f, u_f, rest_f), (r_g, u_g, rest_g) = parts
    w_f, w_g = weights(Fraction(f_n.depth, L))
    predicted = (u_f * linalg.scalar(w_f, s) + u_g * linalg.scalar(w_g, s)) / L
    size = net.cost() + k * L + r_f.abs() + r_g.abs()
    one_each = stretched(f, s, 1)(stretched(g, t, 1)(x))
    entries = tolerances.network_scale(net, x) + tolerances.network_scale(
        f_n, tolerances.network_scale(g_m, x)
    )
    return (
        eq(net(x), one_each, scale=entries, label="the function"),
        leq(
            (costs.excess(net, k) - r_f - r_g - predicted).abs(),
            rest_f + rest_g,
            scale=size,
            label="the second correction",
        ),
    )
