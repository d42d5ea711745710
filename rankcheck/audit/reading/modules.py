"""Modules of torch in Python: Sequentials of layers whose formulas are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch import Tensor, nn
from torch.nn.utils.parametrize import is_parametrized

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import parameter
from rankcheck.audit.reading.folding import (
    Activation,
    Affine,
    Step,
    assemble,
    batch_norm,
    squares,
)
from rankcheck.audit.reading.opening import label, require
from rankcheck.networks.modules import slope_of

__all__ = ["from_module"]

#: What to do about an activation at the end.
_CUT = "audit the module without it, as module[:-1]"
_OTHERS = (nn.Softmax, nn.LogSoftmax, nn.Sigmoid, nn.Tanh)


def from_module(
    module: nn.Module,
    *,
    slope: float | None = None,
    shape: tuple[int, ...] | None = None,
    theorems: bool = True,
) -> Model | Graph:
    """The network that a trained module computes in eval mode.

    It is made of Linear, ReLU, LeakyReLU, Identity, Dropout, BatchNorm1d, Flatten in front, and
    Sequentials of these. A module with a forward of its own is not read, since its order is not
    known.

    Raises:
        ModelError: it has something else, hooks, or layers in training mode.
    """
    notes: list[str] = []
    steps: list[Step] = []
    homes: dict[int, str] = {}
    for name, layer in _layers("", module):
        at = f"{label(name)} ({type(layer).__name__})" if name else type(layer).__name__
        if isinstance(layer, nn.Linear):
            steps.append(_affine(name, layer, homes, notes))
        elif isinstance(layer, nn.BatchNorm1d):
            steps.append(_norm(name, layer, at, homes, notes))
        elif (a := slope_of(layer)) is not None:
            steps.append(Activation(name or type(layer).__name__, a))
        elif isinstance(layer, nn.Flatten):
            require(
                (layer.start_dim, layer.end_dim) == (1, -1),
                f"{at} flattens the axes {layer.start_dim} to {layer.end_dim}; it must flatten all "
                "but the first one",
            )
            if not steps:  # of (N, n) it is the identity
                notes.append(f"points are flattened to vectors, as {label(name)} does")
    return assemble(steps, "torch module", slope=slope, assumed=notes, cut=_CUT)


def _layers(name: str, module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The layers that compute something, in their order, with their names.

    Raises:
        ModelError: one of them is not known, or does more than its class says.
    """
    at = f"{label(name)}: {type(module).__name__}" if name else type(module).__name__
    known = _known(module)
    if known is None:
        rule = (
            "leave it out: the theory is about what comes before it"
            if isinstance(module, _OTHERS)
            else f"its forward, of {type(module).__module__}, cannot be read; put Linear, ReLU, "
            "LeakyReLU, Identity, Dropout, BatchNorm1d, Flatten in a Sequential"
        )
        raise ModelError(f"the module has {at}; {rule}")
    require(
        not (module._forward_hooks or module._forward_pre_hooks),
        f"{at} has hooks, which may change what it computes; remove them first",
    )
    require(
        not is_parametrized(module),
        f"{at} is parametrised; call torch.nn.utils.parametrize.remove_parametrizations first",
    )
    if known is nn.Sequential:
        for inner, child in module._modules.items():
            if child is not None:
                yield from _layers(f"{name}.{inner}" if name else inner, child)
        return
    require(
        not module.training or known not in (nn.Dropout, nn.BatchNorm1d),
        f"{at} is in training mode; call module.eval() first, and the audit is of what the network "
        "computes then",
    )
    if known not in (nn.Identity, nn.Dropout):
        yield name, module


_KINDS: tuple[type[nn.Module], ...] = (
    nn.Sequential,
    nn.Linear,
    nn.ReLU,
    nn.LeakyReLU,
    nn.Identity,
    nn.Dropout,
    nn.BatchNorm1d,
    nn.Flatten,
)


def _known(module: nn.Module) -> type[nn.Module] | None:
    """The class of torch whose forward this module has; None if there is none that is known."""
    for kind in _KINDS:
        if not isinstance(module, kind) or "forward" in vars(module):
            continue
        if type(module).forward is kind.forward and type(module).__call__ is nn.Module.__call__:
            return kind
    return None


def _stored(
    name: str, arrays: list[Tensor | None], homes: dict[int, str], notes: list[str]
) -> float:
    """The sum of squares of parameters; 0 if another layer has the same, and a note says so."""
    first = next((array for array in arrays if array is not None), None)
    home = homes.setdefault(id(first), name) if first is not None else name
    if home != name:
        notes.append(
            f"{label(home)} and {label(name)} share their parameters: the stored cost counts them "
            "once, the cost of the network twice"
        )
        return 0.0
    return squares(*(None if a is None else a.detach().double() for a in arrays))


def _affine(name: str, layer: nn.Linear, homes: dict[int, str], notes: list[str]) -> Affine:
    prefix = f"{name}." if name else ""
    names = (f"{prefix}weight", None if layer.bias is None else f"{prefix}bias")
    weight = parameter(label(names[0]), layer.weight)
    bias = None if layer.bias is None else parameter(label(f"{prefix}bias"), layer.bias)
    stored = _stored(name, [layer.weight, layer.bias], homes, notes)
    return Affine(name or "Linear", weight, bias, names, stored)


def _norm(
    name: str, layer: nn.BatchNorm1d, at: str, homes: dict[int, str], notes: list[str]
) -> Step:
    require(
        layer.running_mean is not None and layer.running_var is not None,
        f"{at} has no running averages, so what it computes depends on the batch; a batch norm is "
        "read with them",
    )
    arrays: list[Any] = []
    for part in ("running_mean", "running_var", "weight", "bias"):
        tensor = getattr(layer, part)
        title = label(f"{name}.{part}" if name else part)
        arrays.append(None if tensor is None else parameter(title, tensor))
    mean, variance, weight, bias = arrays
    title = name or "BatchNorm1d"
    step = batch_norm(title, mean, variance, weight, bias, layer.eps)
    return replace(step, stored=_stored(name, [layer.weight, layer.bias], homes, notes))
