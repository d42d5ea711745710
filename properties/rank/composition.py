"""Thm 4.1 of `rank`: a composition costs at most what either function does, at every depth."""

from functools import partial

import torch

from rankcheck import Network, bound, construction, eq, leq, networks, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    box,
    factorisation,
    factorised_functions,
    instances,
    network,
    point_in,
    positive,
    semi_orthogonal,
    slope,
    unbounded_functions,
)

from ._networks import relabelled, untranslated


@instances
def positive_inside(source: Source):
    """f and g with g ≥ 0 on a box, and a point of it."""
    h, g, lower, _, x = factorised_functions(extra=(0, 1))(source)
    return (*witnesses.translate(h, g, lower), x)


@instances
def negative_inside(source: Source):
    """f and g with an output of g that is negative at the point."""
    h, g, _, _, x = unbounded_functions()(source)
    down = g(x).abs() + 1
    return h, g.with_parameters(g.weights, (*g.biases[:-1], g.biases[-1] - down)), x


@construction(
    "rank.composition-cost",
    paper("rank", "proof of Thm 4.1"),
    instances=positive_inside(),
    needs={"g takes values in the positive orthant": negative_inside()},
    mutants={"the seam merged into one layer": {"concatenate": Network.merged_after}},
    witness=Network.after,
)
def test_composition_cost(f, g, x, *, concatenate=Network.after):
    r"""The concatenated network computes the composition, and its cost is the sum.

    For $g(\Omega)$ in the positive orthant the layers of $g$, followed by those of $f$, form a network
    for $f \circ g$ of depth $L_f + L_g$ and cost $\|\theta_f\|^2 + \|\theta_g\|^2$.

    With $g$ fixed and $f$ a network of any depth, this is $R(f \circ g; L) \le R(f; L - L_0) + C$, the first
    step of the proof. The theorem, without the hypothesis on $g(\Omega)$: rank.composition.
    """
    net = concatenate(f, g)
    return (
        eq(net(x), f(g(x)), scale=tolerances.network_scale(net, x), label="the function"),
        eq(net.cost(), f.cost() + g.cost(), label="the cost"),
        eq(net.depth, f.depth + g.depth, label="the depth"),
    )


@instances
def two_factorisations(source: Source, *, stretch: float = 1.0):
    """f through R^k and g through R^m of one slope, a box, a point of it, and two depths.

    With `stretch` the point is so many times as far from the lower corner of the box.
    """
    outer, inner = factorisation(source, inner=(1, 3), depth=(1, 2), width=(1, 3))
    drawn = partial(network, source, depth=(1, 2), width=(1, 3), slopes="relu", bound=3.0)
    h = relabelled(drawn(outputs=inner.widths[0]), outer.slope)
    g = relabelled(drawn(outputs=h.widths[0]), outer.slope)
    low, high = box(source, g.widths[0])
    least = outer.depth + inner.depth + h.depth + g.depth
    depths = least + source.integer(0, 4), least + source.integer(5, 60)
    x = low + stretch * (point_in(source, low, high) - low)
    return (outer, inner), (h, g), (low, high), x, depths


def at_the_narrower(f, g, *, wider=False):
    """The pair (h, g) of f ∘ g through the narrower of the two bottlenecks, or the other one."""
    (outer, inner), (h, start) = f, g
    if (inner.widths[-1] > start.widths[-1]) == wider:
        return outer, inner.merged_after(h.merged_after(start))
    return outer.merged_after(inner.merged_after(h)), start


@construction(
    "rank.composition-at-every-depth",
    paper("rank", "Thm 4.1"),
    instances=two_factorisations(),
    needs={"the point lies in Ω": two_factorisations(stretch=64.0)},
    mutants={
        "through the wider bottleneck": {"split": partial(at_the_narrower, wider=True)},
        "no translation": {"witness": untranslated},
    },
    witness=witnesses.identity_layers,
)
def test_composition_at_every_depth(
    f, g, box, x, depths, *, split=at_the_narrower, witness=witnesses.identity_layers
):
    r"""A composition of functions through bottlenecks has every large depth, at cost min(k, m) a layer.

    Let $f$ factor through $\mathbb R^k$ and $g$ through $\mathbb R^m$. Then $f \circ g$ is a network
    of every depth $L \ge L_0$ on a bounded $\Omega$, with
    $\|\theta\|^2 = \min(k, m)\,L + C$, where $C$ and $L_0$ do not depend on $L$. So
    $R_\infty(f \circ g) \le \min(k, m)$, also if only one of the two is small. This is weaker than the
    theorem, in which $R_\infty$ takes the place of $k$ and $m$: rank.composition.

    Checked at two depths: both networks compute $f \circ g$, and their costs differ by
    $\min(k, m)$ for each layer.
    """
    (outer, inner), (h, start) = f, g
    last, first = split(f, g)
    lower, _ = networks.interval_bounds(first, *box)
    short, long = (witness(last, first, depth, lower) for depth in depths)
    value, scale = outer(inner(h(start(x)))), tolerances.network_scale
    further = min(inner.widths[-1], start.widths[-1]) * (depths[1] - depths[0])
    added = long.cost() - short.cost()
    return (
        eq(short(x), value, scale=scale(short, x), label="the function at the smaller depth"),
        eq(long(x), value, scale=scale(long, x), label="the function at the larger depth"),
        eq(added, further, scale=long.cost(), label="the cost of the further layers"),
    )


@instances
def functions_on_a_box(source: Source):
    """f and g, a shift t ≥ 0 with g + t ≥ 0 on a box, and a point of the box."""
    f, g = factorisation(source)
    low, high = box(source, g.widths[0])
    lower, _ = networks.interval_bounds(g, low, high)
    extra = torch.relu(source.tensor(g.widths[-1], low=-2.0, high=2.0))
    return f, g, torch.relu(-lower) + extra, point_in(source, low, high)


@instances
def steepest_first_layers(source: Source):
    """f(y) = v (w ⟨t, y⟩/‖t‖ − β) with the ratio w/β at which the shift is dearest; g constant, ∥ t."""
    k, m = source.integer(1, 3), source.integer(1, 3)
    t = positive(source, k, low=0.25)
    v, beta = semi_orthogonal(source, m, 1), positive(source, 1)
    height, a = source.tensor(low=0.0, high=2.0), slope(source)
    w = dearest((t @ t).sqrt()) / (t @ t) * beta * t
    f = Network((v * w,), (-v @ beta,), a)
    return f, Network((0 * t[:, None],), (height * t,), a), t, source.tensor(1)


@instances
def below_the_orthant(source: Source):
    """The same as the first with a shift that leaves an output of g negative at the point."""
    f, g, _, x = functions_on_a_box()(source)
    y = g(x)
    g = g.with_parameters(g.weights, (*g.biases[:-1], g.biases[-1] - y.abs() - 1))
    return f, g, 0 * y, x


def dearest(size):
    """τ = (s² + s√(s² + 4))/2 for a shift of length s."""
    return (size * size + size * (size * size + 4).sqrt()) / 2


@bound(
    "rank.composition",
    paper("rank", "Thm 4.1"),
    instances=functions_on_a_box(),
    tight=steepest_first_layers(),
    needs={"g + t takes values in the positive orthant": below_the_orthant()},
    mutants={
        "f not balanced": {"balance": lambda net: net},
        "‖t‖² in place of τ": {"addition": torch.square},
        "L_f² in place of L_f": {"power": 2},
        "the last bias of g forgotten": {"cross": 0},
    },
    witness=witnesses.identity_layers,
    effort=0.5,
)
def test_composition(
    f, g, t, x, *, balance=networks.balance_layers, addition=dearest, power=1, cross=2
):
    r"""The cost of a composition is at most the sum of the costs, and a shift small against the depth.

    Let $\theta_f$, $\theta_g$ be networks of one slope for $f$ and $g$, of depths $L_f$ and $L_g$, and
    let $t \ge 0$ with $g + t \ge 0$ on a bounded $\Omega$. Then
    $$R(f \circ g; \Omega, L_f + L_g) \le \|\theta_g\|^2 + 2 \|t\| \|\theta_g\| + \|t\|^2
      + \Bigl(1 + \frac{\tau}{L_f}\Bigr) \|\theta_f\|^2, \qquad
      \tau = \frac{\|t\|^2 + \|t\| \sqrt{\|t\|^2 + 4}}2 \le \|t\| + \|t\|^2 .$$
    With $f$ fixed and $g$ of depth $L$ the addition is $O(\sqrt L)$, with $g$ fixed and $f$ of depth $L$
    it is $O(1)$, and $t$ depends on $g(\Omega)$ alone. Divided by $L$:
    $R_\infty(f \circ g; \Omega) \le \min\{R_\infty(f; g(\Omega)), R_\infty(g; \Omega)\}$, for the
    upper limits and for the lower ones.

    The network is that of $g + t$, followed by the balanced one of $f(\cdot - t)$; on balanced layers
    the shift of the first bias costs at most $\tau \|\theta_f\|^2 / L_f$. Print says that it changes
    the norm by a value constant in $L$, for layers that need not be balanced.
    Proof: docs/proofs/composition.md.
    """
    net = witnesses.identity_layers(balance(f), g, f.depth + g.depth, -t)
    size, scale = (t @ t).sqrt(), tolerances.network_scale
    inner = g.cost() + cross * size * g.cost().sqrt() + size * size
    outer = (1 + addition(size) / f.depth**power) * f.cost()
    return (
        eq(net(x), f(g(x)), scale=scale(net, x) + scale(f, scale(g, x)), label="the function"),
        leq(net.cost(), inner + outer, scale=inner + outer, label="the cost"),
    )
