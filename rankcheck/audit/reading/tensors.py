"""Safetensors files, which the library reads."""

from __future__ import annotations

from pathlib import Path

from safetensors import safe_open
from torch import Tensor

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.arrays import check_dtype, check_size
from rankcheck.audit.reading.opening import label, parsing

__all__ = ["is_tensors", "names_of", "read_tensors"]


def names_of(path: Path) -> list[str]:
    """The names of the arrays of a safetensors file.

    Raises:
        ModelError: the file is damaged.
    """
    with parsing(path, "a safetensors file"), safe_open(str(path), framework="pt") as file:
        return list(file.keys())


def is_tensors(path: Path) -> bool:
    """Whether a file is a safetensors file with a header that can be read."""
    try:
        names_of(path)
    except ModelError:
        return False
    return True


def read_tensors(
    path: Path, *, only: str | None = None, integers: bool = False, half: bool = False
) -> dict[str, Tensor]:
    """The arrays of a safetensors file, or one of them, by name.

    Args:
        integers: whether arrays of integers are read; `num_batches_tracked` always is.
        half: whether arrays of half precision are read.

    Raises:
        ModelError: an array is of a type that is not read, too large or empty, or the file is
            damaged.
    """
    with parsing(path, "a safetensors file"), safe_open(str(path), framework="pt") as file:
        names = list(file.keys()) if only is None else [only]
        for name in names:
            counter = name.rpartition(".")[2] == "num_batches_tracked"
            announced = file.get_slice(name)
            dtype = announced.get_dtype()
            check_dtype(label(name), dtype, integers=integers or counter, half=half)
            check_size(label(name), tuple(announced.get_shape()))
        return {name: file.get_tensor(name) for name in names}
