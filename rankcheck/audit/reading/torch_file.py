"""State dicts of torch: a zip archive with a pickle, which is read without running code."""

from __future__ import annotations

import pickletools
import re
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.opening import check_directory, label, parsing, require, where

__all__ = ["read_state_dict"]

#: Under which names a checkpoint may hold its state dict.
NESTED = ("state_dict", "model_state_dict", "model")
#: The longest pickle that is read, in bytes: the names and shapes, without the numbers.
LARGEST_PICKLE = 1 << 22
#: The largest object that a pickle may describe, with what is shared written out.
LARGEST_OBJECT = 1 << 30
#: How often the numbers of a record may be used: by layers that share them.
SHARED = 64
#: What a pickle may use any number of times: texts, classes, storages, tuples of numbers.
_ATOMS = frozenset(
    ("BINUNICODE", "SHORT_BINUNICODE", "GLOBAL", "STACK_GLOBAL", "BINPERSID", "numbers")
)
_NUMBERS = frozenset(("BININT", "BININT1", "BININT2", "BINFLOAT"))


def read_state_dict(path: Path) -> tuple[dict[Any, Any], tuple[str, ...]]:
    """The tensors of a state dict by name, in its order, and what was assumed about the file.

    `torch.load` reads it with `weights_only`, which builds tensors and plain data and calls nothing
    else. The numbers are mapped from the file, so a storage that claims to be larger than it is
    cannot reach beyond the file; here it has to have the size of a record of the archive.

    Raises:
        ModelError: it holds something else than tensors, or is damaged.
    """
    sizes = _records(path)
    with parsing(path, "a state dict of torch"):
        try:
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        except UnpicklingError as error:  # torch advises to read it without weights_only
            named = re.search(r"(?:GLOBAL|class|function) `?([\w.]{1,100})", str(error))
            raise ModelError(
                f"{where(path)} holds more than tensors and plain data"
                f"{f' ({named[1]})' if named else ''}; save module.state_dict() with torch.save"
            ) from error
        except (ValueError, TypeError) as error:  # of the functions that build tensors
            raise ModelError(f"{where(path)} is damaged: its pickle builds no tensors") from error
    assumed: tuple[str, ...] = ()
    if isinstance(content, Mapping):
        inner = [name for name in NESTED if isinstance(content.get(name), Mapping)]
        require(
            len(inner) <= 1,
            f"{where(path)} holds {' and '.join(map(label, inner))}; it must hold one state dict",
        )
        if inner:
            content = content[inner[0]]
            assumed = (f"of the checkpoint, {label(inner[0])} is the network",)
    require(
        isinstance(content, Mapping),
        f"{where(path)} holds an object of the type {type(content).__name__}; it must hold a "
        "state dict: tensors by name",
    )
    shared: Counter[int] = Counter()
    for name, tensor in content.items():
        plain = type(tensor) in (torch.Tensor, torch.nn.Parameter)  # others are refused later
        if plain and tensor.layout is torch.strided and not tensor.is_meta:
            size = tensor.untyped_storage().nbytes()
            require(
                size in sizes,
                f"{where(path)} is damaged: {label(name)} claims {size} bytes, and no record of "
                "the archive has as many",
            )
            expanded = tensor.numel() * tensor.element_size()
            shared[tensor.untyped_storage().data_ptr()] += expanded
            require(
                expanded <= size and shared[tensor.untyped_storage().data_ptr()] <= SHARED * size,
                f"{where(path)} has {size} bytes of {label(name)}, and strides or other names "
                "repeat them; save each tensor with contiguous()",
            )
    return dict(content), assumed


def _records(path: Path) -> set[int]:
    """The sizes of the records with numbers, of an archive whose pickle is small.

    Raises:
        ModelError: the archive is damaged, or no state dict.
    """
    with parsing(path, "a state dict of torch"), zipfile.ZipFile(path) as archive:
        check_directory(path, archive, path.stat().st_size)
        entries = {entry.filename: entry for entry in archive.infolist()}
        pickles = [name for name in entries if name.endswith("/data.pkl")]
        require(
            len(pickles) == 1,
            f"{where(path)} has {len(pickles)} pickles data.pkl in folders; a state dict has one",
        )
        folder = pickles[0].removesuffix("data.pkl")
        require(
            not any(name.startswith((f"{folder}code/", f"{folder}constants")) for name in entries),
            f"{where(path)} is a TorchScript archive; save module.state_dict() with torch.save",
        )
        stored = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries.values())
        require(stored, f"{where(path)} is compressed; torch stores entries as they are")
        length = entries[pickles[0]].file_size
        require(
            length <= LARGEST_PICKLE,
            f"{where(path)} has a pickle of {length} bytes; at most {LARGEST_PICKLE} are read",
        )
        require(
            _largest(archive.read(pickles[0])) <= LARGEST_OBJECT,
            f"{where(path)} describes an object that holds itself or its parts many times over; a "
            "state dict holds each tensor once",
        )
        damaged = archive.testzip()
        fault = f"the checksum of {label(damaged)} is wrong"
        require(damaged is None, f"{where(path)} is damaged: {fault}")
        return {e.file_size for e in entries.values() if e.filename.startswith(f"{folder}data/")}


def _largest(pickle: bytes) -> float:
    """An upper bound of the size of what a pickle describes, with what is shared written out.

    A pickle of a few hundred bytes can describe a tuple of 2⁶⁰ entries, each half of it twice the
    same object. It takes no memory, but to hash it takes centuries. Without sharing an object has
    no more parts than the pickle has operations, and each further use of a part at most doubles
    it: between two objects there is one path without that use, and those with it.

    Raises:
        ValueError: it is no pickle.
    """
    memo: dict[Any, str] = {}
    last, numbers, shared, operations = "", 0, 0, 0
    for code, argument, _ in pickletools.genops(pickle):
        operations += 1
        if code.name == "MEMOIZE" or code.name.endswith("PUT"):
            memo[len(memo) if code.name == "MEMOIZE" else argument] = last
            continue
        last = code.name
        if last.endswith("GET"):
            last = memo.get(argument, last)
        elif last in ("TUPLE1", "TUPLE2", "TUPLE3") and numbers >= int(last[-1]):
            last = "numbers"
        shared += code.name == "DUP" or (code.name.endswith("GET") and last not in _ATOMS)
        numbers = numbers + 1 if last in _NUMBERS else 0
    return operations * 2.0 ** min(shared, 1000)
