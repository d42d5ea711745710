"""State dicts of torch: a zip archive with a pickle, which is read without running code."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.opening import LARGEST_FILE, check_directory, label, parsing, where
from rankcheck.audit.reading.pickles import written_out

__all__ = ["read_state_dict"]

#: Under which names a checkpoint may hold its state dict.
NESTED = ("state_dict", "model_state_dict", "model")
#: The longest pickle that is read, in bytes: the names and shapes, without the numbers.
LARGEST_PICKLE = 1 << 22
#: The largest object that a pickle may describe, with what is shared written out.
LARGEST_OBJECT = 1 << 24


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
            raise ModelError(
                f"{where(path)} holds more than tensors and plain data{_named(error)}; save "
                "module.state_dict() with torch.save"
            ) from error
        except (ValueError, TypeError, AttributeError, LookupError, AssertionError) as error:
            raise ModelError(f"{where(path)} is damaged: its pickle builds no tensors") from error
    assumed: tuple[str, ...] = ()
    if isinstance(content, Mapping):
        inner = [name for name in NESTED if isinstance(content.get(name), Mapping)]
        if len(inner) > 1:
            raise ModelError(
                f"{where(path)} holds {' and '.join(map(label, inner))}; it must hold one state "
                "dict"
            )
        if inner:
            content = content[inner[0]]
            assumed = (f"of the checkpoint, {label(inner[0])} is the network",)
    if not isinstance(content, Mapping):
        raise ModelError(
            f"{where(path)} holds an object of the type {type(content).__name__}; it must hold a "
            "state dict: tensors by name"
        )
    found = dict(content)
    _check_storages(path, found, sizes)
    return found, assumed


def _named(error: UnpicklingError) -> str:
    """What it was that is not read, if torch names it."""
    found = re.search(r"(?:GLOBAL|class|function) `?([\w.]{1,100})", str(error))
    return f" ({found[1]})" if found else ""


def _records(path: Path) -> Counter[int]:
    """The sizes of the records with numbers.

    Raises:
        ModelError: the archive is damaged, or no state dict.
    """
    with parsing(path, "a state dict of torch"), zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        folders = [name.rpartition("/")[0] for name in names if name.endswith("/data.pkl")]
        if len(folders) != 1:
            raise ModelError(
                f"{where(path)} has {len(folders)} pickles data.pkl in folders; a state dict has "
                "one"
            )
        [folder] = folders
        if f"{folder}/constants.pkl" in names or any(
            name.startswith(f"{folder}/code/") for name in names
        ):
            raise ModelError(
                f"{where(path)} is a TorchScript archive; save module.state_dict() with torch.save"
            )
        check_directory(path, archive, stored=True)
        for entry in archive.infolist():
            if entry.filename.endswith("/data.pkl") and entry.file_size > LARGEST_PICKLE:
                raise ModelError(
                    f"{where(path)} has a pickle of {entry.file_size} bytes; at most "
                    f"{LARGEST_PICKLE} are read"
                )
        size = written_out(archive.read(f"{folder}/data.pkl"))
        if size > LARGEST_OBJECT:
            raise ModelError(
                f"{where(path)} describes an object of {size:g} parts; state dicts are small"
            )
        damaged = archive.testzip()
        if damaged is not None:
            raise ModelError(f"{where(path)} is damaged: the checksum of {label(damaged)} is wrong")
        return Counter(
            entry.file_size
            for entry in archive.infolist()
            if entry.filename.startswith(f"{folder}/data/")
        )


def _check_storages(path: Path, content: Mapping[Any, Any], sizes: Counter[int]) -> None:
    """Check that each storage has the size of a record, before any of its numbers is touched."""
    seen = {}
    for name, tensor in content.items():
        plain = type(tensor) in (Tensor, torch.nn.Parameter)  # others are refused later
        if plain and tensor.layout is torch.strided and not tensor.is_meta:
            storage = tensor.untyped_storage()
            if storage.nbytes() > LARGEST_FILE:
                raise ModelError(f"{label(name)} of {where(path)} has {storage.nbytes()} bytes")
            seen[storage.data_ptr(), storage.nbytes()] = name
    left = Counter(sizes)
    for (_, size), name in seen.items():
        if not left[size] and size:
            raise ModelError(
                f"{where(path)} is damaged: {label(name)} claims {size} bytes, and no record of "
                "the archive has as many"
            )
        left[size] -= 1
