"""Thm 4.1 of `rank`: the cost of a composition, by one network after the other."""

import torch

from rankcheck import Network, construction, eq, networks, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    box,
    factorisation,
    factorised_functions,
    instances,
    network,
    point_in,
    unbounded_functions,
)


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
    h = network(
        source, depth=(1, 2), width=(1, 3), outputs=inner.widths[0], slopes="relu", bound=3.0
    )
    g = network(source, depth=(1, 2), width=(1, 3), outputs=h.widths[0], slopes="relu", bound=3.0)
    h, g = (Network(net.weights, net.biases, outer.slope) for net in (h, g))
    low, high = box(source, g.widths[0])
    least = outer.depth + inner.depth + h.depth + g.depth
    depths = least + source.integer(0, 4), least + source.integer(5, 60)
    x = low + stretch * (point_in(source, low, high) - low)
    return (outer, inner), (h, g), (low, high), x, depths


def at_the_narrower(f, g):
    """The pair (h, g) of f ∘ g through the narrower of the two bottlenecks."""
    (outer, inner), (h, start) = f, g
    if inner.widths[-1] <= start.widths[-1]:
        return outer, inner.merged_after(h.merged_after(start))
    return outer.merged_after(inner.merged_after(h)), start


def at_the_wider(f, g):
    """The same through the wider one; through that of f where they are equal."""
    (outer, inner), (h, start) = f, g
    if inner.widths[-1] > start.widths[-1]:
        return outer, inner.merged_after(h.merged_after(start))
    return outer.merged_after(inner.merged_after(h)), start


def not_translated(h, g, depth, lower):
    """The identity layers without the shift into the positive orthant."""
    return witnesses.identity_layers(h, g, depth, torch.zeros_like(lower))


@construction(
    "rank.composition-at-every-depth",
    paper("rank", "Thm 4.1"),
    instances=two_factorisations(),
    needs={"the point lies in Ω": two_factorisations(stretch=64.0)},
    mutants={
        "through the wider bottleneck": {"split": at_the_wider},
        "no translation": {"witness": not_translated},
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
    least = min(inner.widths[-1], start.widths[-1])
    last, first = split(f, g)
    lower, _ = networks.interval_bounds(first, *box)
    value = outer(inner(h(start(x))))
    nets = [witness(last, first, depth, lower) for depth in depths]
    scale = [tolerances.network_scale(net, x) for net in nets]
    return (
        *(
            eq(net(x), value, scale=size, label=f"the function at the {name} depth")
            for net, size, name in zip(nets, scale, ("smaller", "larger"), strict=True)
        ),
        eq(
            nets[1].cost() - nets[0].cost(),
            least * (depths[1] - depths[0]),
            scale=nets[1].cost(),
            label="the cost of the further layers",
        ),
    )
