"""What is affordable of a graph: which Jacobians are built, at how many points, and how many fit.

All of it follows from sizes alone, so that it is the same on every machine. Operations are counted
as multiplications with an addition, roughly: they decide at how many points something is measured,
and no figure depends on them otherwise.
"""

from __future__ import annotations

import math

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.part import MEMORY, PART

__all__ = ["LARGEST", "at_a_time", "evenly", "forward", "is_dense", "number_of_points", "traced"]

#: A Jacobian with more entries is not built; its largest singular values are found by products.
ENTRIES = 2**22
#: So many of them.
LARGEST = 8
#: Products with a Jacobian and its transpose that this takes, about: many of a residual block,
#: whose singular values lie close together; and what each costs beside the evaluations.
PRODUCTS, OVERHEAD = 1000, 2**24
#: Operations for tr Θ(x, x) at one point; where it takes more it is not taken.
TRACE = 2**36
#: Of a decomposition of an m × n matrix, in units of max(m, n) min(m, n)².
DECOMPOSITION = 8


def nodes(graph: Graph) -> tuple[int, int]:
    """How many numbers all nodes together compute at one point, and the largest of them."""
    counts = [math.prod(shape) for shape in graph.shapes.values()] + [math.prod(graph.shape)]
    return sum(counts), max(counts)


def forward(graph: Graph) -> int:
    """Operations of one evaluation."""
    number, _ = nodes(graph)
    for name, layer in graph.layers.items():
        for one in layer.maps:
            # each number that comes out takes a row of weights
            weights = sum(graph.parameters[p].numel() for p in one.parameters[:1] if p is not None)
            number += math.prod(graph.shapes[name]) * max(1, weights // one.units)
    return number


def is_dense(graph: Graph) -> bool:
    """Whether its Jacobians are built."""
    before, after = graph.widths
    return before * after <= ENTRIES


def traced(graph: Graph) -> bool:
    """Whether the trace of its tangent kernel is taken."""
    numbers = sum(p.numel() for p in graph.parameters.values())
    return graph.widths[1] * (3 * forward(graph) + 4 * numbers) <= TRACE


def work(graph: Graph, whole: bool) -> int:
    """Operations at one point, with the trace of the tangent kernel if it is the whole network."""
    few, many = sorted(graph.widths)
    if is_dense(graph):
        number = 3 * few * forward(graph) + DECOMPOSITION * many * few * few
    else:
        number = PRODUCTS * (6 * forward(graph) + OVERHEAD)
    if whole and traced(graph):
        parameters = sum(p.numel() for p in graph.parameters.values())
        number += graph.widths[1] * (3 * forward(graph) + 4 * parameters)
    return number


def number_of_points(graph: Graph, available: int, operations: int, *, whole: bool = False) -> int:
    """At how many of the points that are there it is measured; at one, if there is any."""
    return min(available, max(1, operations // work(graph, whole)))


def evenly(available: int, number: int) -> list[int]:
    """The places of so many points at even distances, the first one among them."""
    return [place * available // number for place in range(number)]


def at_a_time(graph: Graph, *, whole: bool = False) -> int:
    """How many points are measured at a time: those whose arrays fit into `MEMORY`, or one."""
    if not is_dense(graph):
        return 1
    total, largest = nodes(graph)
    before, after = graph.widths
    numbers = 2 * total + 6 * min(before, after) * largest + 6 * before * after
    if whole:
        numbers += 3 * sum(p.numel() for p in graph.parameters.values())
    return max(1, min(PART, MEMORY // (8 * numbers)))
