"""A trained network from a file or an object, as the chain that the theory is about.

Files are state dicts of torch, safetensors and ONNX; objects are modules of torch, fitted MLPs of
scikit-learn, and networks. The operations of a module are traced, and what was read is compared
with it at random points. What is no chain is an error of one line.
"""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.nn.utils.parametrize import is_parametrized

from rankcheck.audit.chain import (
    SCALES,
    Activation,
    Affine,
    Step,
    assemble,
    batch_norm,
    compare,
    diagonal,
    numbers,
    squares,
)
from rankcheck.audit.files import kind_of, parsing, state_of
from rankcheck.audit.model import NO_CHAIN, Model, ModelError, label, require
from rankcheck.audit.onnx_chain import chain_of_onnx
from rankcheck.audit.state import chain_of_parameters
from rankcheck.theory.networks import Network

#: Modules and functions that keep all numbers of a point in evaluation mode, and their order.
_NOTHING = (nn.Identity, nn.Flatten, nn.Dropout, nn.AlphaDropout)
_KEEPING = ("flatten", "view", "reshape", "dropout", "contiguous")
_SIZES = ("size", "dim", "shape", "ndim")
#: What computes something else in training mode.
_OTHERWISE = (nn.modules.batchnorm._BatchNorm, nn.modules.dropout._DropoutNd)


def chain_of(model: Any, *, slope: float | None = None, part: str | None = None) -> Model:
    """The chain of a file, a module of torch, a fitted MLP of scikit-learn, a `Network` or `Model`.

    Args:
        slope: of the activations, in (−1, 1), or 1 for the identity. Parameters alone do not tell
            it, and ReLU is assumed; others do, and the two must agree.
        part: of a file of parameters, the beginning of the names of those that are read.

    Raises:
        ModelError: it cannot be read, or is no chain of affine maps with one activation.
    """
    if slope is not None:
        number = isinstance(slope, int | float) and not isinstance(slope, bool)
        require(number and -1 < slope <= 1, f"the slope is {slope!r}; it lies in (-1, 1), or is 1")
        slope = float(slope)
    if isinstance(model, str | os.PathLike):
        return _file(Path(model), slope, part)
    require(
        part is None, "there are parts in files of parameters; audit the part of an object itself"
    )
    if isinstance(model, Model):
        a = float(model.net.slope)
        require(slope in (None, a), f"the slope is said to be {slope}, and it is {a}; leave it out")
        return model
    if isinstance(model, nn.Module):
        with parsing(type(model).__name__, "a chain"):
            return _of_module(model, slope=slope)
    if isinstance(model, Network):
        return _of_network(model, slope=slope)
    if hasattr(model, "steps") or hasattr(model, "hidden_layer_sizes"):
        return _of_estimator(model, slope=slope)
    raise ModelError(
        f"the model is a {type(model).__name__}; it must be a path, a torch module, a Network, or "
        "a fitted MLP of scikit-learn"
    )


def _file(path: Path, slope: float | None, part: str | None) -> Model:
    kind = kind_of(path)
    with parsing(path, "an ONNX model" if kind == "onnx" else "a model"):
        if kind == "onnx":
            require(part is None, "--part is for files of parameters; a graph is one network")
            return chain_of_onnx(path, slope=slope)
        tensors = state_of(path, kind, part)
        source = "safetensors" if kind == "safetensors" else "state dict"
        return chain_of_parameters(tensors, source, slope=slope, in_order=kind == "zip")


def _of_module(module: nn.Module, *, slope: float | None) -> Model:
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
    unused = [label(name) for name, one in ready.named_parameters() if id(one) not in reader.used]
    notes = [f"forward never uses {', '.join(unused[:5])}, so no cost counts it"] * bool(unused)
    if any(one.training and isinstance(one, _OTHERWISE) for one in module.modules()):
        notes.append("the module is in training mode; it was read in evaluation mode")
    stored = squares(*reader.used.values())
    model = assemble(reader.steps, "torch module", stored=stored, slope=slope, assumed=notes)
    compare(model.net, ready, "the module", scales=SCALES)
    return model


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
        self._constants: dict[fx.Node, Tensor] = {}
        self._sizes: set[fx.Node] = set()

    def read(self, node: fx.Node) -> None:
        """Add the step of a node.

        Raises:
            ModelError: it is none of a chain.
        """
        name = str(node.target) if node.op == "call_module" else node.name
        target, inputs = node.target, node.all_input_nodes
        kind = target if isinstance(target, str) else getattr(target, "__name__", str(target))
        if node.op == "get_attr":
            value: Any = self.traced
            for part in str(target).split("."):
                value = getattr(value, part)
            self._constants[node] = value
            return
        sized = kind in _SIZES or (kind == "getattr" and node.args[1] in _SIZES)
        if sized or (inputs and all(one in self._sizes for one in inputs)):
            self._sizes.add(node)
            return
        if node.op == "placeholder" and not node.users:
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
        step: Step | None = None
        match kind.removeprefix("true"), values, options:
            case ("relu", _, _):
                step = Activation(name, 0.0)
            case ("leaky_relu", _, _):
                given = values[1] if len(values) > 1 else options.get("negative_slope", 0.01)
                step = Activation(name, float(given))
            case ("linear", [None, *rest], _):
                given = options | dict(zip(("weight", "bias"), rest, strict=False))
                W = given.get("weight")
                step = Affine(name, W, given.get("bias")) if isinstance(W, Tensor) else None
            case (
                plain,
                [None, Tensor() | int() | float()] | [Tensor() | int() | float(), None],
                _,
            ) if not options:
                left = values[0] is not None
                c = torch.as_tensor(values[1 - left], dtype=torch.float64).flatten()
                step = diagonal(plain, name, c, left)
        known = step is not None or kind in _KEEPING
        require(known, f"{label(name)} ({kind}) is not known in a chain, {NO_CHAIN}")
        self.steps += [] if step is None else [step]

    def _value(self, name: str, one: Any) -> Any:
        """What an argument is: a tensor, a number, or None for what goes through the module."""
        if not isinstance(one, fx.Node):
            return one
        value = self._constants.get(one)
        if isinstance(value, nn.Parameter):
            self._use(name, value)
        return value

    def _use(self, name: str, parameter: Tensor) -> None:
        first = id(parameter) not in self.used
        require(first, f"{label(name)} uses a parameter of a layer before it, {NO_CHAIN}")
        self.used[id(parameter)] = parameter


def _of_network(net: Network, *, slope: float | None) -> Model:
    """The model of a network: its numbers, as float64 on the CPU."""
    require(not net.batch, f"the network has batch axes {net.batch}; index one of the networks")
    floats = all(isinstance(one, Tensor) for one in net.weights)
    require(floats, "the network has weights that are no floats; audits are of floats")
    layers = [
        Affine(f"layer {i}", numbers(f"W_{i}", w), numbers(f"b_{i}", b))
        for i, (w, b) in enumerate(zip(net.weights, net.biases, strict=True), 1)
    ]
    steps = _alternating(layers, float(net.slope))
    return assemble(steps, "network", stored=_cost(layers), slope=slope)


def _of_estimator(mlp: Any, *, slope: float | None) -> Model:
    """The chain of a fitted MLP of scikit-learn, up to the output of its last affine map.

    Predictions of a regressor are compared at random points.
    """
    name = type(mlp).__name__
    require(
        hasattr(mlp, "hidden_layer_sizes"),
        f"the model is a {name}; audit its last step, an MLP, on the data that come to it: of a "
        "Pipeline, pipeline[-1] on pipeline[:-1].transform(X)",
    )
    require(hasattr(mlp, "coefs_"), f"the {name} is not fitted; call fit first")
    slopes = {"relu": 0.0, "identity": 1.0}
    known = mlp.activation in slopes
    require(known, f"the {name} has the activation {mlp.activation}, {NO_CHAIN}")
    layers = [
        Affine(f"coefs_[{i}]", numbers(f"coefs_[{i}]", W.T), numbers(f"intercepts_[{i}]", b))
        for i, (W, b) in enumerate(zip(mlp.coefs_, mlp.intercepts_, strict=True))
    ]
    end = mlp.out_activation_
    model = assemble(
        _alternating(layers, slopes[mlp.activation]),
        "scikit-learn",
        stored=_cost(layers),
        slope=slope,
        assumed=[f"the output is that before {end}"] * (end != "identity"),
    )
    if end == "identity":
        compare(model.net, lambda X: mlp.predict(X.numpy()), f"the {name}", 1e-4)
    return model


def _alternating(layers: list[Affine], slope: float) -> list[Step]:
    """Affine maps with an activation between each two."""
    steps: list[Step] = []
    for one in layers:
        steps += [*([Activation(f"behind {steps[-1].name}", slope)] if steps else []), one]
    return steps


def _cost(layers: list[Affine]) -> float:
    return squares(*(array for one in layers for array in (one.weight, one.bias)))
