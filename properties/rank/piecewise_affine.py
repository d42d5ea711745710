"""§2–3 of `rank`: a network is piecewise affine and continuous, and its linear regions."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import torch

from rankcheck import (
    Network,
    balls,
    construction,
    eq,
    identity,
    leq,
    linalg,
    paper,
    regions,
    tolerances,
)
from rankcheck.instances import Source, instances, integer_box, integer_network, network_at_points

from ._regions import exact


@instances
def networks_near_points(source: Source):
    """A network, a point x where it is differentiable, and a second point near x or far from it."""
    net, x = network_at_points(source)
    reach = 2.0 ** -source.choice((10, 3, 0))
    return net, x, x + reach * source.tensor(net.widths[0], low=-1.0, high=1.0)


def without_masks(net, x):
    """W_L ··· W_1, whatever x is."""
    return reduce(lambda A, W: W @ A, net.weights)


@identity(
    "rank.piecewise-affine",
    paper("rank", "§2–3"),
    instances=networks_near_points(),
    mutants={
        "the Jacobian without its masks": {"jacobian": without_masks},
        "whatever the patterns": {"everywhere": True},
    },
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_piecewise_affine(net, x, y, *, jacobian=Network.jacobian, everywhere=False):
    r"""A network is affine where its activation pattern is constant.

    $f(y) = f(x) + Jf(x)(y - x)$ whenever $x$ and $y$ have the same activation pattern, with
    $Jf = W_L D_{L-1} W_{L-1} \cdots D_1 W_1$.

    The tests of `Network` compare the masked product with automatic differentiation.
    """
    same = True
    for here, there in zip(net.pattern(x), net.pattern(y), strict=True):
        same = same & ((here == there).all() | everywhere)
    affine = net(x) + jacobian(net, x) @ (y - x)
    scale = tolerances.network_scale(net, x) + tolerances.network_scale(net, y)
    return eq(net(y), affine, where=same, scale=scale)


@instances
def networks_on_boundaries(source: Source):
    """A network, x where one hidden unit is at its kink, its layer and number, and a step.

    The bias of the unit is moved. So x was clear of all kinks before, and units of later layers may
    be on another side of theirs afterwards.
    """
    net, x = network_at_points(source, depth=(2, 5))
    layer = source.integer(0, net.depth - 2)
    unit = source.integer(0, net.widths[layer + 1] - 1)
    chosen = torch.arange(net.widths[layer + 1], device=x.device) == unit
    z = net.preactivations(x)[layer]
    biases = list(net.biases)
    biases[layer] = torch.where(chosen, biases[layer] - z, biases[layer])
    step = 2.0 ** -source.choice((10, 3)) * source.tensor(net.widths[0], low=-1.0, high=1.0)
    return net.with_parameters(net.weights, biases), x, layer, unit, step


def affine_piece(net, masks):
    """The affine maps x ↦ α̃_ℓ with fixed derivatives of the activation, as networks of depth 1."""
    layers = [net.with_parameters((net.weights[0],), (net.biases[0],))]
    for d, w, b in zip(masks, net.weights[1:], net.biases[1:], strict=True):
        masked = net.with_parameters((w * d,), (b,))
        layers.append(masked.merged_after(layers[-1]))
    return layers


def two_sides(net, x, layer, unit, *, others=0):
    """The pieces at x with derivative 1, and with derivative a, for the unit (and for others)."""
    above, below = list(net.masks(x)), list(net.masks(x))
    d = above[layer]
    chosen = (torch.arange(len(d), device=d.device) - unit).abs() <= others
    above[layer] = torch.where(chosen, torch.ones_like(d), d)
    below[layer] = torch.where(chosen, net.slope + 0 * d, d)
    return affine_piece(net, above), affine_piece(net, below)


def onto_the_boundary(row, step):
    """The part of the step that is orthogonal to the gradient of the unit."""
    square = row @ row
    along = row @ step / torch.where(square == 0, torch.ones_like(square), square)
    return step - along * row


@identity(
    "rank.continuous-across-boundaries",
    paper("rank", "§2–3"),
    instances=networks_on_boundaries(),
    mutants={
        "two units change sides": {"pieces": lambda *at: two_sides(*at, others=1)},
        "the sides exchanged": {"pieces": lambda *at: two_sides(*at)[::-1]},
        "points off the hyperplane": {"tangent": lambda row, step: step},
    },
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_continuous_across_boundaries(
    net, x, layer, unit, step, *, pieces=two_sides, tangent=onto_the_boundary
):
    r"""The affine pieces on the two sides of a boundary agree on it, and differ by rank one.

    Let $\tilde\alpha_{\ell,i}(x) = 0$ for one hidden unit, of any layer, and let $f^+$ and $f^-$ be
    the affine functions with the masks of $x$ but $\sigma_a' = 1$ and $\sigma_a' = a$ for this unit.
    They take the same values on the hyperplane through $x$ on which the pre-activation of the unit
    vanishes, $\operatorname{rank}(Jf^+ - Jf^-) \le 1$, and $f$ equals $f^+$ on the side where the
    pre-activation is positive and $f^-$ on the other, as far as no other unit changes its sign. So
    $f$ is continuous there.
    """
    (*inner, above), (*_, below) = pieces(net, x, layer, unit)
    row = inner[layer].weights[0][unit]
    on, off = x + tangent(row, step), x + step
    size = sum(tolerances.network_scale(net, point) for point in (x, on, off))
    changed = torch.cat(net.pattern(x)) != torch.cat(net.pattern(off))
    others = torch.arange(len(changed), device=x.device) != sum(net.widths[1 : layer + 1]) + unit
    positive = net.preactivations(off)[layer][unit] >= 0
    side = torch.where(positive, above(off), below(off))
    noise = 2.0**-46 * math.prod(linalg.frobenius_squared(W) for W in net.weights) ** 0.5
    jump = linalg.rank(above.weights[0] - below.weights[0], noise)
    return (
        eq(above(on), below(on), scale=size, label="on the hyperplane"),
        leq(jump, 1, label="the jump of the Jacobian"),
        eq(net(off), side, where=~(changed & others).any(), scale=size, label="on either side"),
    )


@instances
def networks_on_boxes(source: Source):
    """An integer network with one to three inputs, and a box; some have dozens of regions."""
    inputs = source.integer(1, 3)
    if inputs == 2 and source.integer(0, 1) == 1:
        net = integer_network(source, depth=(3, 3), width=(5, 7), inputs=2, outputs=1)
    else:
        depth = source.integer(2, 4 - inputs // 2) if source.integer(0, 3) else 1
        net = integer_network(source, depth=(depth, depth), width=(1, 4), inputs=inputs)
    return net, integer_box(source, inputs)


def without_the_last(net, low, high):
    """All regions but one, if there are two or more."""
    found = regions.regions(net, low, high)
    kept, starts = max(len(found) - 1, 1), found.cells.starts
    members, patterns = found.cells.members[: starts[kept]], found.cells.patterns[:kept]
    cells = replace(found.cells, starts=starts[: kept + 1], members=members, patterns=patterns)
    return replace(found, cells=cells)


def one_unit_overlooked(net, low, high):
    """The cells on which all hidden units but the last have one sign."""
    if net.depth == 1:
        return regions.regions(net, low, high)
    *first, W, last = net.weights
    *before, b, end = net.biases
    blind = net.with_parameters(
        (*first, torch.cat((W[:-1], 0 * W[-1:])), last),
        (*before, torch.cat((b[:-1], 0 * b[-1:])), end),
    )
    found = regions.regions(blind, low, high)
    return replace(found, weights=tuple(W.numpy() for W in net.weights))


def flipped(net, low, high):
    """The regions with the sign of the first hidden unit recorded the other way."""
    found = regions.regions(net, low, high)
    patterns = found.cells.patterns.copy()
    patterns[:, :1] = ~patterns[:, :1]
    return replace(found, cells=replace(found.cells, patterns=patterns))


def twice(net, low, high):
    """Every region cut in two by a hyperplane on which no unit vanishes."""
    if net.depth == 1:
        return regions.regions(net, low, high)
    W, V, *rest = net.weights
    b, *following = net.biases
    cut, middle = torch.eye(1, W.shape[-1], dtype=torch.float64), (low[:1] + high[:1]) / 2
    more = net.with_parameters(
        (torch.cat((W, cut)), torch.cat((V, 0 * V[:, :1]), 1), *rest),
        (torch.cat((b, -middle)), *following),
    )
    found = regions.regions(more, low, high)
    patterns = np.delete(found.cells.patterns, len(b), axis=1)
    cells = replace(found.cells, patterns=patterns)
    weights, biases = (tuple(a.numpy() for a in part) for part in (net.weights, net.biases))
    return replace(found, weights=weights, biases=biases, cells=cells)


def crossings(net, vertices):
    """How far hidden units take both signs on the vertices of a region, and their size: (H)."""
    z = torch.cat([z.midpoints() for z in exact(net).preactivations(vertices)[:-1]], -1)
    return torch.minimum(z.amax(0), -z.amin(0)), z.abs().amax(0)


@construction(
    "rank.regions-of-a-network",
    paper("rank", "§2–3"),
    instances=networks_on_boxes(),
    mutants={
        "a region left out": {"enumeration": without_the_last},
        "a unit overlooked": {"enumeration": one_unit_overlooked},
        "a sign the wrong way round": {"enumeration": flipped},
        "regions cut in two": {"enumeration": twice},
    },
    witness=regions.regions,
    no_ball="linear regions are listed for float weights; everything is compared in rationals",
    effort=0.2,
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_regions_of_a_network(net, box, *, enumeration=regions.regions):
    r"""The linear regions of a network in a box, each once and none left out.

    The activation regions of $f$ in a box $\Omega$ are finitely many polytopes. On each no hidden
    pre-activation takes both signs; no two have the same activation pattern inside; their volumes sum
    to that of $\Omega$; and on a region $f$ is affine with the Jacobian $Jf(x)$ of any point $x$ inside.

    The first three together prove that a list of polytopes is complete: two of them have no interior
    point in common, and no volume is left. Checked in rational arithmetic, for networks of integers:
    the signs and the values of $f$ at all vertices, the Jacobian at the mean of the vertices, as an
    array of floats and over the rationals.
    """
    found, point = enumeration(net, *box), exact(net)
    count = range(len(found))
    corners = [balls.BallArray.exact(found.exact_vertices(region)) for region in count]
    inside = balls.BallArray.exact([found.exact_interior(region) for region in count])
    total, whole = sum(found.exact_volume(), Fraction(0)), int(torch.prod(box[1] - box[0]))
    kinds = {tuple(row) for row in found.patterns.tolist()}
    J: Any = point.jacobian(inside)
    proved: Any = balls.BallArray.exact(
        [[[Fraction(int(x.p), int(x.q)) for x in row] for row in M.tolist()]
         for M in map(found.exact_jacobian, count)]
    )  # fmt: skip
    pieces = zip(corners, inside, proved, strict=True)
    values: Any = torch.cat([point(v) for v in corners])
    affine: Any = torch.cat([point(x) + (v - x) @ M.mT for v, x, M in pieces])
    values, affine = values.midpoints(), affine.midpoints()
    clauses = (
        eq(total.numerator, whole * total.denominator, label="the volume"),
        eq(len(kinds), len(found), label="distinct patterns"),
        eq(proved.midpoints(), J.midpoints(), label="the Jacobian"),
        eq(torch.from_numpy(found.jacobians.copy()), J.midpoints(), label="the Jacobian in floats"),
        eq(values, affine, scale=values.abs().amax() + 1, label="affine on each region"),
    )
    if net.depth == 1:
        return clauses
    both, size = map(torch.stack, zip(*(crossings(net, v) for v in corners), strict=True))
    return (*clauses, leq(size + both, size, label="one sign on each region"))
