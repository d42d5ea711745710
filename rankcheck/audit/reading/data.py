"""Data: numpy arrays, tables of comma-separated numbers, safetensors, and what Python holds."""

from __future__ import annotations

import csv
import io
import os
import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.model import Model, ModelError
from rankcheck.audit.reading.arrays import check_dtype, check_finite, check_size, dense
from rankcheck.audit.reading.opening import (
    IN_WORDS,
    check_directory,
    kind_of,
    label,
    parsing,
    regular,
    where,
)
from rankcheck.audit.reading.tensors import header, read_tensors

__all__ = ["check_width", "data_of", "read_data"]

#: The largest table that is read, in bytes.
LARGEST_TABLE = 1 << 28
#: The names under which an archive of several arrays may hold the data.
NAMES = ("X", "x", "data")
#: Integers up to here have a float64 each.
EXACT = 1 << 53

_ENDINGS = {".npy": "npy", ".npz": "npz", ".csv": "csv", ".safetensors": "safetensors"}


def read_data(path: str | Path) -> Tensor:
    """The points of a file, float64 of shape (N, n): a row for each.

    Numbers in one row of no table, shape (N), are N points of one number; further axes, as those of
    images, are flattened. The file is an .npy; an .npz or .safetensors of one array, or with one
    that is called X, x or data; or a .csv with commas, and a line of names at the top if you like.

    Raises:
        ModelError: the file is damaged or not what its name says; it holds no numbers, numbers of
            half precision, complex or infinite ones, or ones that are not defined; it is empty, or
            all points are equal.
    """
    path = regular(path)
    kind = kind_of(path)
    named = _ENDINGS.get(path.suffix.lower())
    if kind == "other" and named in ("csv", None):
        kind = "csv"
    said = IN_WORDS.get(kind, "a table") if kind != "other" else f"no {named} file"
    if kind not in _ENDINGS.values() and (named is None or kind != "other"):
        raise ModelError(f"{where(path)} is {said}; data are .npy, .npz, .csv or .safetensors")
    if named is not None and kind != named:
        raise ModelError(f"{where(path)} is not what its name says: it is {said}")
    if kind == "csv":
        return _checked(where(path), _table(path))
    if kind == "npy":
        with parsing(path, "a numpy array"), path.open("rb") as file:
            array: Any = _npy(where(path), file, path.stat().st_size)
    elif kind == "npz":
        array = _npz(path)
    else:
        name = _chosen(where(path), list(header(path)))
        array = read_tensors(path, only=name, integers=True)[name]
    return data_of(array, name=where(path))


def data_of(data: Any, *, name: str = "the data") -> Tensor:
    """The points of an array, a tensor, a list or a path, float64 of shape (N, n).

    Raises:
        ModelError: as for `read_data`.
    """
    if isinstance(data, str | os.PathLike):
        return read_data(Path(data))
    if isinstance(data, Tensor):
        points = dense(name, data, integers=True)
        if not data.is_floating_point():
            _check_exact(name, data.cpu().numpy())
        return _checked(name, points)
    if isinstance(data, np.ndarray | np.generic):
        array: Any = data
    elif hasattr(data, "__array__") or isinstance(data, Iterable):
        if isinstance(data, list | tuple) and any(isinstance(row, Tensor) for row in data):
            data = [row.tolist() if isinstance(row, Tensor) else row for row in data]
        with parsing(name, "an array of numbers"):
            array = np.asarray(data)
    else:
        raise ModelError(f"{name} are a {type(data).__name__}; they must be an array of numbers")
    check_dtype(name, array.dtype, integers=True)
    check_size(name, array.shape)
    _check_exact(name, array)
    return _checked(name, torch.from_numpy(np.array(array, dtype=np.float64, order="C")))


def check_width(model: Model, data: Tensor) -> None:
    """Check that points (N, n) fit a network.

    Raises:
        ModelError: n is not n_0.
    """
    width, columns = model.net.widths[0], data.shape[-1]
    if columns != width:
        raise ModelError(f"the data have {columns} numbers a point; the network takes {width}")


def _check_exact(name: str, array: Any) -> None:
    """Check that integers, if these are any, keep their values as float64."""
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        low, high = int(array.min()), int(array.max())
        if max(abs(low), abs(high)) > EXACT:
            raise ModelError(
                f"{name} has integers up to {max(low, high, key=abs)}; beyond 2**53 they have no "
                "float64"
            )


def _checked(name: str, array: Tensor) -> Tensor:
    """Points as rows, all finite and not all equal."""
    if array.ndim == 0:
        raise ModelError(f"{name} is a single number; data have a row for each point")
    check_finite(name, array)
    points = array.reshape(len(array), -1)
    if len(points) > 1 and bool((points == points[0]).all()):
        raise ModelError(
            f"{name} has {len(points)} points that are all equal, so that ranks over the data say "
            "nothing; give one point, or different ones"
        )
    return points.contiguous()


# numpy


def _npy(name: str, file: IO[bytes], size: int) -> np.ndarray:
    """The array of an .npy of so many bytes; its header is checked before there is any array."""
    start = file.read(12)
    if len(start) < 12 or not start.startswith(b"\x93NUMPY"):
        raise ModelError(f"{name} is no numpy array")
    version, length = start[6:8], struct.unpack("<I", start[8:12])[0]
    if version == b"\x01\x00":
        length &= 0xFFFF
    before = (10 if version == b"\x01\x00" else 12) + length
    if before > min(size, 1 << 16):
        raise ModelError(f"{name} has a header of {length} bytes, which is longer than it can be")
    file.seek(0)
    major, _ = np.lib.format.read_magic(file)
    read = (
        np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(file)
    check_dtype(name, dtype, integers=True)
    entries = check_size(name, shape)
    announced = entries * dtype.itemsize
    if before + announced != size:
        raise ModelError(
            f"{name} has {size - before} bytes of numbers; its header announces {announced}"
        )
    file.seek(0)
    array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _npz(path: Path) -> np.ndarray:
    with parsing(path, "an archive of numpy arrays"), zipfile.ZipFile(path) as archive:
        check_directory(path, archive, stored=False)
        arrays = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        entries = {entry.filename.removesuffix(".npy"): entry for entry in arrays}
        name = _chosen(where(path), list(entries))
        entry = entries[name]
        with archive.open(entry) as file:
            array = _npy(f"{label(name)} of {where(path)}", file, entry.file_size)
            file.read(1)  # at the end the checksum is compared
    return array


def _chosen(name: str, names: list[str]) -> str:
    """The array that holds the data: the only one, or the one that is called so."""
    if len(names) == 1:
        return names[0]
    found = [one for one in names if one in NAMES]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(label(one) for one in names[:10]) + (", ..." if len(names) > 10 else "")
    raise ModelError(
        f"{name} has {len(names)} arrays{f' ({listed})' if names else ''}; it must have one, or "
        "one that is called X, x or data"
    )


# Tables


def _table(path: Path) -> Tensor:
    """The numbers of a table.

    numpy reads it; where it cannot, the table is read once more to say which field is wrong.
    """
    name, size = where(path), path.stat().st_size
    if size > LARGEST_TABLE:
        raise ModelError(
            f"{name} has {size} bytes; tables of at most {LARGEST_TABLE} are read: store an .npy"
        )
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(f"{name} is no text in UTF-8: byte {error.start} is wrong") from error
    if "\0" in text:
        raise ModelError(f"{name} has a NUL character; it is no table")
    skipped = _names_above(name, text)
    try:
        with parsing(path, "a table of numbers"):
            array = np.loadtxt(
                io.StringIO(text), delimiter=",", ndmin=2, skiprows=skipped, comments=None,
                quotechar='"', dtype=np.float64,
            )  # fmt: skip
            array = np.ascontiguousarray(array)
            check_size(name, array.shape)
    except ModelError:
        _explain(name, text, skipped)
        raise
    wrong = ~np.isfinite(array)
    if wrong.any():
        _explain(name, text, skipped)
    return torch.from_numpy(array)


def _lines(name: str, text: str) -> Iterable[tuple[int, list[str]]]:
    """The lines with fields, with their numbers from 1."""
    reader = csv.reader(io.StringIO(text))
    try:
        for fields in reader:
            if fields and any(field.strip() for field in fields):
                yield reader.line_num, fields
    except csv.Error as error:
        raise ModelError(f"{name}, line {reader.line_num}: {error}") from error


def _names_above(name: str, text: str) -> int:
    """How many lines to skip: up to the line of names, if the first line with fields is one."""
    for number, fields in _lines(name, text):
        if not any(_is_number(field) for field in fields):
            return number
        return 0
    raise ModelError(f"{name} has no numbers; it is empty")


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def _explain(name: str, text: str, skipped: int) -> None:
    """Raise the error of the first field that is wrong, with its line and column."""
    width = 0
    for number, fields in _lines(name, text):
        if number <= skipped:
            continue
        width = width or len(fields)
        if len(fields) != width:
            raise ModelError(
                f"{name}, line {number}: there are {len(fields)} fields, and {width} in the lines "
                "before; every line has as many"
            )
        for column, field in enumerate(fields, 1):
            place = f"{name}, line {number}, column {column}"
            if not _is_number(field):
                hint = " (the separator is a comma)" if set(field) & set(";\t|") else ""
                raise ModelError(f"{place}: {label(field, 40)} is no number{hint}")
            if not np.isfinite(float(field)):
                raise ModelError(f"{place}: {label(field, 40)} is not finite; all entries must be")
    if not width:
        raise ModelError(f"{name} has a line of names and no numbers; it is empty")
