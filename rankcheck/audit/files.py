"""Files that may come from anybody: parameters by name, and tables of numbers.

A file is known by its content. Nothing in it is executed, and what is read of it is bounded by its
size before anything is allocated; whatever a library raises becomes an error of one line.
"""

from __future__ import annotations

import io
import os
import pickletools
import re
import stat
import struct
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from torch import Tensor

from rankcheck.audit.chain import LARGEST, numbers
from rankcheck.audit.model import NO_CHAIN, Model, ModelError, label, require
from rankcheck.errors import short_of_memory

#: The largest file that is read, in bytes. A checkpoint holds the state of an optimiser, too.
LARGEST_FILE = 1 << 32
#: The longest pickle that is read, in bytes: the names and shapes, without the numbers.
LARGEST_PICKLE = 1 << 22
#: Parts of names of what is no parameter.
COUNTERS = {"num_batches_tracked", "n_averaged"}
#: A pickle may use so many tuples, beside those of numbers, for another time.
MOST_SHARED = 20


def where(path: str | os.PathLike[str]) -> str:
    """A path as errors name it: as it is if it fits on a line."""
    text = str(path)
    return text if text.isprintable() and len(text) < 200 else label(text)


@contextmanager
def parsing(path: str | Path, what: str) -> Iterator[None]:
    """Let a library read a file, without its warnings.

    Raises:
        ModelError: with the path, what it should be, and what the library says.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, ModelError):
            raise (
                error
                if where(path) in said.split(": ")[0]
                else ModelError(f"{where(path)}: {said}")
            ) from error
        if short_of_memory(error):
            raise ModelError(f"there is not enough memory to read {where(path)}") from error
        if isinstance(error, LookupError | AttributeError | AssertionError | struct.error):
            said = "it is damaged"  # what the library says is about its own code
        raise ModelError(f"{where(path)} cannot be read as {what}: {label(said)[1:-1]}") from error


def kind_of(path: Path) -> str:
    """What a regular file is, by its content: safetensors, zip, npy, pickle, HDF5, onnx, or text.

    Raises:
        ModelError: it does not exist, is a folder, a device, empty or too large, or cannot be read.
    """
    fault = "it is no regular file"
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:
                head, fault = file.read(9), ""
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        fault = getattr(error, "strerror", None) or str(error)
    require(not fault, f"cannot read {where(path)}: {fault}")
    size = status.st_size
    fits = 0 < size <= LARGEST_FILE
    require(fits, f"cannot read {where(path)}: it has {size} bytes; 1 to {LARGEST_FILE} are read")
    if head[8:] == b"{" and int.from_bytes(head[:8], "little") <= size - 8:
        return "safetensors"
    beginnings = {b"PK": "zip", b"\x93NUMPY": "npy", b"\x89HDF": "HDF5", b"\x80": "pickle"}
    found = next((kind for start, kind in beginnings.items() if head.startswith(start)), "text")
    return "onnx" if found == "text" and (path.suffix == ".onnx" or head[:1] == b"\x08") else found


def state_of(path: Path, kind: str, part: str | None) -> dict[str, Tensor]:
    """The parameters of a safetensors file or of a state dict, also in a checkpoint, by name.

    Args:
        part: the beginning of the names of those that are meant. Of a checkpoint with several
            state dicts, they begin with the place of theirs.

    Raises:
        ModelError: it is neither, is damaged, or holds several state dicts and no part is named.
        Exception: whatever a library raises on a file that is damaged, as for `parsing`.
    """
    if kind == "safetensors":
        with safe_open(str(path), framework="pt") as file:
            named = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            written = dict(file.metadata() or {})
        for other, kept in written.items():  # as `save_model` writes what layers share
            apart = kept not in named
            require(apart, f"{label(other)} and {label(kept)} are one parameter, {NO_CHAIN}")
        return _under(named, part)
    load = f"If you trust it: {{}}({where(path)!r}{{}}); torch.save({{}}, 'new.pt')"
    require(
        kind != "pickle",
        "it is a pickle, as torch wrote before 1.6, and reading one may run code. "
        + load.format("state = torch.load", ", weights_only=True", "state"),
    )
    require(kind == "zip", f"it is {kind}; models are safetensors, state dicts of torch, and ONNX")
    content, sizes = _unpickled(path, load)
    found = _state_dicts(content)
    require(found, f"it holds no state dict, tensors by name, but a {type(content).__name__}")
    several = f"it holds {' and '.join(map(label, sorted(found)))}, several networks"
    require(part or len(found) == 1, f"{several}; --part NAME reads one (Python: part=)")
    state = next(iter(found.values()))
    if len(found) > 1:
        state = {f"{at}.{name}": one for at, all_ in found.items() for name, one in all_.items()}
    tensors = _under(state, part)
    plain = [one for one in tensors.values() if one.layout is torch.strided and not one.is_meta]
    whole = all(one.untyped_storage().nbytes() in sizes for one in plain)
    require(whole, "it is damaged: a tensor has no record of its size")
    total, most = sum(one.numel() * one.element_size() for one in plain), path.stat().st_size
    require(
        total <= most,
        f"it has {most} bytes, and its tensors {total}: strides or names repeat numbers; save each "
        "tensor with contiguous()",
    )
    return tensors


def _under(tensors: Mapping[Any, Any], part: str | None) -> dict[str, Tensor]:
    """The parameters whose names begin with a prefix, without what wraps a module.

    Raises:
        ModelError: there are none, a name is no text, or what it names is no tensor.
    """
    found: dict[str, Tensor] = {}
    tops: set[str] = set()
    for name, value in tensors.items():
        text = isinstance(name, str) and len(name) <= 500
        require(text, f"the name of a parameter is {label(name)}, no text of at most 500 letters")
        if isinstance(value, int | float | str | None):
            continue
        tensor = isinstance(value, Tensor)
        require(tensor, f"{label(name)} is a {type(value).__name__}, and no tensor")
        tops.add(name.partition(".")[0])
        if name.rpartition(".")[2] in COUNTERS or not f"{name}.".startswith(f"{part or name}."):
            continue
        short = re.sub(r"(^|\.)(_orig_mod|module)\.", r"\1", name[len(part) + 1 if part else 0 :])
        twice = f"{label(short)} is there twice, as of a module and its wrapper"
        require(short not in found, twice)
        found[short] = value
    there = ", ".join(map(label, sorted(tops)[:8])) or "none"
    require(found, f"there are no parameters under {label(part or '')}; there are {there}")
    return found


def _unpickled(path: Path, load: str) -> tuple[Any, set[int]]:
    """What an archive of torch holds, and the sizes of its records.

    `torch.load` builds tensors and plain data and calls nothing else. The numbers are mapped from
    the file, so a storage that claims to be larger than it is cannot reach beyond the file.
    """
    with zipfile.ZipFile(path) as archive:
        entries = {one.filename: one for one in archive.infolist()}
        pickles = [one for one in entries if one.rpartition("/")[2] == "data.pkl"]
        require(
            len(pickles) == 1,
            f"it is a zip archive with {len(pickles)} state dicts",
        )
        require(
            not any("/code/" in one or one.endswith("constants.pkl") for one in entries),
            "it is TorchScript, a program. "
            + load.format("module = torch.jit.load", "", "module.state_dict()"),
        )
        stored = all(one.compress_type == zipfile.ZIP_STORED for one in entries.values())
        whole = sum(one.file_size for one in archive.infolist()) <= path.stat().st_size
        once = len(entries) == len(archive.infolist())
        require(stored and whole and once, "it is compressed, or has entries that overlap")
        length = entries[pickles[0]].file_size
        require(length <= LARGEST_PICKLE, f"it has a pickle of {length} bytes, too large to read")
        _check_pickle(archive.read(pickles[0]))
        damaged = archive.testzip()
        require(damaged is None, f"it is damaged: the checksum of {label(damaged)} is wrong")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except UnpicklingError as error:  # torch advises to read it without weights_only
        named = re.search(r"(?:GLOBAL|class|function) `?([\w.]{1,100})", str(error))
        raise ModelError(
            f"it holds more than tensors and plain data{f' ({named[1]})' if named else ''}, as a "
            "whole module does, and is not run. "
            + load.format("module = torch.load", ", weights_only=False", "module.state_dict()")
        ) from error
    except (ValueError, TypeError) as error:  # of the functions that build tensors
        raise ModelError("it is damaged: its pickle builds no tensors") from error
    return content, {one.file_size for one in entries.values()}


def _check_pickle(pickle: bytes) -> None:
    """Check that what a pickle describes is no larger than itself.

    A few hundred bytes can describe a tuple of 2⁶⁰ entries, each half of it twice the same object:
    it takes no memory, but to hash it takes centuries. Or they make an array of a length.
    """
    memo: dict[Any, str] = {}
    last, plain, shared = "", 0, 0
    for code, argument, _ in pickletools.genops(pickle):
        if code.name == "MEMOIZE" or code.name.endswith("PUT"):
            memo[len(memo) if code.name == "MEMOIZE" else argument] = last
            continue
        last = memo.get(argument, "") if code.name.endswith("GET") else code.name
        if (
            last.startswith("TUPLE")
            and plain >= int(last[5:] or 1)
            and not code.name.endswith("GET")
        ):
            last = "numbers"
        shared += code.name == "DUP" or (code.name.endswith("GET") and last.startswith("TUPLE"))
        plain = plain + 1 if last in ("BININT", "BININT1", "BININT2", "BINFLOAT") else 0
        array = code.name == "GLOBAL" and "bytearray" in str(argument)
        fits = shared <= MOST_SHARED and not array
        require(fits, "it describes an object that holds its parts many times over")


def _state_dicts(
    content: Any, place: str = "", seen: set[int] | None = None
) -> dict[str, Mapping[Any, Any]]:
    """The mappings of names to parameters in a checkpoint, by their places in it."""
    seen = set() if seen is None else seen
    if not isinstance(content, Mapping) or id(content) in seen or place.count(".") > 3:
        return {}
    seen.add(id(content))
    parts = [str(key).rpartition(".")[2] for key, one in content.items() if isinstance(one, Tensor)]
    if {"weight", "bias"} & set(parts):
        return {place: content}
    found: dict[str, Mapping[Any, Any]] = {}
    for key, one in content.items():
        found |= _state_dicts(one, f"{place}.{key}".lstrip("."), seen)
    return found or ({"": content} if parts and not place else {})


# Data


def _array(path: Path, names: Sequence[str]) -> Tensor | np.ndarray:
    """The array of an .npy, .npz, .csv or .safetensors file: the only one, or the one of a name."""
    kind = kind_of(path)
    if kind == "safetensors":
        with safe_open(str(path), framework="pt") as file:
            return file.get_tensor(_chosen(list(file.keys()), names))
    if kind == "zip":
        with zipfile.ZipFile(path) as archive:
            files = [one.removesuffix(".npy") for one in archive.namelist() if one.endswith(".npy")]
            entry = archive.getinfo(f"{_chosen(files, names)}.npy")
            fits = entry.file_size <= 8 * LARGEST + 9999
            require(fits, f"it announces {entry.file_size} bytes of numbers")
            array: np.ndarray = np.load(io.BytesIO(archive.read(entry)), allow_pickle=False)
            return array
    if kind == "npy":
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False))
    require(kind == "text", f"it is {kind}; data are .npy, .npz, .csv or .safetensors")
    with path.open(encoding="utf-8-sig") as file:
        first = next((line for line in file if line.strip()), "")
        names_first = not re.match(r'\s*"?\s*([-+.\d]|nan|inf)', first, re.IGNORECASE)
        file.seek(0)
        table: np.ndarray = np.loadtxt(
            file, delimiter=",", ndmin=2, comments=None, quotechar='"', skiprows=int(names_first)
        )
    return table


def _chosen(there: Sequence[str], names: Sequence[str]) -> str:
    """The array that is meant: the only one, or the one that is called so."""
    called = there if len(there) == 1 else [one for one in there if one in names]
    listed = ", ".join(map(label, there[:9]))
    wanted = ", ".join(names[:-1])
    one = len(called) == 1
    require(one, f"it has the arrays {listed}; one is to be called {wanted} or {names[-1]}")
    return called[0]


def data_of(data: Any) -> Tensor:
    """The points of a file or an array, float64 of shape (N, ...): one for each row.

    Raises:
        ModelError: as for `rows_of`, or all points are equal.
    """
    points = rows_of(data, ("X", "x", "data"), "the data")
    require(
        len(points) == 1 or bool((points != points[0]).any()),
        f"the data have {len(points)} points that are all equal, so that ranks over them say "
        "nothing; give one point, or different ones",
    )
    return points


def rows_of(data: Any, names: Sequence[str], what: str) -> Tensor:
    """Numbers of a file or an array, float64 of shape (N, ...).

    Args:
        names: under which an archive of several arrays may hold them.

    Raises:
        ModelError: they cannot be read, are no finite numbers, or a single one.
    """
    if isinstance(data, str | os.PathLike):
        what = where(data)
        with parsing(what, "a table of numbers"):
            data = _array(Path(data), names)
    if not isinstance(data, Tensor | np.ndarray):
        holds = hasattr(data, "__array__") or isinstance(data, Iterable)
        require(holds, f"{what} are a {type(data).__name__}; they must be an array of numbers")
        with parsing(what, "an array of numbers"):
            data = np.asarray(data)
    found = numbers(what, data, whole=True)
    require(found.ndim, f"{what} is a single number; there is a row for each point")
    return found.reshape(-1, 1) if found.ndim == 1 else found


def check_width(model: Model, X: Tensor) -> None:
    """Check that points (N, n) fit a network.

    Raises:
        ModelError: n is not n_0.
    """
    n, width = X.shape[1], model.net.widths[0]
    require(n == width, f"the data have {n} numbers a point; the network takes {width}")
