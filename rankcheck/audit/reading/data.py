"""Data: numpy arrays, tables of comma-separated numbers, safetensors, and what Python holds."""

from __future__ import annotations

import csv
import os
import zipfile
from array import array as numbers
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from torch import Tensor

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import check_dtype, check_finite, check_size, dense
from rankcheck.audit.reading.opening import (
    LARGEST_ENTRIES,
    check_directory,
    format_of,
    label,
    parsing,
    regular,
    require,
    where,
)
from rankcheck.audit.reading.tensors import names_of, read_tensors

__all__ = ["array_of", "as_array", "check_width", "data_of", "numbers_of", "read_data"]

#: The largest table that is read, in bytes.
LARGEST_TABLE = 1 << 28
#: The names under which an archive of several arrays may hold the data.
NAMES = ("X", "x", "data")
#: Integers up to here have a float64 each.
EXACT = 1 << 53

_ENDINGS = {".npy": "npy", ".npz": "npz", ".csv": "csv", ".safetensors": "safetensors"}


def read_data(path: str | Path) -> Tensor:
    """The points of a file, float64 of shape (N, *shape): one for each place of the first axis.

    Numbers in one row of no table, shape (N), are N points of one number, (N, 1). The file
    is an .npy; an .npz or .safetensors of one array, or with one that is called X, x or data; or a
    .csv with commas, and a line of names at the top if you like.

    Raises:
        ModelError: the file is damaged or not what its name says; it holds no numbers, numbers of
            half precision, complex or infinite ones, or ones that are not defined; it is empty, or
            all points are equal.
    """
    return data_of(array_of(path), name=where(path))


def array_of(
    path: str | Path, names: Sequence[str] = NAMES, *, half: bool = False
) -> Tensor | np.ndarray:
    """The array of a file, of the type that it is stored in.

    Args:
        names: under which an archive of several arrays may hold it.
        half: whether half precision is read.

    Raises:
        ModelError: the file is damaged, not what its name says, or holds no such array.
    """
    path = regular(path)
    kind = format_of(path, _ENDINGS, "data are .npy, .npz, .csv or .safetensors")
    if kind == "csv":
        return _table(path)
    if kind == "npy":
        with parsing(path, "a numpy array"), path.open("rb") as file:
            return _npy(where(path), file, path.stat().st_size, half)
    if kind == "npz":
        return _npz(path, names, half)
    name = _chosen(where(path), names_of(path), names)
    return read_tensors(path, only=name, integers=True, half=half)[name]


def data_of(data: Any, *, name: str = "the data") -> Tensor:
    """The points of an array, a tensor, a list or a path, float64 of shape (N, *shape).

    Raises:
        ModelError: as for `read_data`.
    """
    if isinstance(data, str | os.PathLike):
        return read_data(Path(data))
    array = numbers_of(as_array(data, name), name)
    points = array.reshape(-1, 1) if array.ndim == 1 else array
    require(
        len(points) == 1 or bool((points != points[0]).any()),
        f"{name} has {len(points)} points that are all equal, so that ranks over the data say "
        "nothing; give one point, or different ones",
    )
    return points.contiguous()


def as_array(data: Any, name: str) -> Tensor | np.ndarray:
    """What Python holds as an array.

    Raises:
        ModelError: it is none.
    """
    if isinstance(data, Tensor | np.ndarray):
        return data
    require(
        hasattr(data, "__array__") or isinstance(data, Iterable),
        f"{name} are a {type(data).__name__}; they must be an array of numbers",
    )
    if isinstance(data, list | tuple):
        data = [row.tolist() if isinstance(row, Tensor) else row for row in data]
    with parsing(name, "an array of numbers"):
        return np.asarray(data)


def numbers_of(data: Tensor | np.ndarray, name: str, *, half: bool = False) -> Tensor:
    """The numbers of an array of at least one axis, in float64.

    Raises:
        ModelError: they are of a type that is not read, not finite, or integers without a float64.
    """
    array = dense(name, data, integers=True, half=half)
    if not (data.is_floating_point() if isinstance(data, Tensor) else data.dtype.kind == "f"):
        whole = data.cpu().numpy() if isinstance(data, Tensor) else data
        largest = max(int(whole.min()), int(whole.max()), key=abs)
        require(
            abs(largest) <= EXACT,
            f"{name} has integers up to {largest}; beyond 2**53 they have no float64",
        )
    require(array.ndim, f"{name} is a single number; data have a row for each point")
    check_finite(name, array)
    return array


def check_width(model: Model | Graph, data: Tensor) -> None:
    """Check that points (N, n) fit a network.

    Raises:
        ModelError: n is not n_0.
    """
    width = model.widths[0] if isinstance(model, Graph) else model.net.widths[0]
    columns = data.shape[-1]
    count = "1 number" if columns == 1 else f"{columns} numbers"
    require(columns == width, f"the data have {count} a point; the network takes {width}")


def _npy(name: str, file: IO[bytes], size: int, half: bool) -> np.ndarray:
    """The array of an .npy of so many bytes; its header is checked before there is any array."""
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read(file)
    check_dtype(name, dtype, integers=True, half=half)
    announced, present = check_size(name, shape) * dtype.itemsize, size - file.tell()
    require(
        announced == present,
        f"{name} has {present} bytes of numbers; its header announces {announced}",
    )
    file.seek(0)
    array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _npz(path: Path, called: Sequence[str], half: bool) -> np.ndarray:
    with parsing(path, "an archive of numpy arrays"), zipfile.ZipFile(path) as archive:
        check_directory(path, archive, 8 * LARGEST_ENTRIES + (1 << 20))
        entries = {entry.filename: entry for entry in archive.infolist()}
        names = [name.removesuffix(".npy") for name in entries if name.endswith(".npy")]
        name = _chosen(where(path), names, called)
        entry = entries[f"{name}.npy"]
        with archive.open(entry) as file:
            array = _npy(f"{label(name)} of {where(path)}", file, entry.file_size, half)
            file.read(1)  # at the end the checksum is compared
    return array


def _chosen(name: str, names: list[str], known: Sequence[str]) -> str:
    """The array that is meant: the only one, or the one that is called so."""
    called = names if len(names) == 1 else [one for one in names if one in known]
    listed = ", ".join(label(one) for one in names[:10]) + (", ..." if len(names) > 10 else "")
    require(
        len(called) == 1,
        f"{name} has {len(names)} arrays{f' ({listed})' if names else ''}; it must have one, or "
        f"one that is called {', '.join(known[:-1])} or {known[-1]}",
    )
    return called[0]


def _table(path: Path) -> np.ndarray:
    """The numbers of a table.

    Raises:
        ModelError: with the line and column of the first field that is no number.
    """
    name, size = where(path), path.stat().st_size
    require(
        size <= LARGEST_TABLE,
        f"{name} has {size} bytes; tables of at most {LARGEST_TABLE} are read: store an .npy",
    )
    values, width, lines = numbers("d"), 0, 0
    with parsing(path, "a table of numbers"), path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        for fields in reader:
            if not any(field.strip() for field in fields):
                continue
            row = [_number(field) for field in fields]
            lines += 1
            if lines == 1 and all(one is None for one in row):
                continue  # a line of names
            width = width or len(row)
            place = f"{name}, line {reader.line_num}"
            require(len(row) == width, f"{place}: it has {len(row)} fields, those before {width}")
            if None in row:
                column = row.index(None)
                hint = " (the separator is a comma)" if set(fields[column]) & set(";\t|") else ""
                raise ModelError(
                    f"{place}, column {column + 1}: {label(fields[column], 40)} is no "
                    f"finite number{hint}"
                )
            values.extend(one for one in row if one is not None)
    require(width, f"{name} has no numbers; it is empty")
    return np.frombuffer(values).reshape(-1, width)


def _number(field: str) -> float | None:
    """The number that a field is; None if it is none, or not finite."""
    try:
        value = float(field)
    except ValueError:
        return None
    return value if np.isfinite(value) and "_" not in field else None
