"""Safetensors files: a JSON header, which is checked here, and arrays, which the library reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open
from torch import Tensor

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.arrays import check_dtype, check_size
from rankcheck.audit.reading.opening import (
    LARGEST_ENTRIES,
    LARGEST_HEADER,
    kind_of,
    label,
    parsing,
    where,
)
from rankcheck.stored import StoredError, parse

__all__ = ["header", "is_tensors", "read_tensors"]

WHAT = "a safetensors file"


def header(path: Path) -> dict[str, Mapping[str, Any]]:
    """The arrays that a safetensors file announces, with their `dtype` and `shape`.

    Raises:
        ModelError: the header is too long or no such JSON, a name occurs twice, or an array is not
            described as the format says.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > LARGEST_HEADER:
            raise ModelError(
                f"{where(path)} has a header of {length} bytes; at most {LARGEST_HEADER} are read"
            )
        text = file.read(length)
    try:
        data = parse(text)
    except StoredError as error:
        raise ModelError(f"the header of {where(path)} is no JSON that is read: {error}") from error
    data.pop("__metadata__", None)
    for name, entry in data.items():
        match entry:
            case {"dtype": str(), "shape": [*sizes]} if all(type(n) is int for n in sizes):
                pass
            case _:
                raise ModelError(
                    f"the header of {where(path)} does not give a dtype and a shape for "
                    f"{label(name)}"
                )
    return data


def is_tensors(path: Path) -> bool:
    """Whether a file is a safetensors file with a header that can be read."""
    try:
        return kind_of(path) == "safetensors" and header(path) is not None
    except (ModelError, OSError):
        return False


def read_tensors(
    path: Path, *, only: str | None = None, integers: bool = False
) -> dict[str, Tensor]:
    """The arrays of a safetensors file, or one of them, by name.

    Args:
        integers: whether arrays of integers are read; `num_batches_tracked` always is.

    Raises:
        ModelError: an array is of a type that is not read, too large or empty, or the file is
            damaged.
    """
    announced = header(path)
    names = list(announced) if only is None else [only]
    entries = 0
    for name in names:
        counter = name.rpartition(".")[2] == "num_batches_tracked"
        shape = tuple(announced[name]["shape"])
        check_dtype(label(name), announced[name]["dtype"], integers=integers or counter)
        entries += check_size(label(name), shape)
    if entries > LARGEST_ENTRIES:
        raise ModelError(f"{where(path)} has {entries} entries; at most {LARGEST_ENTRIES} are read")
    with parsing(path, WHAT), safe_open(str(path), framework="pt") as file:
        return {name: file.get_tensor(name) for name in names}
