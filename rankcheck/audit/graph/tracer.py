"""A tracer of torch.fx for points of a known shape: sizes are numbers, values are not looked at."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, fx, nn

from rankcheck.audit.graph.layer import kind_of
from rankcheck.audit.model import ModelError

__all__ = ["DoesNotFit", "Tracer", "line_of"]

#: Modules of torch that are made of others, which are looked at one by one.
_MADE_OF_OTHERS = (
    nn.Sequential,
    nn.ModuleList,
    nn.ModuleDict,
    nn.TransformerEncoder,
    nn.TransformerEncoderLayer,
)
_NUMBERS = (torch.numel, torch.is_floating_point, torch.is_complex)
#: What changes the precision or the place of a tensor.
_CASTS = ("to", "type_as", "float", "double", "half", "bfloat16", "cpu", "cuda")


class DoesNotFit(ModelError):
    """An operation does not take tensors of the shape that it gets."""


def line_of(error: BaseException, most: int = 160) -> str:
    """What an error says, on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= most else f"{text[: most - 3]}..."


class Tensors(fx.Proxy):
    """What an operation computes: a tensor, or several."""

    tracer: Tracer

    @property
    def _tensor(self) -> Tensor:
        value = self.tracer.value(self.node)
        if not isinstance(value, Tensor):
            raise ModelError(f"{self.tracer.where(self.node)} makes no single tensor")
        return value

    shape = property(lambda self: self._tensor.shape)
    ndim = property(lambda self: self._tensor.ndim)
    dtype = property(lambda self: self._tensor.dtype)
    device = property(lambda self: self._tensor.device)
    layout = property(lambda self: self._tensor.layout)
    is_cuda = property(lambda self: False)
    is_nested = property(lambda self: False)
    is_sparse = property(lambda self: False)
    is_quantized = property(lambda self: False)
    requires_grad = property(lambda self: False)
    data = property(lambda self: self.detach())

    @property
    def T(self) -> Any:
        """The axes in reversed order."""
        return self.permute(*reversed(range(self._tensor.ndim)))

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        return self.transpose(-2, -1)

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or one of them."""
        return self._tensor.shape if dim is None else self._tensor.shape[dim]

    def dim(self) -> int:
        """How many axes it has."""
        return self._tensor.ndim

    def numel(self) -> int:
        """How many numbers it has."""
        return self._tensor.numel()

    ndimension, nelement = dim, numel

    def is_floating_point(self) -> bool:
        """Whether the numbers are floats."""
        return self._tensor.is_floating_point()

    def is_contiguous(self, **form: Any) -> bool:
        """Whether the numbers stand in memory as they are ordered."""
        return True

    def __setitem__(self, place: object, value: object) -> None:
        raise ModelError(
            "the forward changes a part of a tensor in place; write it so that it makes a new one"
        )

    def _as_number(self) -> float:
        raise ModelError(
            f"the forward makes a number of {self.node.name!r}, so that there is no one graph of "
            "it; the forward of a network that is read may depend on sizes, and not on values"
        )

    __float__ = __int__ = __index__ = __complex__ = _as_number

    def __len__(self) -> int:
        return len(self.tracer.value(self.node))

    def __iter__(self) -> Iterator[Any]:
        return iter([operator.getitem(self, place) for place in range(len(self))])


class Tracer(fx.Tracer):
    """Records what a module does with one point, (1, *shape), in float64 on the CPU.

    Layers of torch are one operation each, all other modules are looked into. Beside the record
    everything is computed at a point of zeros, so that sizes are known, and Python code may depend
    on them. It may not depend on numbers that are computed.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self._point = torch.zeros(1, *shape, dtype=torch.float64)
        self._values: dict[fx.Node, Any] = {}
        self._computing = False

    def value(self, node: fx.Node) -> Any:
        """What a node computes at the point of zeros, or the tensor that it names."""
        if node not in self._values and node.op == "get_attr":
            with self._beside():
                value: Any = self.root
                for part in str(node.target).split("."):
                    value = getattr(value, part)
            self._values[node] = value.detach()
        return self._values[node]

    def create_args_for_root(
        self, root_fn: Any, is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """The forward of the module and its first argument; all others have their defaults."""
        called = self.root.forward if is_module else root_fn
        parameters = list(inspect.signature(called).parameters.values())
        needed = [
            p.name
            for p in parameters
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        if len(needed) > 1 or not parameters:
            names = ", ".join(needed) or "none"
            raise ModelError(
                f"the network takes {len(needed)} inputs ({names}); it must take one tensor"
            )
        proxy = self.create_proxy("placeholder", "input", (), {})
        proxy.node.name = "input"
        return called, [proxy]

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a module is one operation."""
        kind = kind_of(m)
        return kind is not None and not issubclass(kind, _MADE_OF_OTHERS)

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """A module that is called, by the code that is traced or by what is computed beside."""
        if self._computing:
            return m.forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """An attribute of a module; a parameter is recorded."""
        if self._computing:
            return attr_val
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def proxy(self, node: fx.Node) -> Tensors:
        """What stands for the value of a node."""
        return Tensors(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: Any, kwargs: Any, *rest: Any, **more: Any
    ) -> Any:
        """Record an operation, and compute what it gives at the point of zeros."""
        if kind == "call_method" and target in _CASTS and self._keeps_floats(args, kwargs):
            return args[0]
        proxy = super().create_proxy(kind, target, args, kwargs, *rest, **more)
        node = proxy.node
        node.meta["path"] = self.scope.module_path
        if kind == "get_attr":
            return proxy
        value = self._point if kind == "placeholder" else self._compute(node)
        self._values[node] = value
        if _is_tensor(value):
            return proxy
        if target in _NUMBERS:
            self.graph.erase_node(node)
            return value
        raise ModelError(
            f"{self.where(node)} makes a {type(value).__name__} of numbers that are computed; the "
            "forward of a network that is read may depend on sizes, and not on values"
        )

    def _keeps_floats(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a cast is one of floats to floats, which is left out."""
        kinds = [one for one in (*args[1:], *kwargs.values()) if isinstance(one, torch.dtype)]
        floats = isinstance(args[0], Tensors) and args[0].is_floating_point()
        return floats and all(kind.is_floating_point for kind in kinds)

    def module(self, node: fx.Node) -> nn.Module:
        """The module that a node calls."""
        return self.root.get_submodule(str(node.target))

    def where(self, node: fx.Node) -> str:
        """The name of an operation and what it is."""
        path = node.meta.get("path") or ""
        if node.op == "call_module":
            return (
                f"{str(node.target)!r} ({type(self.root.get_submodule(str(node.target))).__name__})"
            )
        target = node.target
        title = target if isinstance(target, str) else getattr(target, "__name__", str(target))
        place = f" in {path!r}" if path else ""
        return f"the operation {title!r}{place}"

    def _compute(self, node: fx.Node) -> Any:
        args = fx.node.map_arg(node.args, self.value)
        kwargs = fx.node.map_arg(node.kwargs, self.value)
        try:
            with torch.no_grad(), self._beside():
                if node.op == "call_module":
                    return self.module(node).forward(*args, **kwargs)
                if node.op == "call_method":
                    if not hasattr(args[0], str(node.target)):
                        raise ModelError(f"{self.where(node)} is called, which no tensor has")
                    return getattr(args[0], str(node.target))(*args[1:], **kwargs)
                assert callable(node.target)
                return node.target(*args, **kwargs)
        except DoesNotFit:
            raise
        except (RuntimeError, ValueError, IndexError, TypeError, AttributeError) as error:
            if node.op == "call_module" and isinstance(self.module(node), nn.Embedding):
                raise ModelError(
                    f"{self.where(node)} takes whole numbers, and audits are about functions of "
                    "points: audit what comes behind it, with its values as points"
                ) from error
            first = args[0] if args else None
            if isinstance(first, tuple) and node.op != "call_function":
                several = f"{self.where(node)} takes one tensor, and gets several"
                raise ModelError(several) from error
            got = f", of shape {tuple(first.shape)[1:]}" if isinstance(first, Tensor) else ""
            raise DoesNotFit(
                f"{self.where(node)} does not take what it gets{got}: {line_of(error)}"
            ) from error

    @contextmanager
    def _beside(self) -> Iterator[None]:
        """Nothing is recorded."""
        before, self._computing = self._computing, True
        try:
            yield
        finally:
            self._computing = before


def _is_tensor(value: object) -> bool:
    """Whether it is a tensor, or made of tensors and None."""
    if isinstance(value, tuple | list):
        return bool(value) and all(one is None or _is_tensor(one) for one in value)
    return isinstance(value, Tensor)
