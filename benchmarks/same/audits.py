"""Twelve trained chains, in the formats that audits read, and what is measured of each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from sklearn.neural_network import MLPRegressor
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.audit import normal
from rankcheck.audit import audit
from rankcheck.networks import Network

#: Of an audit, what is measured; theorems come beside it, and the rest are words and versions.
MEASURED = ("rank", "layers", "balanced", "data")
#: Noise, where a singular value is zero; how far an iteration had come.
NOISE = {"gaps", "gap", "change"}


def chain(widths: list[int], *, bias: bool = True, act: Callable[[], nn.Module] = nn.ReLU) -> Any:
    """A Sequential in doubles, with weights of He's size."""
    layers: list[nn.Module] = []
    for number, (before, after) in enumerate(pairwise(widths)):
        layer = nn.Linear(before, after, bias=bias, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(normal(after, before, seed=number) * (2 / before) ** 0.5)
            if bias:
                layer.bias.copy_(normal(after, seed=50 + number) / 8)
        layers += [layer, act()]
    return nn.Sequential(*layers[:-1])


class Own(nn.Module):
    """A user's own class, with functional activations."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = (
            one for one in chain([4, 6, 5, 3]) if isinstance(one, nn.Linear)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.last(
            functional.leaky_relu(self.second(functional.leaky_relu(self.first(x), 0.1)), 0.1)
        )


def normalised() -> nn.Module:
    """Batch normalisation with an eps of its own, in evaluation."""
    first, act, last = chain([4, 6, 3])
    norm = nn.BatchNorm1d(6, eps=1e-2, dtype=torch.float64)
    norm.running_mean = normal(6, seed=7) / 4
    norm.running_var = normal(6, seed=8) ** 2 + 0.5
    with torch.no_grad():
        norm.weight.copy_(normal(6, seed=9).abs() + 0.5)
        norm.bias.copy_(normal(6, seed=10) / 4)
    return nn.Sequential(first, norm, act, last).eval()


def fitted() -> Any:
    """A fitted MLP of scikit-learn."""
    X = normal(40, 4, seed=3).numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPRegressor(hidden_layer_sizes=(6, 5), max_iter=30, random_state=0)
        return model.fit(X, X[:, :3])


def models(folder: Path) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Name, model and arguments of each."""
    plain = chain([4, 6, 5, 3])
    yield "sequential", plain, {}
    yield "leaky", chain([4, 6, 5, 3], act=lambda: nn.LeakyReLU(0.2)), {}
    yield "no biases", chain([4, 8, 8, 3], bias=False), {}
    yield "deep", chain([4, *[7] * 7, 2]), {}
    yield "own class", Own().double(), {}
    yield "batch normalisation", normalised(), {}
    yield "scikit-learn", fitted(), {}
    weights, biases = (
        [normal(5, 4, seed=1), normal(3, 5, seed=2)],
        [normal(5, seed=5), normal(3, seed=6)],
    )
    yield "network", Network(weights, biases, slope=0.25), {}
    yield "without biases, of slope 1/2", Network.linear(weights, slope=0.5), {}
    torch.save(plain.state_dict(), folder / "plain.pt")
    yield "state dict", folder / "plain.pt", {"slope": 0.0}
    prefixed = {f"model.net.{name}": value for name, value in plain.state_dict().items()}
    torch.save({"state_dict": prefixed, "epoch": 3, "lr": 0.1}, folder / "checkpoint.ckpt.pt")
    yield "checkpoint", folder / "checkpoint.ckpt.pt", {"slope": 0.0}
    save_file({k: v.float() for k, v in plain.state_dict().items()}, folder / "half.safetensors")
    yield "safetensors", folder / "half.safetensors", {"slope": 0.5}
    yield "onnx", gemm(plain, folder / "gemm.onnx"), {}


def gemm(model: nn.Sequential, path: Path) -> Path:
    """The chain as ONNX writes it: Gemm and Relu."""
    import onnx
    from onnx import helper, numpy_helper

    nodes, constants, last = [], [], "x"
    for number, layer in enumerate(model):
        if isinstance(layer, nn.Linear):
            for name, value in (("W", layer.weight), ("b", layer.bias)):
                array = value.detach().numpy()
                constants.append(numpy_helper.from_array(array, f"{name}{number}"))
            inputs = [last, f"W{number}", f"b{number}"]
            nodes.append(helper.make_node("Gemm", inputs, [f"y{number}"], transB=1))
        else:
            nodes.append(helper.make_node("Relu", [last], [f"y{number}"]))
        last = f"y{number}"
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, ["N", width])
        for name, width in (("x", 4), (last, 3))
    ]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def measured(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """By chain, what an audit measures at thirty points, and the theorems that it evaluates."""
    X = normal(30, 4, seed=77)
    for name, model, arguments in models(folder):
        found = audit(model, X, **arguments).to_json()
        read = {key: found["model"][key] for key in ("widths", "slope", "cost")}
        claims = {
            one["claim"]: {
                "finding": one["finding"],
                "sides": {side["label"]: [side["lhs"], side["rhs"]] for side in one["sides"]},
            }
            for one in found["theorems"]
        }
        yield name, {**read, **_figures({key: found[key] for key in MEASURED}), "theorems": claims}


def _figures(value: Any) -> Any:
    """What is left of JSON without noise."""
    if isinstance(value, dict):
        return {key: _figures(one) for key, one in value.items() if key not in NOISE}
    return [_figures(one) for one in value] if isinstance(value, list) else value
