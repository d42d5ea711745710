"""Thm 4.1 of `rank`: the cost of a composition, by one network after the other."""

from rankcheck import construction, eq, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.factorisations import factorised_functions, unbounded_functions
from rankcheck.instances.source import Source, instances
from rankcheck.networks import Network
from rankcheck.witnesses.identity_layers import translate


@instances
def positive_inside(source: Source):
    """f and g with g ≥ 0 on a box, and a point of it."""
    h, g, lower, _, x = factorised_functions(extra=(0, 1))(source)
    return (*translate(h, g, lower), x)


@instances
def negative_inside(source: Source):
    """f and g with an output of g that is negative at the point."""
    h, g, _, _, x = unbounded_functions()(source)
    down = g(x).abs() + 1
    return h, g.with_parameters(g.weights, (*g.biases[:-1], g.biases[-1] - down)), x


@construction(
    "rank.composition-cost",
    paper("rank", "Thm 4.1"),
    instances=positive_inside(),
    needs={"g takes values in the positive orthant": negative_inside()},
    mutants={"the seam merged into one layer": {"concatenate": Network.merged_after}},
    witness=Network.after,
)
def test_composition_cost(f, g, x, *, concatenate=Network.after):
    r"""The concatenated network computes the composition, and its cost is the sum.

    For $g(\Omega)$ in the positive orthant the layers of $g$, followed by those of $f$, form a network
    for $f \circ g$ of depth $L_f + L_g$ and cost $\|\theta_f\|^2 + \|\theta_g\|^2$.
    """
    net = concatenate(f, g)
    return (
        eq(net(x), f(g(x)), scale=network_scale(net, x), label="the function"),
        eq(net.cost(), f.cost() + g.cost(), label="the cost"),
        eq(net.depth, f.depth + g.depth, label="the depth"),
    )
