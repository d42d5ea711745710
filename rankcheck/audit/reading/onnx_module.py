"""Graphs of ONNX as modules of torch, which are traced as any other module.

The forward goes through the nodes and calls, for each, the function of torch that it stands for.
What follows from constants and sizes alone is computed with numpy on the way, so that the trace has
the operations of the network and nothing else.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import fx, nn

from rankcheck.audit.graph.tracer import line_of
from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.arrays import check_size, dense, parameter
from rankcheck.audit.reading.onnx_constants import FOLDED, Node
from rankcheck.audit.reading.opening import label, parsing, require

__all__ = ["OnnxModule", "Operands", "Operator"]

#: What a module of torch may be called, so that its name is a name and nothing else in code.
_PLAIN = re.compile(r"[A-Za-z0-9_:/\-]+(\.[A-Za-z0-9_:/\-]+)*")


Operator = Callable[["Operands"], Any]
"""What a node computes: a value, or a tuple of values, one for each output."""


class OnnxModule(nn.Module):
    """The function that a graph computes of one point, with an axis of length 1 in front.

    Args:
        nodes: in an order in which each has its inputs.
        constants: numpy arrays by name.
        trained: the names of those that are parameters.
        ends: the names of the input and the output.
        operators: what the nodes compute.
        batch: the length of the first axis that the graph was written for; None if any.
        opset: the version of the operators.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        constants: Mapping[str, np.ndarray],
        trained: Iterable[str],
        ends: tuple[str, str],
        operators: Mapping[str, Operator],
        batch: int | None,
        opset: int,
    ) -> None:
        super().__init__()
        self._nodes, self._constants, self._ends = tuple(nodes), dict(constants), ends
        self._operators, self.batch, self.opset = operators, batch, opset
        self.trained = set(trained)
        self.arrays = tuple(constants.values())
        self._homes: dict[tuple[str, bool], tuple[str, str]] = {}

    def forward(self, point: Any) -> Any:
        """The output at one point (1, ...)."""
        values: dict[str, Any] = {**self._constants, self._ends[0]: point}
        for node in self._nodes:
            found = self._compute(node, values)
            several = found if isinstance(found, tuple) else (found,)
            for value in several:  # a few nodes that double what they get make it too large
                check_size(node.at, tuple(max(1, size) for size in value.shape))
            if isinstance(found, fx.Proxy):
                _name(found.node, node.name)
            for name, value in zip(node.outputs, several, strict=False):
                if name:
                    values[name] = value
        result = values.get(self._ends[1])
        require(
            result is not None and not isinstance(result, np.ndarray),
            f"the output {label(self._ends[1])} does not depend on the input",
        )
        return result

    def _compute(self, node: Node, values: Mapping[str, Any]) -> Any:
        for name in node.inputs:
            known = not name or name in values
            require(known, f"{node.at} takes {label(name)}, which no node before it computes")
        given = [values[name] if name else None for name in node.inputs]
        operands = Operands(node, given, self)
        if node.kind == "Shape":
            return operands.shape_of(0)
        if node.kind in FOLDED and all(one is None or isinstance(one, np.ndarray) for one in given):
            if self.trained & set(node.inputs):
                self.trained.update(node.outputs)
            with parsing(node.at, "an operation on constants"):
                return np.asarray(FOLDED[node.kind](node, given))
        require(
            node.kind in self._operators,
            f"{node.at} is known for constants alone, and depends on the input here",
        )
        try:
            return self._operators[node.kind](operands)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            if isinstance(error, ModelError):
                raise
            sizes = [tuple(one.shape) for one in given if one is not None]
            rule = ""
            if self.batch not in (None, 1):
                rule = f"; the graph is written for {self.batch} points at once: export it for one"
            raise ModelError(
                f"{node.at} does not take what it gets, of the shapes "
                f"{', '.join(map(str, sizes))}: {line_of(error)}{rule}"
            ) from error

    def stored(
        self, name: str, array: np.ndarray, title: str, trained: bool, transposed: bool
    ) -> Any:
        """A constant as a parameter, or as a buffer if it is not trained.

        Args:
            title: the name of the parameter, if that is free.
        """
        key = name, transposed
        if key not in self._homes:
            given = array.T if transposed else array
            if trained:
                numbers = parameter(label(name), given)
            else:
                numbers = dense(label(name), given, integers=True, half=True)
                if array.dtype.kind in "biu":
                    numbers = numbers.to(torch.bool if array.dtype.kind == "b" else torch.int64)
            *places, last = self._free(title).split(".")
            home: nn.Module = self
            for place in places:
                if place not in home._modules:
                    home.add_module(place, _Place())
                home = home.get_submodule(place)
            if trained:
                home.register_parameter(last, nn.Parameter(numbers, requires_grad=False))
            else:
                home.register_buffer(last, numbers)
            self._homes[key] = ".".join(places), last
        path, last = self._homes[key]
        return getattr(self.get_submodule(path), last)

    def place(self, name: str) -> nn.Module | None:
        """The module in which a parameter lives; None for those of the whole."""
        homes = [self._homes[key] for key in ((name, False), (name, True)) if key in self._homes]
        return self.get_submodule(homes[0][0]) if homes and homes[0][0] else None

    def _free(self, name: str) -> str:
        """The name of a constant as one of a parameter; a number where it is no plain name."""
        parts = name.split(".")
        plain = _PLAIN.fullmatch(name) and not any(map(keyword.iskeyword, parts))
        home: Any = self
        for i, part in enumerate(parts):
            module = home._modules.get(part)
            taken = hasattr(home, part) and (module is None or i == len(parts) - 1)
            if not plain or taken:
                return f"constant_{len(self._homes)}"
            home = _Place() if module is None else module
        return name


class _Place(nn.Module):
    """Where parameters live, so that what they are used for is named after it."""

    def forward(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return function(*args, **options)


class Operands:
    """The inputs of a node, as its operator reads them."""

    def __init__(self, node: Node, values: Sequence[Any], module: OnnxModule) -> None:
        self.node, self._values, self._module = node, list(values), module

    def __len__(self) -> int:
        return len(self._values)

    def has(self, place: int) -> bool:
        """Whether there is such an input."""
        return place < len(self._values) and self._values[place] is not None

    def constant(self, place: int) -> np.ndarray:
        """An input that has to be a constant."""
        value = self._values[place] if self.has(place) else None
        what = "is computed" if value is not None else "is missing"
        fault = f"{self.node.at}: its input {place} {what}; it must be a constant"
        require(isinstance(value, np.ndarray), fault)
        assert isinstance(value, np.ndarray)
        return value

    def is_constant(self, place: int) -> bool:
        """Whether an input is a constant."""
        return self.has(place) and isinstance(self._values[place], np.ndarray)

    def integers(self, place: int) -> list[int]:
        """A constant of whole numbers."""
        array = self.constant(place)
        whole = array.dtype.kind in "iu"
        require(whole, f"{self.node.at}: its input {place} must be whole numbers")
        return [int(one) for one in array.flat]

    def number(self, place: int, default: float | None = None) -> float | None:
        """A constant that is one number."""
        if not self.has(place):
            return default
        array = self.constant(place)
        require(array.size == 1, f"{self.node.at}: its input {place} must be one number")
        return float(array.flat[0])

    def shape_of(self, place: int) -> np.ndarray:
        """The sizes of an input."""
        return np.array(self._values[place].shape, dtype=np.int64)

    def __call__(self, place: int = 0) -> Any:
        """An input of an operation on numbers: a tensor, or a float if it is a single constant."""
        value = self._values[place] if self.has(place) else None
        require(value is not None, f"{self.node.at} has no input {place}")
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return float(value)
        trained = self.node.inputs[place] in self._module.trained
        mask = isinstance(value, np.ndarray) and bool(np.isneginf(value).any())
        return self._stored(place, trained and not mask)

    def weight(self, place: int, *, transposed: bool = False) -> Any:
        """A parameter; None if it is left out. It may be computed, too.

        Args:
            transposed: whether the transpose of the constant is stored.
        """
        return self._stored(place, True, transposed) if self.has(place) else None

    def statistic(self, place: int) -> Any:
        """A constant that is no parameter."""
        self.constant(place)
        return self._stored(place, False)

    def _stored(self, place: int, trained: bool, transposed: bool = False) -> Any:
        value = self._values[place]
        if not isinstance(value, np.ndarray):
            return value
        name = self.node.inputs[place]
        title = f"{name}.T" if transposed else name
        if name.startswith("onnx::") and trained:  # exporters call so what they transposed
            path = _path(self.node.name)
            part = "bias" if value.ndim == 1 else "weight"
            title = f"{path}.{part}" if path else title
        return self._module.stored(name, value, title, trained, transposed)

    def batch(self) -> int | None:
        """The length of the first axis that the graph was written for."""
        return self._module.batch

    def softmax_axis(self) -> int:
        """The axis of a softmax that names none; before opset 13 it and all behind it are one."""
        return -1 if self._module.opset >= 13 else 1

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute, or what it is if it is not given."""
        return self.node.attributes.get(name, default)

    def call(self, place: int, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call a function as one of the place where a parameter lives, after which it is named."""
        home = self._module.place(self.node.inputs[place]) if self.is_constant(place) else None
        return function(*args, **options) if home is None else home(function, *args, **options)


def _name(recorded: fx.Node, name: str) -> None:
    """Name what was recorded after a node of ONNX."""
    path = _path(name)
    if path:
        recorded.meta["path"] = recorded.meta.get("path") or path
    elif name and recorded.op != "placeholder":
        recorded._rename(name)


def _path(name: str) -> str:
    """The module that a node was exported from: `/layer1/layer1.0/conv/Conv` is of `layer1.0.conv`.

    >>> _path("/layer1/layer1.0/conv/Conv"), _path("/fc/MatMul"), _path("Gemm_3")
    ('layer1.0.conv', 'fc', '')
    """
    if not name.startswith("/"):
        return ""
    parts: list[str] = []
    for part in name.split("/")[1:-1]:
        if parts and part.startswith(f"{parts[-1]}."):
            parts.pop()
        parts.append(part)
    return ".".join(parts)
