"""Thm 1/3 of `rank`: the upper bound k of the cost per layer, by identity layers."""

from fractions import Fraction

import torch

from rankcheck import construction, eq, leq, limit, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.factorisations import (
    factorised_functions,
    isometries_in_the_orthant,
    unbounded_functions,
)
from rankcheck.linalg import schatten_power
from rankcheck.witnesses.identity_layers import identity_layers, translate


def without_translation(h, g, depth, lower):
    """The witness without the shift into the positive orthant."""
    return identity_layers(h, g, depth, torch.zeros_like(lower))


def one_layer_short(h, g, depth, lower):
    """The witness with one identity layer fewer."""
    return identity_layers(h, g, max(depth - 1, h.depth + g.depth), lower)


@construction(
    "rank.identity-layers",
    paper("rank", "Thm 1/3"),
    instances=factorised_functions(),
    needs={"g is bounded from below on the domain": unbounded_functions()},
    mutants={
        "no translation": {"witness": without_translation},
        "one identity layer short": {"witness": one_layer_short},
    },
    witness=identity_layers,
)
def test_identity_layers(h, g, lower, depth, x, *, witness=identity_layers):
    r"""A function through R^k is a network of any depth, at cost k for each further layer.

    Let $f = h \circ g$ through $\mathbb R^k$ with $g \ge$ `lower` on $\Omega$, and let $\theta_g$ and
    $\theta_h$ belong to $g$ and $h$ translated so that $g \ge 0$. The layers of $g$, then
    $L - L_g - L_h$ identity layers, then the layers of $h$ form a network of depth $L$ that equals
    $f$ on $\Omega$ for every slope, and
    $\|\theta\|^2 = \|\theta_g\|^2 + (L - L_g - L_h)\,k + \|\theta_h\|^2$.

    The last layer of $g$ and the first of $h$ are not merged, so $L \ge L_g + L_h$. In the control
    $g(x)$ lies below the lower bound.
    """
    net = witness(h, g, depth, lower)
    h_moved, g_moved = translate(h, g, lower)
    k = g.widths[-1]
    cost = h_moved.cost() + g_moved.cost() + (depth - h.depth - g.depth) * k
    scale = network_scale(net, x)
    return (
        eq(net(x), h(g(x)), scale=scale, label="the function"),
        eq(net.cost(), cost, label="the cost"),
        eq(net.depth, depth, label="the depth"),
    )


@limit(
    "rank.sandwich",
    paper("rank", "Thm 1"),
    instances=factorised_functions(extra=(0, 40)),
    tight=isometries_in_the_orthant(),
    witness=identity_layers,
)
def test_sandwich(h, g, lower, depth, x):
    r"""The cost per layer lies between the Schatten power of the Jacobian and k + C/L.

    At every depth $L$ the network of rank.identity-layers for $f = h \circ g$ through $\mathbb R^k$ has
    $\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2/L = k + C/L$ with
    $C = \|\theta_g\|^2 + \|\theta_h\|^2 - (L_g + L_h) k$, which does not depend on $L$.

    As $L \to \infty$ the left end tends to $\operatorname{rank} Jf(x)$ (rank.schatten-limits) and
    the right end to $k$.
    """
    net = identity_layers(h, g, depth, lower)
    h_moved, g_moved = translate(h, g, lower)
    k = g.widths[-1]
    constant = h_moved.cost() + g_moved.cost() - (h.depth + g.depth) * k
    J = h.jacobian(g(x)) @ g.jacobian(x)
    per_layer = net.cost() / depth
    scale = (h_moved.cost() + g_moved.cost()) / depth + k
    return (
        leq(schatten_power(J, Fraction(2, depth)), per_layer, label="the Jacobian"),
        eq(per_layer, k + constant / depth, scale=scale, label="the bottleneck"),
    )
