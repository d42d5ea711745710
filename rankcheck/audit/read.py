"""A trained network from a file or an object, as the chain that the theory is about.

Files are state dicts of torch, safetensors and ONNX; objects are modules of torch, fitted MLPs of
scikit-learn, and networks. What is no chain is an error of one line.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch import nn

from rankcheck.audit.chain import half_precision
from rankcheck.audit.files import kind_of, parsing, state_of
from rankcheck.audit.model import Model, ModelError, require
from rankcheck.audit.objects import chain_of_estimator, chain_of_module, chain_of_network
from rankcheck.audit.onnx_chain import chain_of_onnx
from rankcheck.audit.state import chain_of_parameters, under
from rankcheck.networks import Network

__all__ = ["chain_of"]


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
            return chain_of_module(model, slope=slope)
    if isinstance(model, Network):
        return chain_of_network(model, slope=slope)
    if hasattr(model, "steps") or hasattr(model, "hidden_layer_sizes"):
        return chain_of_estimator(model, slope=slope)
    raise ModelError(
        f"the model is a {type(model).__name__}; it must be a path, a torch module, a Network, or "
        "a fitted MLP of scikit-learn, alone or behind scalers in a Pipeline"
    )


def _file(path: Path, slope: float | None, part: str | None) -> Model:
    kind = kind_of(path)
    with parsing(path, "an ONNX model" if kind == "onnx" else "a model"):
        if kind == "onnx":
            require(part is None, "--part is for files of parameters; a graph is one network")
            return chain_of_onnx(path, slope=slope)
        state, prefix = state_of(path, kind, part)
        tensors = under(state, prefix)
        source = "safetensors" if kind == "safetensors" else "state dict"
        notes = half_precision(tensors.values())
        return chain_of_parameters(
            tensors, source, slope=slope, in_order=kind == "zip", assumed=notes
        )
