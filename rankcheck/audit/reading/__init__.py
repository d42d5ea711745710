"""Trained networks and data from elsewhere: a file a format.

What lives here: what turns a file or an object of another library into a `Model` or into points.
Files are recognised by their content, nothing in them is executed, and what is not understood is a
`ModelError` of one line.
May import: `audit.model` and what is below `audit`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import half_precision, parameter
from rankcheck.audit.reading.data import check_width, data_of, read_data
from rankcheck.audit.reading.folding import Activation, Affine, Step, assemble, check_slope, squares
from rankcheck.audit.reading.modules import from_module
from rankcheck.audit.reading.onnx_graph import read_onnx
from rankcheck.audit.reading.opening import format_of, regular, require, where
from rankcheck.audit.reading.scikit import from_estimator, is_estimator
from rankcheck.audit.reading.state import from_parameters
from rankcheck.audit.reading.tensors import read_tensors
from rankcheck.audit.reading.torch_file import read_state_dict
from rankcheck.audit.reading.writing import parameters_of, write_model, write_parameters
from rankcheck.networks import Network

__all__ = [
    "ENDINGS",
    "chain_of",
    "check_width",
    "data_of",
    "model_of",
    "parameters_of",
    "read_data",
    "read_model",
    "write_model",
    "write_parameters",
]

#: The formats of models, by the endings of their names.
ENDINGS = {
    ".safetensors": "safetensors",
    ".pt": "torch",
    ".pth": "torch",
    ".ckpt": "torch",
    ".bin": "torch",
    ".onnx": "onnx",
}
_RULE = (
    "models are safetensors, ONNX, or state dicts of torch: the archives that torch.save writes. "
    "Other pickles run code when they are read"
)


def read_model(
    path: str | Path,
    *,
    slope: float | None = None,
    shape: tuple[int, ...] | None = None,
    theorems: bool = True,
) -> Model | Graph:
    """The network of a file: safetensors, a state dict of torch, or ONNX.

    A network that is a chain becomes a `Model`, which theorems are about, any other one a `Graph`.

    Args:
        slope: of the activations, in (−1, 1), or 1 for the identity. Parameters alone do not tell
            it, and ReLU is assumed; an ONNX file does, and the two must agree.
        shape: of one point, as the data have it; a network that is no chain needs it.
        theorems: whether theorems are to be evaluated. If so, a hidden activation that is not
            homogeneous is an error; if not, it is measured as it is.

    Raises:
        ModelError: the file cannot be read, is not what its name says, or holds no such network.
    """
    slope = check_slope(slope)
    path = regular(path)
    kind = format_of(path, ENDINGS, _RULE)
    try:
        if kind == "onnx":
            return read_onnx(path, slope=slope, shape=shape, theorems=theorems)
        if kind == "torch":
            parameters, assumed = read_state_dict(path)
            assumed = (*assumed, *half_precision(parameters.values()))
            return from_parameters(
                parameters, "state dict", slope=slope, in_order=True, assumed=assumed
            )
        tensors = read_tensors(path, half=True)
        assumed = half_precision(tensors.values())
        return from_parameters(tensors, "safetensors", slope=slope, in_order=False, assumed=assumed)
    except ModelError as error:
        if where(path) in str(error):
            raise
        raise ModelError(f"{where(path)}: {error}") from error


def model_of(
    model: Any,
    *,
    slope: float | None = None,
    shape: tuple[int, ...] | None = None,
    theorems: bool = True,
) -> Model | Graph:
    """The network of an object: a `Network` without batch axes, a module of torch, a fitted MLP of
    scikit-learn, or a path. A `Model` or `Graph` is returned as it is.

    Args:
        slope, shape, theorems: as for `read_model`; these objects tell the slope, and the two must
            agree.

    Raises:
        ModelError: it is anything else, or not such a network.
    """
    slope = check_slope(slope)
    if isinstance(model, Model):
        a = float(model.net.slope)
        require(
            slope in (None, a),
            f"the slope is {a:g} in the model and {slope} as named; the two must agree",
        )
        return model if slope is None else replace(model, guessed=False)
    if isinstance(model, str | os.PathLike):
        return read_model(Path(model), slope=slope, shape=shape, theorems=theorems)
    if isinstance(model, Graph):
        return model
    if isinstance(model, nn.Module):
        return from_module(model, slope=slope, shape=shape, theorems=theorems)
    if isinstance(model, Network):
        return _of_network(model, slope)
    if is_estimator(model):
        return from_estimator(model, slope=slope, theorems=theorems)
    raise ModelError(
        f"the model is a {type(model).__name__}; it must be a path, a torch module, a Network, or "
        "a fitted MLP of scikit-learn, alone or behind scalers in a Pipeline"
    )


def chain_of(
    model: Any, *, slope: float | None = None, shape: tuple[int, ...] | None = None
) -> Model:
    """The network of an object or a file, which has to be a chain.

    Raises:
        ModelError: as for `model_of`, or it is none.
    """
    read = model_of(model, slope=slope, shape=shape)
    if isinstance(read, Graph):
        raise ModelError("no chain: rankcheck.measure(module, X) measures it")
    return read


def _of_network(net: Network, slope: float | None) -> Model:
    """The model of a network: its numbers, as float64 on the CPU."""
    require(not net.batch, f"the network has batch axes {net.batch}; index one of the networks")
    floats = all(isinstance(w, torch.Tensor) for w in net.weights)
    require(floats, "the network has weights that are no floats; audits are of floats")
    steps: list[Step] = []
    for i, (w, b) in enumerate(zip(net.weights, net.biases, strict=True), 1):
        if steps:
            steps.append(Activation(f"behind layer {i - 1}", float(net.slope)))
        weight, bias = parameter(f"W_{i}", w), parameter(f"b_{i}", b)
        steps.append(Affine(f"layer {i}", weight, bias, None, squares(weight, bias)))
    return assemble(steps, "network", slope=slope)
