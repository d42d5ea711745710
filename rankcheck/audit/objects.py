"""Modules of torch, networks and fitted MLPs of scikit-learn in Python.

The operations of a module are traced; what was read is compared with it at random points.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, fx, nn
from torch.nn.utils.parametrize import is_parametrized

from rankcheck.audit.chain import (
    Activation,
    Affine,
    Step,
    assemble,
    batch_norm,
    diagonal,
    half_precision,
    numbers,
    squares,
)
from rankcheck.audit.model import NO_CHAIN, Model, ModelError, label, require
from rankcheck.networks import Network

__all__ = ["chain_of_estimator", "chain_of_module", "chain_of_network", "compare"]

#: Modules and functions that keep all numbers of a point in evaluation mode, and their order.
_NOTHING = (nn.Identity, nn.Flatten, nn.Dropout, nn.AlphaDropout)
_KEEPING = ("flatten", "view", "reshape", "dropout", "contiguous")
_SIZES = ("size", "dim", "shape", "ndim")
#: What computes something else in training mode.
_OTHERWISE = (nn.modules.batchnorm._BatchNorm, nn.modules.dropout._DropoutNd)
#: A module is compared at so many random points; both are in double precision.
_POINTS, _CLOSE = 8, 1e-7


def chain_of_module(module: nn.Module, *, slope: float | None) -> Model:
    """The chain that a module computes in evaluation mode, whatever its class is.

    A copy in double precision is traced, and compared with what was read at random points; the
    module itself stays as it is.

    Raises:
        ModelError: it is no such chain, cannot be traced, uses a parameter twice, or computes
            something else than its operations say.
    """
    wrapped = {"torch.nn.parallel": "module", "torch._dynamo": "_orig_mod"}
    for start, inner in wrapped.items():
        module = getattr(module, inner) if type(module).__module__.startswith(start) else module
    for name, one in module.named_modules():
        changed = one._forward_hooks or one._forward_pre_hooks or is_parametrized(one)
        require(not changed, f"the module {label(name)} has hooks or parametrisations; remove them")
    for name, one in module.named_parameters():
        numbers(label(name), one)
    notes = half_precision(module.parameters())
    try:
        ready = copy.deepcopy(module).cpu().double().eval().requires_grad_(False)
        traced = fx.symbolic_trace(ready)
    except Exception as error:  # anything may come from a forward that somebody wrote
        said = " ".join(str(error).split())[:160]
        raise ModelError(f"its forward cannot be traced ({said}), {NO_CHAIN}") from error
    traced.graph.eliminate_dead_code()
    reader = _Reader(traced)
    for node in traced.graph.nodes:
        reader.read(node)
    unused = [name for name, one in ready.named_parameters() if id(one) not in reader.used]
    if unused:
        notes.append(
            f"forward never uses {', '.join(map(label, unused[:5]))}, so no cost counts it"
        )
    if any(one.training and isinstance(one, _OTHERWISE) for one in module.modules()):
        notes.append("the module is in training mode; it was read in evaluation mode")
    stored = squares(*reader.used.values())
    model = assemble(reader.steps, "torch module", stored=stored, slope=slope, assumed=notes)
    compare(model.net, ready, "the module")
    return model


def compare(
    net: Network, function: Callable[[Tensor], Any], what: str, close: float = _CLOSE
) -> None:
    """Check that a network computes what a function does, at random points together and alone.

    Raises:
        ModelError: it does not, or the function fails there.
    """
    draw = torch.Generator().manual_seed(0)
    X = torch.randn(_POINTS, net.widths[0], dtype=torch.float64, generator=draw)
    here = net(X)
    for number in (_POINTS, 1):
        try:
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                there = torch.as_tensor(function(X[:number].clone())).reshape(number, -1)
        except Exception as error:
            said = " ".join(str(error).split())[:160]
            raise ModelError(
                f"{what} fails at {number} points {net.widths[0]} numbers: {said}"
            ) from error
        same = there.shape == here[:number].shape
        most = close * max(float(there.abs().max()), 1e-300)
        require(
            same and bool(((there - here[:number]).abs() <= most).all()),
            f"{what} computes something else than the operations and parameters that were read",
        )


class _Reader:
    """The steps that nodes are, one node after the other.

    Attributes:
        used: the parameters of the steps, by their `id`.
    """

    def __init__(self, traced: fx.GraphModule) -> None:
        self.traced = traced
        self.steps: list[Step] = []
        self.used: dict[int, Tensor] = {}
        self._here: fx.Node | None = None
        self._constants: dict[fx.Node, tuple[Tensor, Tensor]] = {}
        self._sizes: set[fx.Node] = set()

    def read(self, node: fx.Node) -> None:
        """Add the step of a node.

        Raises:
            ModelError: it is none of a chain.
        """
        name = str(node.target) if node.op == "call_module" else node.name
        target = node.target
        kind = target if isinstance(target, str) else getattr(target, "__name__", str(target))
        if node.op == "get_attr":
            value: Any = self.traced
            for part in str(target).split("."):
                value = getattr(value, part)
            self._constants[node] = value, value
            return
        inputs = node.all_input_nodes
        sized = kind in _SIZES or (kind == "getattr" and node.args[1] in _SIZES)
        if sized or (inputs and all(one in self._sizes for one in inputs)):
            self._sizes.add(node)
            return
        if node.op == "placeholder" and not node.users:
            return
        turns = kind in ("t", "transpose") or (kind == "getattr" and node.args[1] in ("T", "mT"))
        if turns and inputs[0] in self._constants and self._constants[inputs[0]][0].ndim == 2:
            value, origin = self._constants[inputs[0]]
            self._constants[node] = value.t(), origin
            return
        moving = [one for one in inputs if one not in self._constants and one not in self._sizes]
        straight = moving == ([] if node.op == "placeholder" else [self._here])
        straight = straight and (node.op != "placeholder" or self._here is None)
        require(straight, f"{label(name)} joins or splits what goes through the module, {NO_CHAIN}")
        if node.op == "call_module":
            self._module(name, self.traced.get_submodule(name))
        elif node.op not in ("placeholder", "output"):
            self._function(name, kind.removesuffix("_"), node)
        self._here = node

    def _module(self, name: str, one: nn.Module) -> None:
        for parameter in one.parameters():
            self._use(name, parameter)
        if isinstance(one, nn.Linear):
            self.steps.append(Affine(name, one.weight, one.bias))
        elif isinstance(one, nn.BatchNorm1d):
            mean, var = one.running_mean, one.running_var
            if mean is None or var is None:
                raise ModelError(f"{label(name)} has no running averages, {NO_CHAIN}")
            self.steps.append(batch_norm(name, mean, var, one.weight, one.bias, one.eps))
        elif isinstance(one, nn.ReLU | nn.LeakyReLU):
            self.steps.append(Activation(name, float(getattr(one, "negative_slope", 0.0))))
        else:
            known = isinstance(one, _NOTHING)
            require(known, f"{label(name)} is a {type(one).__name__}, {NO_CHAIN}")

    def _function(self, name: str, kind: str, node: fx.Node) -> None:
        values = [self._value(name, one) for one in node.args]
        options = {key: self._value(name, one) for key, one in node.kwargs.items()}
        kind = {"truediv": "div", "mm": "matmul"}.get(kind, kind)
        step: Step | None = None
        match kind, values, options:
            case ("relu", _, _):
                step = Activation(name, 0.0)
            case ("leaky_relu", _, _):
                given = values[1] if len(values) > 1 else options.get("negative_slope", 0.01)
                step = Activation(name, float(given))
            case ("linear", [None, *rest], _):
                given = options | dict(zip(("weight", "bias"), rest, strict=False))
                W = given.get("weight")
                step = Affine(name, W, given.get("bias")) if isinstance(W, Tensor) else None
            case ("matmul", [None, Tensor(ndim=2) as W], {}):
                step = Affine(name, W.t().contiguous())
            case ("neg", [None], {}):
                step = Affine(name, -torch.ones(1, dtype=torch.float64))
            case (_, [None, Tensor() | int() | float()] | [Tensor() | int() | float(), None], {}):
                left = values[0] is not None
                c = torch.as_tensor(values[1 - left], dtype=torch.float64).flatten()
                step = diagonal(kind, name, c, left)
        known = step is not None or kind in _KEEPING
        require(known, f"{label(name)} ({kind}) is not known in a chain, {NO_CHAIN}")
        self.steps += [] if step is None else [step]

    def _value(self, name: str, one: Any) -> Any:
        """What an argument is: a tensor, a number, or None for what goes through the module."""
        if not isinstance(one, fx.Node):
            return one
        if one not in self._constants:
            return None
        value, origin = self._constants[one]
        if isinstance(origin, nn.Parameter):
            self._use(name, origin)
        return value.detach()

    def _use(self, name: str, parameter: Tensor) -> None:
        require(
            id(parameter) not in self.used,
            f"{label(name)} uses a parameter of a layer before it, {NO_CHAIN}",
        )
        self.used[id(parameter)] = parameter.detach()


def chain_of_network(net: Network, *, slope: float | None) -> Model:
    """The model of a network: its numbers, as float64 on the CPU."""
    require(not net.batch, f"the network has batch axes {net.batch}; index one of the networks")
    floats = all(isinstance(one, Tensor) for one in net.weights)
    require(floats, "the network has weights that are no floats; audits are of floats")
    steps: list[Step] = []
    for i, (w, b) in enumerate(zip(net.weights, net.biases, strict=True), 1):
        steps += [Activation(f"behind layer {i - 1}", float(net.slope))] * (i > 1)
        steps.append(Affine(f"layer {i}", numbers(f"W_{i}", w), numbers(f"b_{i}", b)))
    stored = squares(
        *(one for step in steps if isinstance(step, Affine) for one in (step.weight, step.bias))
    )
    return assemble(steps, "network", stored=stored, slope=slope)


def chain_of_estimator(model: Any, *, slope: float | None) -> Model:
    """The chain of an MLP of scikit-learn, alone or behind scalers in a Pipeline.

    The output is that of the last affine map. A scaler is an affine map and no parameter: it is
    folded into the first layer. Predictions are compared at random points.
    """
    *front, last = [one for _, one in model.steps] if hasattr(model, "steps") else [model]
    mlp = type(last).__name__
    require(hasattr(last, "hidden_layer_sizes"), f"the last step is a {mlp}; it must be an MLP")
    require(hasattr(last, "coefs_"), f"the {mlp} is not fitted; call fit first")
    slopes = {"relu": 0.0, "identity": 1.0}
    require(
        last.activation in slopes, f"the {mlp} has the activation {last.activation}, {NO_CHAIN}"
    )
    steps: list[Step] = list(_scalers(front))
    trained: list[Tensor] = []
    for i, (W, b) in enumerate(zip(last.coefs_, last.intercepts_, strict=True)):
        steps += [Activation(f"{last.activation} {i}", slopes[last.activation])] * (i > 0)
        trained += [numbers(f"coefs_[{i}]", W.T), numbers(f"intercepts_[{i}]", b)]
        steps.append(Affine(f"coefs_[{i}]", *trained[-2:]))
    end = last.out_activation_
    notes = [] if end == "identity" else [f"the output is that before {end}"]
    read = assemble(steps, "scikit-learn", stored=squares(*trained), slope=slope, assumed=notes)

    def predicted(X: Tensor) -> Tensor:
        if end == "identity":
            return torch.from_numpy(np.asarray(model.predict(X.numpy()), dtype=np.float64))
        p = torch.from_numpy(model.predict_proba(X.numpy()))
        logits = (p / (1 - p)).log()[:, 1:] if end == "logistic" and p.shape[1] == 2 else p.log()
        return (
            logits if end != "softmax" else logits + torch.logsumexp(read.net(X), 1, keepdim=True)
        )

    compare(read.net, predicted, f"the {type(model).__name__}", 1e-4)
    return read


def _scalers(front: list[Any]) -> Iterator[Affine]:
    """What scalers of scikit-learn do: x ↦ (x − c) / s."""
    for one in front:
        kind = type(one).__name__
        if one is None or one == "passthrough":
            continue
        known = kind in ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")
        require(
            known, f"the Pipeline has a {kind}; audit pipeline[-1] on pipeline[:-1].transform(X)"
        )
        require(hasattr(one, "scale_"), f"the {kind} is not fitted; call fit first")
        require(not getattr(one, "clip", False), f"the {kind} clips, which is no affine map")
        scale = np.asarray(1.0 if one.scale_ is None else one.scale_, dtype=float).reshape(-1)
        if kind == "MinMaxScaler":  # x ↦ scale_ · x + min_
            yield Affine(kind, numbers(kind, scale), numbers(kind, one.min_))
            continue
        centred = getattr(one, "with_mean", True) and getattr(one, "with_centering", True)
        center = getattr(one, "mean_", getattr(one, "center_", None)) if centred else None
        shift = None if center is None else numbers(kind, -np.asarray(center) / scale)
        yield Affine(kind, 1 / numbers(kind, scale), shift)
