"""Writing a network as a safetensors file that torch and others load."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.tensors import is_tensors
from rankcheck.files import check_writable, write_bytes
from rankcheck.networks import Network

__all__ = ["parameters_of", "write_model", "write_parameters"]


def write_model(path: str | Path, model: Model, net: Network) -> None:
    """Write a network as a safetensors file in float64, either the whole file or nothing.

    The names are those of the model's parameters if all of them are known, so that a module which
    had the parameters of the model loads these; else `layers.0.weight`, `layers.0.bias`, .... A
    bias of zeros is left out where the model has none. The slope is not written.

    Args:
        net: without batch axes, with the shapes of `model.net`.

    Raises:
        ModelError: the shapes are others.
        InputError: the file cannot be written, or would replace what is no safetensors file.
    """
    if net.batch or net.widths != model.net.widths:
        raise ModelError(
            f"the network has the widths {net.widths} and batch axes {net.batch}; it is written in "
            f"place of one of the widths {model.net.widths}, without batch axes"
        )
    write_parameters(path, parameters_of(model, net))


def write_parameters(path: str | Path, arrays: Mapping[str, Tensor]) -> None:
    """Write arrays by name as a safetensors file, either the whole file or nothing.

    Raises:
        InputError: the file cannot be written, or would replace what is no safetensors file.
    """
    path = Path(path)
    check_writable(path, "a safetensors file", form="safetensors", same=is_tensors)
    write_bytes(path, save(dict(arrays), metadata={"format": "pt"}))


def parameters_of(model: Model, net: Network) -> dict[str, Tensor]:
    """The parameters of a network by name.

    Raises:
        ModelError: a bias that the model does not have is not zero.
    """
    known = [pair for pair in model.parameters if pair is not None]
    names = [name for pair in known for name in pair if name is not None]
    if len(known) < net.depth or len(set(names)) < len(names):
        known = [(f"layers.{i}.weight", f"layers.{i}.bias") for i in range(net.depth)]
    arrays: dict[str, Tensor] = {}
    for (weight, bias), w, b in zip(known, net.weights, net.biases, strict=True):
        arrays[weight] = w.detach().cpu().contiguous()
        if bias is not None:
            arrays[bias] = b.detach().cpu().contiguous()
        elif bool((b != 0).any()):
            raise ModelError(
                f"the model has no bias beside {weight}, and the network has one that is not zero; "
                "it cannot be written under the names of the model"
            )
    return {name: array.clone() for name, array in arrays.items()}
