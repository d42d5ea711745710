"""§2–3 of `rank`: the linear regions that the claims about ranks and volumes go through."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from rankcheck import balls, construction, eq, leq, paper, regions
from rankcheck.instances import Source, instances, integer_box, integer_network

from ._regions import exact


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
    kept = max(len(found) - 1, 1)
    cells = replace(
        found.cells,
        starts=found.cells.starts[: kept + 1],
        members=found.cells.members[: found.cells.starts[kept]],
        patterns=found.cells.patterns[:kept],
    )
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
    effort=0.5,
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
