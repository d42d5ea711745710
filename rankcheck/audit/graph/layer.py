"""What is known of one operation of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from rankcheck.audit.graph.linear_map import LinearMap

__all__ = ["Call", "Layer", "Operand", "kind_of"]


def kind_of(module: nn.Module) -> type[nn.Module] | None:
    """The class of torch whose forward this module has; None if it has one of its own."""
    if "forward" in vars(module):
        return None
    forward: Any = type(module).forward
    for kind in type(module).__mro__:
        if getattr(nn, kind.__name__, None) is kind and kind is not nn.Module:
            return kind if getattr(kind, "forward", None) is forward else None
    return None


@dataclass(frozen=True, eq=False)
class Operand:
    """A tensor that goes into an operation.

    Attributes:
        name: of the node that computes it, or of the parameter or buffer in the module's state.
        shape: of it at one point, with a first axis of length 1; for a parameter, its own.
        value: the numbers of a parameter or buffer, or of what is computed of these alone; None for
            what depends on the point.
        trained: whether it is a parameter.
    """

    name: str
    shape: tuple[int, ...]
    value: Tensor | None = None
    trained: bool = False


@dataclass(frozen=True, eq=False)
class Call:
    """One operation of a traced network, as the kinds of layers read it.

    Attributes:
        name: of the module, as in `named_modules`, or of the node.
        module: that is called, in float64; None for functions and methods.
        function: that is called, or the name of a method of tensors as a text; None for modules.
        args, kwargs: of the call, tensors as `Operand`s.
        shape: of the result at one point, with a first axis of length 1.
        parameters: of the module, by their names in the whole module's state.
    """

    name: str
    module: nn.Module | None
    function: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    shape: tuple[int, ...]
    parameters: Mapping[str, Tensor]

    @property
    def what(self) -> Any:
        """The class of torch whose forward the module has, or the function."""
        return self.function if self.module is None else kind_of(self.module)

    def argument(self, place: int, name: str, default: Any = None) -> Any:
        """An argument by its place or its name."""
        return self.args[place] if place < len(self.args) else self.kwargs.get(name, default)

    def parameter(self, name: str, place: int) -> Operand | None:
        """A parameter: of the module by the name that it has there, of a function by its place."""
        if self.module is None:
            found = self.argument(place, name)
            return found if isinstance(found, Operand) else None
        for full in (f"{self.name}.{name}", name):  # the latter if the whole network is one module
            if full in self.parameters:
                value = self.parameters[full]
                return Operand(full, tuple(value.shape), value, trained=True)
        return None

    def named(self, title: str, weight: Operand) -> str:
        """The name of the layer; of a function, that of the module whose parameter it takes."""
        if self.module is not None:
            return self.name
        path, _, last = weight.name.rpartition(".")
        return (path or title) if last == "weight" else weight.name

    def has_parameters(self, *places: tuple[str, int]) -> bool:
        """Whether all these, by name and place, are parameters or absent: none is computed."""
        found = [self.parameter(name, place) for name, place in places]
        return all(one is None or one.value is not None for one in found)


@dataclass(frozen=True, eq=False)
class Layer:
    """What is known of one operation.

    Attributes:
        name: of the module, or of the node.
        title: what it is, in words: `Conv2d`, `ReLU`, `sum`.
        affine: whether it is an affine function of all that depends on the point.
        piecewise: whether it is continuous and piecewise linear. Affine ones are.
        slope: a, if it is the activation σ_a, neuron by neuron; None for all others.
        rowwise: whether it treats every row along the last axis alike and alone, as a linear layer
            treats tokens.
        maps: its linear maps that have parameters.
    """

    name: str
    title: str
    affine: bool = False
    piecewise: bool = False
    slope: float | None = None
    rowwise: bool = False
    maps: tuple[LinearMap, ...] = ()
