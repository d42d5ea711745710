"""Files that may come from anybody: what they are, how large, and what a library says of them."""

from __future__ import annotations

import os
import stat
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rankcheck.audit.model import ModelError
from rankcheck.errors import short_of_memory
from rankcheck.stored import shown

__all__ = [
    "LARGEST_ENTRIES",
    "LARGEST_FILE",
    "check_directory",
    "format_of",
    "label",
    "parsing",
    "regular",
    "require",
    "where",
]

#: The most numbers that are read from a file: 1 GiB as float64.
LARGEST_ENTRIES = 1 << 27
#: The largest file that is read, in bytes. A checkpoint holds the state of an optimiser, too.
LARGEST_FILE = 1 << 32

#: How files of other formats begin. The first field of an ONNX model is the number of its version.
_BEGINNINGS = (
    (b"PK\x03\x04", "zip archive"),
    (b"PK\x05\x06", "zip archive"),
    (b"\x93NUMPY", "npy"),
    (b"\x89HDF", "HDF5"),
    (b"\x1f\x8b", "gzip"),
    (b"\x80", "pickle"),
    (b"\x08", "onnx"),
)


def require(condition: object, message: str) -> None:
    """Check that a condition holds.

    Raises:
        ModelError: with the message, what happened and the rule, if it does not.
    """
    if not condition:
        raise ModelError(message)


def label(name: object, length: int = 60) -> str:
    """A name from a file on one line, in quotes, cut off.

    >>> label("net.0.weight"), label("a\\nb"), label("")
    ("'net.0.weight'", "'a\\\\nb'", "''")
    """
    return shown(name if isinstance(name, str) else str(name), length + 2)


def where(path: str | Path) -> str:
    """A path as errors name it: as it is if it fits on a line."""
    text = str(path)
    return text if text.isprintable() and text else shown(text, 200)


def regular(path: str | Path) -> Path:
    """The path of a file that exists, is neither a folder nor a device, and is not too large.

    Raises:
        ModelError: it is anything else, or cannot be read.
    """
    path = Path(path)
    try:
        status = path.stat()
        fault = "it is no regular file"
        if stat.S_ISDIR(status.st_mode):
            fault = "it is a folder"
        elif stat.S_ISREG(status.st_mode):
            path.open("rb").close()
            fault = "" if status.st_size else "it is empty"
    except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
        fault = getattr(error, "strerror", None) or str(error)
    require(not fault, f"cannot read {where(path)}: {fault}")
    size = status.st_size
    require(
        size <= LARGEST_FILE,
        f"cannot read {where(path)}: it has {size} bytes; at most {LARGEST_FILE} are read",
    )
    return path


@contextmanager
def parsing(path: str | Path, what: str) -> Iterator[None]:
    """Let a library read a file; whatever it raises becomes an error of one line.

    Libraries raise errors of many kinds on files that are damaged. Their warnings are left out.

    Raises:
        ModelError: with the path, what it should be, and what the library says.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ModelError:
        raise
    except Exception as error:
        if short_of_memory(error):
            raise ModelError(f"there is not enough memory to read {where(path)}") from error
        text = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, LookupError | AttributeError | AssertionError):
            text = "it is damaged"  # what the library says is about its own code
        text = text if text.isprintable() else shown(text, 160)
        text = text if len(text) <= 160 else f"{text[:157]}..."
        raise ModelError(f"{where(path)} cannot be read as {what}: {text}") from error


def format_of(path: Path, endings: Mapping[str, str], rule: str) -> str:
    """The format of a file, by its content.

    Args:
        endings: the formats that are taken, by the endings of names.
        rule: what files are taken, in words.

    Raises:
        ModelError: it is another format, or not the one that its name says.
    """
    kind, named = _content(path), endings.get(path.suffix.lower())
    if kind == "unknown" and named in ("onnx", "csv"):
        kind = named  # fields of ONNX may come in another order, and a table begins with anything
    elif kind == "unknown" and named is None and "csv" in endings.values():
        kind = "csv"
    fault = f"not what its name says: it is {kind}" if named not in (None, kind) else kind
    require(kind in endings.values() and fault == kind, f"{where(path)} is {fault}; {rule}")
    return kind


def _content(path: Path) -> str:
    with parsing(path, "a file"), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(9)
    # The length of a header of safetensors may begin as another format does.
    if head[8:] == b"{" and int.from_bytes(head[:8], "little") <= size - 8:
        return "safetensors"
    kinds = (kind for beginning, kind in _BEGINNINGS if head.startswith(beginning))
    kind = next(kinds, "unknown")
    if kind == "zip archive":
        with parsing(path, "a zip archive"), zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if any(name.rpartition("/")[2] == "data.pkl" for name in names):
            return "torch"
        return "npz" if any(name.endswith(".npy") for name in names) else kind
    return kind


def check_directory(path: Path, archive: zipfile.ZipFile, limit: int) -> None:
    """Check the directory of a zip archive, before anything is unpacked.

    Raises:
        ModelError: a name occurs twice, so that two readers may read different entries, or the
            entries are larger together than the limit.
    """
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    total = sum(entry.file_size for entry in entries)
    require(
        len(set(names)) == len(names),
        f"{where(path)} has two entries of one name; a name occurs once",
    )
    require(
        total <= limit,
        f"{where(path)} announces {total} bytes of content; at most {limit} are read from it",
    )
