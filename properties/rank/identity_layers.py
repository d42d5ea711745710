"""Thm 1/3 of `rank`: the upper bound k of the cost per layer, by identity layers."""

from fractions import Fraction

from rankcheck import Network, construction, eq, leq, limit, linalg, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    factorised_functions,
    instances,
    isometries_in_the_orthant,
    positive,
    unbounded_functions,
)

from ._networks import untranslated


def one_layer_short(h, g, depth, lower):
    """The witness with one identity layer fewer."""
    return witnesses.identity_layers(h, g, max(depth - 1, h.depth + g.depth), lower)


@construction(
    "rank.identity-layers",
    paper("rank", "Thm 1/3"),
    instances=factorised_functions(),
    needs={"g is bounded from below on the domain": unbounded_functions()},
    mutants={
        "no translation": {"witness": untranslated},
        "one identity layer short": {"witness": one_layer_short},
    },
    witness=witnesses.identity_layers,
)
def test_identity_layers(h, g, lower, depth, x, *, witness=witnesses.identity_layers):
    r"""A function through $\mathbb R^k$ is a network of any depth, at cost k for each further layer.

    Let $f = h \circ g$ through $\mathbb R^k$ with $g \ge$ `lower` on $\Omega$, and let $\theta_g$ and
    $\theta_h$ belong to $g$ and $h$ translated so that $g \ge 0$. The layers of $g$, then
    $L - L_g - L_h$ identity layers, then the layers of $h$ form a network of depth $L$ that equals
    $f$ on $\Omega$ for every slope, and
    $\|\theta\|^2 = \|\theta_g\|^2 + (L - L_g - L_h)\,k + \|\theta_h\|^2$.

    The last layer of $g$ and the first of $h$ are not merged, so $L \ge L_g + L_h$. In the control
    $g(x)$ lies below the lower bound.
    """
    net = witness(h, g, depth, lower)
    h_moved, g_moved = witnesses.translate(h, g, lower)
    cost = h_moved.cost() + g_moved.cost() + (depth - h.depth - g.depth) * g.widths[-1]
    return (
        eq(net(x), h(g(x)), scale=tolerances.network_scale(net, x), label="the function"),
        eq(net.cost(), cost, label="the cost"),
        eq(net.depth, depth, label="the depth"),
    )


@instances
def near_isometries_in_the_orthant(source: Source):
    """h and g linear with singular values 1, or all s in [1, 5/4], at a point with g > 0."""
    h, g, lower, depth, x = isometries_in_the_orthant()(source)
    s = 1 + source.tensor(1, 1, low=0.0, high=0.25) * source.integer(0, 1)
    h, g = (Network.linear([s * w for w in net.weights], net.slope) for net in (h, g))
    return h, g, lower, depth, x


@instances
def steep_functions(source: Source):
    """g(x) = −sσ(−sx) = 3s²x for x > 0 at the slope 3, and h the identity of the line."""
    s = source.tensor(1, 1, low=0.875, high=1.25)
    zero = 0 * s[0]
    g = Network.unchecked_slope((-s, -s), (zero, zero), 3.0)
    h = Network.unchecked_slope((0 * s + 1,), (zero,), 3.0)
    return h, g, zero, 3 + source.integer(0, 8), positive(source, 1)


@limit(
    "rank.sandwich",
    paper("rank", "Thm 1"),
    instances=factorised_functions(extra=(0, 40)),
    tight=near_isometries_in_the_orthant(),
    needs={"|a| ≤ 1": steep_functions()},
    mutants={
        "one identity layer short": {"witness": one_layer_short},
        "the logarithm twice": {"logs": 4},
        "the rank and one more": {"more": 1},
    },
    witness=witnesses.identity_layers,
)
def test_sandwich(h, g, lower, depth, x, *, witness=witnesses.identity_layers, logs=2, more=0):
    r"""The cost per layer lies between the rank of the Jacobian and that of the bottleneck.

    At every depth $L$ the network of rank.identity-layers for $f = h \circ g$ through $\mathbb R^k$ has
    $$\operatorname{rank} Jf(x) + \frac2L \log |Jf(x)|_+ \le \|Jf(x)\|_{S^{2/L}}^{2/L} \le
    \frac{\|\theta\|^2}L = k + \frac CL$$
    with $C = \|\theta_g\|^2 + \|\theta_h\|^2 - (L_g + L_h) k$, which does not depend on $L$.

    So both ends have explicit rates: as $L \to \infty$ the left end tends to
    $\operatorname{rank} Jf(x)$ and the right end to $k$.
    """
    net = witness(h, g, depth, lower)
    h_moved, g_moved = witnesses.translate(h, g, lower)
    k, moved = g.widths[-1], h_moved.cost() + g_moved.cost()
    constant = moved - (h.depth + g.depth) * k
    J, noise = h.jacobian(g(x)) @ g.jacobian(x), net.jacobian_noise(x)
    per_layer, scale = net.cost() / depth, moved / depth + k
    low = linalg.rank(J, noise) + more + logs * linalg.log_pseudo_determinant(J, noise) / depth
    return (
        leq(low, per_layer, scale=scale, label="the rank"),
        leq(linalg.schatten_power(J, Fraction(2, depth), noise), per_layer, label="the Jacobian"),
        eq(per_layer, k + constant / depth, scale=scale, label="the bottleneck"),
    )
