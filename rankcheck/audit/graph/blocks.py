"""The blocks of a network: what lies between the places that every path passes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from torch import fx

from rankcheck.audit.graph.graph import Graph

__all__ = ["Block", "blocks"]


@dataclass(frozen=True, eq=False)
class Block:
    """A part of a network with one way in and one way out.

    Attributes:
        name: what its layers' names have in common, or the name of its only layer.
        kind: `chain`, one operation after the other; `residual`, a branch that is added to its
            input (`shortcut` is None) or to what a shortcut makes of it; `branches`, all others.
        start, end: the nodes it lies between; the output of the network's part is that of `end`.
        graph: what it computes.
        branch: of a residual block, what is added; None for other kinds.
        shortcut: what the input goes through on the other way; None if that is nothing.
    """

    name: str
    kind: Literal["chain", "residual", "branches"]
    start: str
    end: str
    graph: Graph
    branch: Graph | None = None
    shortcut: Graph | None = None


def blocks(graph: Graph) -> tuple[Block, ...]:
    """The blocks of a network, from its input to its output."""
    cuts = _cuts(graph)
    found: list[Block] = []
    begun = cuts[0]  # of a chain that goes on
    for before, node in pairwise(cuts):
        if node.all_input_nodes != [before] and _moving(node) != [before]:
            if begun is not before:
                found.append(_chain(graph, begun, before))
            found.append(_joined(graph, before, node))
            begun = node
    if begun is not cuts[-1]:
        found.append(_chain(graph, begun, cuts[-1]))
    times = Counter(block.name for block in found)
    return tuple(
        replace(block, name=_ends(block.graph)) if times[block.name] > 1 else block
        for block in found
    )


def _cuts(graph: Graph) -> list[fx.Node]:
    """The nodes that every path from the input to the output passes, in order."""
    nodes = list(graph.module.graph.nodes)
    ahead: dict[fx.Node, int] = {}  # paths from the input
    for node in nodes:
        ahead[node] = int(node.op == "placeholder") + sum(ahead[one] for one in _moving(node))
    behind: dict[fx.Node, int] = dict.fromkeys(nodes, 0)  # paths to the output
    for node in reversed(nodes):
        if node.op == "output":
            behind[node] = 1
        for one in _moving(node):
            behind[one] += behind[node]
    total = ahead[nodes[-1]]
    return [n for n in nodes if n.op != "output" and ahead[n] * behind[n] == total]


def _moving(node: fx.Node) -> list[fx.Node]:
    """The arguments of a node that depend on the point, one for each place where they stand."""
    found: list[fx.Node] = []
    fx.node.map_arg((node.args, node.kwargs), found.append)
    return [one for one in found if one.op != "get_attr" and not one.meta.get("constant")]


def _chain(graph: Graph, start: fx.Node, end: fx.Node) -> Block:
    part = graph.between(start.name, end.name)
    return Block(_name(part), "chain", start.name, end.name, part)


def _joined(graph: Graph, start: fx.Node, end: fx.Node) -> Block:
    """What lies between two cuts, if there are several paths."""
    whole = graph.between(start.name, end.name)
    branches = None
    if graph.layers[end.name].title == "sum":
        branches = _branches(start, end)
    if branches is None:
        return Block(_name(whole), "branches", start.name, end.name, whole)
    parts = [None if one is start else graph.between(start.name, one.name) for one in branches]
    parts.sort(key=lambda part: 0 if part is None else 1 + len(part.parameters))
    shortcut, branch = parts
    if branch is None:
        return Block(_name(whole), "branches", start.name, end.name, whole)
    return Block(_name(whole), "residual", start.name, end.name, whole, branch, shortcut)


def _branches(start: fx.Node, end: fx.Node) -> list[fx.Node] | None:
    """The two terms of a sum, if they have nothing in common behind `start`; else None."""
    terms = _moving(end)
    if len(terms) != 2:
        return None
    seen: list[set[fx.Node]] = []
    for term in terms:
        mine: set[fx.Node] = set()
        waiting = [term]
        while waiting:
            node = waiting.pop()
            if node is not start and node not in mine:
                mine.add(node)
                waiting += _moving(node)
        seen.append(mine)
    return terms if seen[0].isdisjoint(seen[1]) else None


def _name(part: Graph) -> str:
    """What the names of the layers with weights have in common; else those of both ends."""
    parts = [name.split(".") for name in _names(part)]
    common = [first[0] for first in zip(*parts, strict=False) if len(set(first)) == 1]
    return ".".join(common) or _ends(part)


def _ends(part: Graph) -> str:
    """The first and the last name of its layers with weights."""
    names = _names(part)
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"


def _names(part: Graph) -> list[str]:
    """Of the layers with weights; of all if there are none."""
    names = [one.name for layer in part.layers.values() for one in layer.maps]
    return names or [layer.name for layer in part.layers.values()]
