"""Fitted MLPs of scikit-learn, alone or at the end of a Pipeline; it is not imported here."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.graph.tracing import graph_of
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.activations import hidden_activation
from rankcheck.audit.reading.arrays import parameter
from rankcheck.audit.reading.folding import (
    Activation,
    Affine,
    Diagonal,
    Step,
    assemble,
    squares,
)
from rankcheck.audit.reading.opening import label, require

__all__ = ["from_estimator", "is_estimator"]

_SLOPES = {"relu": 0.0, "identity": 1.0}
_SMOOTH: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "logistic": nn.Sigmoid}
#: The name of what sends outputs back, in a TransformedTargetRegressor.
_TARGET = "transformer_"
_NETWORKS = ("MLPRegressor", "MLPClassifier")
_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")


def is_estimator(model: Any) -> bool:
    """Whether this is something of scikit-learn; nothing is if that was not imported."""
    base = sys.modules.get("sklearn.base")
    return base is not None and isinstance(model, base.BaseEstimator)


def from_estimator(
    model: Any, *, slope: float | None = None, theorems: bool = True
) -> Model | Graph:
    """The network of a fitted MLP, or of a Pipeline of scalers and an MLP.

    scikit-learn keeps W_ℓ transposed, in `coefs_`. The output is that of the last affine map. A
    scaler is an affine map and no parameter: it is folded into the layer beside it, and the stored
    cost is that of the MLP. With `theorems=False`, the activations `tanh` and `logistic` are read,
    as a `Graph`.

    Raises:
        ModelError: it is not fitted, is or has something else, or has another activation.
    """
    notes: list[str] = []
    steps: list[Step | nn.Module] = []
    last = "identity"
    for name, part in _parts(model):
        if _kind(part) in _NETWORKS:
            steps += _network(part, theorems)
            last = getattr(part, "out_activation_", "identity")
            notes += [] if last == "identity" else [f"the output is that before {last}"]
        else:
            scaler = _scaler(name, part, back=name == _TARGET)
            steps += [] if scaler is None else [scaler]
    known = [step for step in steps if not isinstance(step, nn.Module)]
    if len(known) == len(steps):
        read = assemble(known, "scikit-learn", slope=slope, assumed=notes)
        _compare(model, read.net, read.net.widths[0], last)
        return read
    require(slope is None, "the activation has no slope; leave the slope out")
    width = next(step.sizes[0] for step in known if not isinstance(step, Activation))
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    for i, step in enumerate(steps):
        name = step.name.replace(".", "_") if isinstance(step, Affine | Diagonal) else f"{i}"
        layers[f"{i} {name}" if name in layers else name or f"{i}"] = _layer(step)
    graph = graph_of(nn.Sequential(layers), (width,), "scikit-learn")
    _compare(model, graph, width, last)
    return replace(graph, assumed=(*notes, *graph.assumed))


def _kind(model: Any) -> str:
    """The class of scikit-learn that something is of."""
    mro = type(model).__mro__
    return next((k.__name__ for k in mro if k.__module__.startswith("sklearn.")), mro[0].__name__)


def _parts(model: Any) -> Iterator[tuple[str, Any]]:
    """The scalers and the MLP, in the order in which they are applied.

    Raises:
        ModelError: one of them is something else.
    """
    kind = _kind(model)
    if kind in _NETWORKS:
        yield kind, model
    elif kind == "Pipeline":
        *front, (last, network) = model.steps
        for name, part in front:
            if part is not None and part != "passthrough":
                title = _kind(part)
                require(
                    title in _SCALERS,
                    f"the step {label(name)} of the Pipeline is a {title}; scalers are read "
                    f"({', '.join(_SCALERS)}), and an MLP at the end. Audit the MLP alone, with "
                    "data that went through the steps in front of it: pipeline[-1] and "
                    "pipeline[:-1].transform(X)",
                )
                yield name, part
        title = _kind(network)
        require(
            title in (*_NETWORKS, "TransformedTargetRegressor"),
            f"the last step of the Pipeline, {label(last)}, is a {title}; it must be an MLP",
        )
        yield from _parts(network)
    elif kind == "TransformedTargetRegressor":
        require(hasattr(model, "regressor_"), f"the {kind} is not fitted; call fit first")
        yield from _parts(model.regressor_)
        title = _kind(model.transformer_)
        nothing = title == "FunctionTransformer" and model.transformer_.inverse_func is None
        require(
            nothing or title in _SCALERS,
            f"the {kind} sends its outputs back through a {title}; scalers are read "
            f"({', '.join(_SCALERS)}). Audit its regressor_, whose output is before that",
        )
        if not nothing:
            yield _TARGET, model.transformer_
    elif hasattr(model, "best_estimator_"):
        raise ModelError(f"the model is a {kind}; audit its best_estimator_")
    else:
        raise ModelError(
            f"the model is a {kind}; of scikit-learn, MLPRegressor and MLPClassifier are read, "
            "also behind scalers in a Pipeline, and in a TransformedTargetRegressor"
        )


def _network(model: Any, theorems: bool) -> list[Step | nn.Module]:
    """The layers of a fitted MLP.

    Raises:
        ModelError: it is not fitted, or its activation is not read.
    """
    kind, activation = _kind(model), model.activation
    require(hasattr(model, "coefs_"), f"the {kind} is not fitted; call fit first")
    if activation in _SMOOTH:
        require(
            not theorems or len(model.coefs_) == 1,
            hidden_activation(f"of the {kind}", repr(activation)),
        )
    else:
        known = [*_SLOPES, *_SMOOTH]
        require(
            activation in _SLOPES,
            f"the {kind} has the activation {activation!r}; it must be one of {known}",
        )
    steps: list[Step | nn.Module] = []
    for i, (matrix, vector) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if steps and activation in _SMOOTH:
            steps.append(_SMOOTH[activation]())
        elif steps:
            steps.append(Activation(f"{activation} {i}", _SLOPES[activation]))
        weight = parameter(f"coefs_[{i}]", np.asarray(matrix).T)
        bias = parameter(f"intercepts_[{i}]", np.asarray(vector))
        steps.append(Affine(f"coefs_[{i}]", weight, bias, None, squares(weight, bias)))
    return steps


def _scaler(name: str, scaler: Any, *, back: bool) -> Diagonal | None:
    """What a scaler does, or what it does `back`: x ↦ (x − c) / s or x ↦ sx + c; None if nothing.

    Raises:
        ModelError: it is not fitted, or clips.
    """
    kind, one = _kind(scaler), label(name)
    fitted = hasattr(scaler, "scale_")
    require(fitted, f"the scaler {one} ({kind}) is not fitted; call fit first")
    clips = getattr(scaler, "clip", False) and not back
    require(not clips, f"the scaler {one} ({kind}) clips, which is no affine map; clip=False")
    scale: Any = scaler.scale_
    center: Any = None
    if kind == "MinMaxScaler":  # x ↦ scale_ · x + min_
        center, scale = -scaler.min_ / scaler.scale_, 1 / scaler.scale_
    elif kind == "StandardScaler":
        center = scaler.mean_ if scaler.with_mean else None
    elif kind == "RobustScaler":
        center = scaler.center_ if scaler.with_centering else None
    if center is None and scale is None:
        return None
    s = parameter(f"the scale of {one}", np.asarray(1.0 if scale is None else scale, dtype=float))
    c = parameter(
        f"the center of {one}", np.asarray(0.0 if center is None else center, dtype=float)
    )
    s, c = torch.broadcast_tensors(s, c)
    factor, shift = (s, c) if back else (1 / s, -c / s)
    return Diagonal(name, factor.contiguous(), shift.contiguous(), 0.0, "the scaler")


class _Scale(nn.Module):
    """x ↦ ax + b, without parameters."""

    a: Tensor
    b: Tensor

    def __init__(self, step: Diagonal) -> None:
        super().__init__()
        self.register_buffer("a", step.scale)
        self.register_buffer("b", step.shift)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.a + self.b


def _layer(step: Step | nn.Module) -> nn.Module:
    """A step as a layer of torch."""
    if isinstance(step, nn.Module):
        return step
    if isinstance(step, Diagonal):
        return _Scale(step)
    assert isinstance(step, Affine)
    layer = nn.Linear(*step.sizes, dtype=torch.float64)
    assert step.bias is not None
    layer.weight, layer.bias = nn.Parameter(step.weight), nn.Parameter(step.bias)
    return layer


def _compare(model: Any, net: Callable[[Tensor], Tensor], width: int, last: str) -> None:
    """Check that what was read predicts what the model does, at three random points.

    Raises:
        ModelError: it does not, as in a subclass with a `predict` of its own.
    """
    X = np.random.default_rng(0).normal(size=(3, width))
    out = net(torch.from_numpy(X)).detach()
    if last == "identity":
        computed, expected = out.numpy(), model.predict(X)
    else:
        computed = (torch.softmax(out, -1) if last == "softmax" else torch.sigmoid(out)).numpy()
        expected = model.predict_proba(X)
        if computed.shape[1] == 1:  # two classes
            expected = expected[:, 1:]
    same = np.allclose(computed, np.reshape(expected, computed.shape), rtol=1e-4, atol=1e-6)
    require(
        same,
        f"the {type(model).__name__} predicts something else than its coefs_ and intercepts_ do",
    )
