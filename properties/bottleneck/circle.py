"""Section 3.3.1 of `bottleneck`: the two notions of rank differ on the unit circle."""

from fractions import Fraction

import torch

from rankcheck import construction, eq, leq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, network


@instances
def functions_on_the_circle(source: Source):
    """A continuous piecewise-linear g: R² → R, and a point of the circle by its parameter."""
    g = network(source, depth=(1, 3), width=(1, 4), inputs=2, outputs=1)
    return g, source.tensor(low=-1.0, high=1.0)


#: How often the arc is halved.
STEPS = 24


def an_arc_anywhere(g, steps):
    """An equally short arc without bisection: the difference need not change its sign over it."""
    zero = g.biases[-1].new_zeros(())
    return zero, linalg.scalar(Fraction(2) ** (1 - steps), zero)


@construction(
    "bottleneck.circle",
    paper("bottleneck", "§3.3.1"),
    instances=functions_on_the_circle(),
    mutants={"without bisection": {"bracket": an_arc_anywhere}},
    loose={"the change of sign": "the right side is zero, which no factor tightens"},
    witness=witnesses.antipodal_bracket,
    effort=0.5,
)
def test_circle(g, m, *, bracket=witnesses.antipodal_bracket):
    r"""The identity of the circle has Jacobian rank one, and no map to the line takes it apart.

    Restricted to a tangent of the unit circle, the identity is the projection onto a line, so
    $\operatorname{rank}_J(id) = 1$. Each continuous $g: \mathbb R^2 \to \mathbb R$ takes two
    antipodes, at distance 2, to one value, so no $h \circ g$ through $\mathbb R^1$ is the identity
    and $\operatorname{rank}_{BN}(id) = 2$.

    Checked is the step of this for drawn piecewise-linear $g$: $g(x) - g(-x)$ changes its sign over an
    arc of parameters of length $2^{-23}$, so that by continuity it vanishes there. That rank two
    suffices is the identity itself, through $\mathbb R^2$.
    """
    t = witnesses.tangent(m)
    projection = torch.outer(t, t)
    low, high = bracket(g, STEPS)
    start, end = witnesses.antipodal_difference(g, low), witnesses.antipodal_difference(g, high)
    x = witnesses.point(low)
    scale = tolerances.network_scale(g, x)[0]
    return (
        eq(linalg.rank(projection), 1, label="the tangent"),
        eq(projection @ t, t, label="the tangent is kept"),
        leq(start * end, 0, scale=scale * (start.abs() + end.abs()), label="the change of sign"),
        eq(high - low, Fraction(2) ** (1 - STEPS), label="the arc"),
        eq(2 * x @ (2 * x), 4, label="two points"),
    )
