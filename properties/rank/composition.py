"""Thm 4.1 of `rank` at every depth: the cost of a composition, at that of either function."""

import torch

from rankcheck import Network, bound, eq, leq, networks, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    box,
    factorisation,
    instances,
    point_in,
    positive,
    semi_orthogonal,
    slope,
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
    v = semi_orthogonal(source, m, 1)
    size = (t * t).sum(-1).sqrt()
    unit = t / size.unsqueeze(-1)
    beta = positive(source, 1)
    w = dearest(size).unsqueeze(-1) / size.unsqueeze(-1) * beta
    f = Network((v * (w * unit).unsqueeze(-2),), (-(v * beta.unsqueeze(-2)).squeeze(-1),))
    weight = torch.zeros_like(t).unsqueeze(-1)
    g = Network((weight,), (source.tensor(low=0.0, high=2.0).unsqueeze(-1) * t,))
    f = Network(f.weights, f.biases, slope(source))
    return f, Network(g.weights, g.biases, f.slope), t, source.tensor(1)


@instances
def below_the_orthant(source: Source):
    """The same as the first with a shift that leaves an output of g negative at the point."""
    f, g, _, x = functions_on_a_box()(source)
    y = g(x)
    g = g.with_parameters(g.weights, (*g.biases[:-1], g.biases[-1] - y.abs() - 1))
    return f, g, torch.zeros_like(y), x


def dearest(size):
    """τ = (s² + s√(s² + 4))/2 for a shift of length s."""
    return (size * size + size * (size * size + 4).sqrt()) / 2


def square(size):
    """s², the cost of a shift of a first layer without a bias."""
    return size * size


@bound(
    "rank.composition",
    paper("rank", "Thm 4.1"),
    instances=functions_on_a_box(),
    tight=steepest_first_layers(),
    needs={"g + t takes values in the positive orthant": below_the_orthant()},
    mutants={
        "f not balanced": {"balance": lambda net: net},
        "‖t‖² in place of τ": {"addition": square},
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
    depth = f.depth + g.depth
    net = witnesses.identity_layers(balance(f), g, depth, -t)
    size = (t * t).sum(-1).sqrt()
    inner = g.cost() + cross * size * g.cost().sqrt() + size * size
    outer = (1 + addition(size) / f.depth**power) * f.cost()
    value = f(g(x))
    there = tolerances.network_scale(net, x) + tolerances.network_scale(
        f, tolerances.network_scale(g, x)
    )
    return (
        eq(net(x), value, scale=there, label="the function"),
        leq(net.cost(), inner + outer, scale=inner + outer, label="the cost"),
    )
