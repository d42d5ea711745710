"""Hidden units that can be rescaled: neurons or channels between maps that have parameters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor, fx
from torch.fx.passes.shape_prop import ShapeProp

from rankcheck.audit.graph.convolution_map import ConvolutionMap
from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.kinds.activation import NOT_HOMOGENEOUS
from rankcheck.audit.graph.linear_map import DenseMap, DiagonalMap
from rankcheck.audit.graph.transposed_map import TransposedMap

__all__ = ["Scalable", "UnitMap", "scalable"]

#: A map whose units can be rescaled.
UnitMap: TypeAlias = DenseMap | ConvolutionMap | TransposedMap | DiagonalMap


@dataclass(frozen=True, eq=False)
class Scalable:
    """The neurons or channels that come out of one map and go into others, and nowhere else.

    Attributes:
        node, source: whose units they are; a norm's γ and β are those of a unit, too.
        readers: the maps that read them by their nodes' names, and for each unit that goes into
            such a map, which of these it is.
        homogeneous: whether all that is between is positively homogeneous, unit by unit. Then
            units can be multiplied by t > 0 at their source and by 1/t where they are read.
    """

    node: str
    source: UnitMap
    readers: tuple[tuple[str, UnitMap, Tensor], ...]
    homogeneous: bool

    @property
    def reading(self) -> tuple[str, ...]:
        """The nodes of the readers."""
        return tuple(node for node, _, _ in self.readers)

    def balance(self) -> tuple[Tensor, Tensor]:
        """What goes into each unit and what goes out: squared weights, summed; with the bias."""
        enter = self.source.squares().sum(1)
        if self.source.offset is not None:
            enter = enter + self.source.offset.square()
        leave = torch.zeros_like(enter)
        for _, reader, read in self.readers:
            leave.index_add_(0, read, reader.squares().sum(0))
        return enter, leave


def scalable(graph: Graph) -> tuple[Scalable, ...]:
    """All hidden units of a network whose parameters occur once.

    Between the maps may be activations, pooling, what moves numbers, and products with what does
    not depend on the units, as gates and the weights of attention do not. Units that are added to
    others, that a norm reads, or that are an output are not among them: no factor would be their
    own. Nor are those whose readers read others as well, as the second factor of a product is.
    """
    ShapeProp(graph.module).propagate(torch.zeros(1, *graph.shape, dtype=torch.float64))
    uses = _Uses(graph)
    found: list[Scalable] = []
    taken: set[str] = set()
    for node in graph.module.graph.nodes:
        source = uses.alone(node)
        one = None if source is None else _followed(graph, node, source, uses)
        if one is not None and taken.isdisjoint(one.reading):
            taken.update(one.reading)
            found.append(one)
    return tuple(found)


class _Uses:
    """Where parameters are used, and as what."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._often: Counter[int] = Counter()  # by where a parameter is stored
        for node in graph.module.graph.nodes:
            if node.op == "call_module":
                called = graph.module.get_submodule(str(node.target))
                self._often.update(p.data_ptr() for p in called.parameters())
            elif node.op == "get_attr":
                owner, _, name = str(node.target).rpartition(".")
                value = getattr(graph.module.get_submodule(owner), name)
                self._often.update([value.data_ptr()] * len(node.users))
        self._parts: dict[str, set[tuple[int, int]]] = {}  # of each parameter, by maps
        for layer in graph.layers.values():
            for one in layer.maps:
                if isinstance(one, UnitMap):
                    for name, value in _stored(one):
                        part = value.data_ptr(), value.numel()
                        self._parts.setdefault(name, set()).add(part)

    def alone(self, node: fx.Node) -> UnitMap | None:
        """The only map of a layer, if what it has of parameters is used nowhere else."""
        layer = self._graph.layers.get(node.name)
        if layer is None or len(layer.maps) != 1:
            return None
        [one] = layer.maps
        if not isinstance(one, UnitMap):
            return None
        return one if all(self._own(name, value) for name, value in _stored(one)) else None

    def _own(self, name: str, value: Tensor) -> bool:
        """Whether this is all of a parameter, or one of equal parts that are used once each."""
        stored = self._graph.parameters.get(name)  # None for a buffer, or another name
        parts = self._parts[name]
        return (
            stored is not None
            and self._often[stored.data_ptr()] == len(parts)
            and {size for _, size in parts} == {value.numel()}
            and stored.data_ptr() in {place for place, _ in parts}
            and stored.numel() == len(parts) * value.numel()
        )


def _stored(one: UnitMap) -> Iterator[tuple[str, Tensor]]:
    """The parameters of a map, or its part of them, with the names of the whole ones."""
    for name, value in zip(one.parameters, (one.weight, one.offset), strict=True):
        if name is not None and value is not None:
            yield name, value


def _followed(graph: Graph, node: fx.Node, source: UnitMap, uses: _Uses) -> Scalable | None:
    """What reads the units of a map; None if they are mixed with others, or an output."""
    labels = {node: _labels(graph, node, source)}
    readers: list[tuple[str, UnitMap, Tensor]] = []
    homogeneous = True
    waiting = [node]
    while waiting:
        here = waiting.pop()
        for user in here.users:
            layer = graph.layers.get(user.name)
            product = layer is not None and layer.title in ("product", *_BEHIND)
            if layer is None or not _alone_in(user, here, labels, product):
                return None
            reader = uses.alone(user)
            if reader is not None:
                read = _read(reader, labels[here])
                if read is None:
                    return None
                readers.append((user.name, reader, read))
                continue
            known = layer.slope is not None or layer.title in _MOVING
            if layer.maps or not (known or layer.title in NOT_HOMOGENEOUS):
                return None
            if product and not homogeneous:
                return None  # the gate: the other factor's units can be rescaled, not its own
            homogeneous = homogeneous and known
            after = _carried(graph, user, here, layer.title, labels[here])
            if after is None:
                return None
            labels[user] = after
            waiting.append(user)
    return Scalable(node.name, source, tuple(readers), homogeneous) if readers else None


def _alone_in(user: fx.Node, here: fx.Node, labels: Collection[fx.Node], product: bool) -> bool:
    """Whether `here` is all that goes into an operation, but for the other factor of a product.

    That factor must not depend on the units.
    """
    places: list[fx.Node] = []
    fx.node.map_arg((user.args, user.kwargs), places.append)
    others = [one for one in places if one.op != "get_attr" and one is not here]
    if others and not product:
        return False
    waiting, behind = list(others), False
    while waiting:  # back to the input, unless it leads to the units
        one = waiting.pop()
        behind = behind or one in labels
        waiting += one.all_input_nodes
    return places.count(here) == 1 and not behind


_POOLING = ("max pooling", "mean pooling", "sum over axes", "resizing")
_FACTORS = ("multiple", "product")
#: Sums over the rows of one argument, with weights that others make: the place of that argument.
_BEHIND = {"attention": 2, "matrix product": 1}
_MOVING = ("nothing", "shape", *_POOLING, *_FACTORS, *_BEHIND)


def _labels(graph: Graph, node: fx.Node, source: UnitMap) -> Tensor:
    """The number of its unit at each place of what a map computes."""
    shape = _shape(node)
    numbers = torch.arange(source.units, dtype=torch.float64)
    if isinstance(source, ConvolutionMap | TransposedMap):
        numbers = numbers.reshape(-1, *[1] * len(source.size))
    elif graph.layers[node.name].title in _BY_CHANNEL:
        numbers = numbers.reshape(-1, *[1] * (len(shape) - 2))
    else:  # the last axes together are the units
        last = next(i for i in range(len(shape)) if math.prod(shape[i:]) == source.units)
        numbers = numbers.reshape(shape[last:])
    return numbers.expand(shape)


_BY_CHANNEL = ("batch norm", "group norm", "instance norm")


def _carried(
    graph: Graph, node: fx.Node, here: fx.Node, title: str, labels: Tensor
) -> Tensor | None:
    """The labels behind an operation; None where units meet."""
    if title == "shape":
        return _run(graph, node, labels)
    if title in _BEHIND:
        row, shape = labels[..., :1, :], _shape(node)
        mixed = not torch.equal(row.expand_as(labels), labels)
        if mixed or list(node.args).index(here) != _BEHIND[title]:
            return None
        fits = (*shape[:-2], shape[-1]) == (*labels.shape[:-2], labels.shape[-1])
        return row.expand(shape) if fits else None
    if title in _POOLING:
        total = _run(graph, node, torch.ones_like(labels))
        after = (_run(graph, node, labels) / total).round()
        draw = torch.Generator().manual_seed(0)
        codes = torch.rand(int(labels.max()) + 1, dtype=torch.float64, generator=draw)
        most, least = (_run(graph, node, s * codes[labels.long()]) / (s * total) for s in (1, -1))
        wanted = codes[after.long()]  # of windows with one unit alone
        alone = torch.maximum((most - wanted).abs(), (least - wanted).abs()) < 1e-9
        return after if bool(alone.all()) else None
    return None if title in _FACTORS and _shape(node) != labels.shape else labels


def _shape(node: fx.Node) -> tuple[int, ...]:
    """With its first axis, which need not be that of the point."""
    return tuple(node.meta["tensor_meta"].shape)


def _run(graph: Graph, node: fx.Node, value: Tensor) -> Tensor:
    """One operation with this in place of the tensor that goes into it."""
    args, kwargs = fx.node.map_arg((node.args, node.kwargs), lambda _: value)
    result: Tensor = getattr(fx.Interpreter(graph.module), node.op)(node.target, args, kwargs)
    return result


def _read(reader: UnitMap, labels: Tensor) -> Tensor | None:
    """For each unit that goes into a map, the label of what is there; None if there are several."""
    if isinstance(reader, ConvolutionMap | TransposedMap):
        by_unit = labels.flatten(-len(reader.size)).movedim(-1, 0).reshape(-1, reader.channels)
    elif isinstance(reader, DenseMap):
        by_unit = labels.reshape(-1, labels.shape[-1])
    else:
        return None
    return by_unit[0].long() if bool((by_unit == by_unit[0]).all()) else None
