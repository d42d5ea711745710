"""Good files of trained networks and data, by their names, and what becomes of an archive."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import numpy as np
import torch
from safetensors.torch import save
from torch import nn

#: ONNX is read with an extra.
MODELS = ("m.safetensors", "m.pt", *(("m.onnx",) if find_spec("onnx") else ()))
DATA = ("d.npy", "d.npz", "d.csv", "d.safetensors")


@cache
def content(name: str) -> bytes:
    """A small file of the format of this name."""
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
    points = np.array([[1.0, 2.0], [3.0, 4.5], [-1.0, 0.25]])
    file = io.BytesIO()
    match name:
        case "m.safetensors":
            return save(module.state_dict())
        case "m.pt":
            torch.save({"epoch": 3, "state_dict": module.state_dict()}, file)
        case "m.onnx":
            return _onnx(module)
        case "d.npy":
            np.save(file, points)
        case "d.npz":
            np.savez_compressed(file, X=points, labels=np.arange(3))
        case "d.csv":
            return b"x,y\n1,2\n3,4.5\n-1,0.25\n"
        case "d.safetensors":
            return save({"X": torch.from_numpy(points), "labels": torch.arange(3)})
    return file.getvalue()


def _onnx(module: nn.Sequential) -> bytes:
    from onnx import TensorProto, helper, numpy_helper

    arrays = {name: value.numpy() for name, value in module.state_dict().items() if value.ndim}
    norm = [f"1.{part}" for part in ("weight", "bias", "running_mean", "running_var")]
    nodes = [
        helper.make_node("Gemm", ["x", "0.weight", "0.bias"], ["a"], transB=1),
        helper.make_node("BatchNormalization", ["a", *norm], ["b"], epsilon=1e-5),
        helper.make_node("LeakyRelu", ["b"], ["c"], alpha=0.25),
        helper.make_node("Gemm", ["c", "3.weight", "3.bias"], ["y"], transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 1])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    raw: bytes = model.SerializeToString()
    return raw


def repacked(raw: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """A zip archive whose entries are changed, with checksums that fit."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(file, "w") as new:
            for name in old.namelist():
                new.writestr(name, change(name, old.read(name)))
    return file.getvalue()
