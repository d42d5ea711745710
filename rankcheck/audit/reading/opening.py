"""Files that may come from anybody: what they are, how large, and what a library says of them."""

from __future__ import annotations

import os
import stat
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankcheck.audit.model import ModelError
from rankcheck.errors import short_of_memory
from rankcheck.stored import shown

__all__ = [
    "LARGEST_ENTRIES",
    "LARGEST_FILE",
    "check_directory",
    "kind_of",
    "label",
    "parsing",
    "regular",
]

#: The most numbers that are read from a file: 1 GiB as float64.
LARGEST_ENTRIES = 1 << 27
#: The largest file that is read, in bytes. A checkpoint holds the state of an optimiser, too.
LARGEST_FILE = 1 << 32
#: The longest header of a safetensors file that is read, in bytes.
LARGEST_HEADER = 1 << 24

#: How files of other formats begin.
_BEGINNINGS = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x93NUMPY", "npy"),
    (b"\x89HDF", "hdf5"),
    (b"\x1f\x8b", "gzip"),
    (b"\x80", "pickle"),
)

#: What `kind_of` calls a format, in words.
IN_WORDS = {
    "safetensors": "a safetensors file",
    "torch": "a torch file",
    "npz": "an archive of numpy arrays",
    "npy": "a numpy array",
    "zip": "a zip archive of something else",
    "hdf5": "an HDF5 file",
    "gzip": "compressed with gzip",
    "pickle": "a pickle",
    "onnx": "an ONNX model",
    "other": "of another format",
}


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
        if stat.S_ISDIR(status.st_mode):
            raise ModelError(f"cannot read {where(path)}: it is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise ModelError(f"cannot read {where(path)}: it is no regular file")
        with path.open("rb"):
            pass
    except OSError as error:
        raise ModelError(f"cannot read {where(path)}: {error.strerror or error}") from error
    except ModelError:
        raise
    except ValueError as error:  # a NUL in the path
        raise ModelError(f"cannot read {where(path)}: {error}") from error
    if status.st_size == 0:
        raise ModelError(f"cannot read {where(path)}: it is empty")
    if status.st_size > LARGEST_FILE:
        raise ModelError(
            f"cannot read {where(path)}: it has {status.st_size} bytes; at most {LARGEST_FILE} are "
            "read"
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
        said = text if len(text) <= 160 else f"{text[:157]}..."
        raise ModelError(f"{where(path)} cannot be read as {what}: {said}") from error


def kind_of(path: Path) -> str:
    """The format by the content: one of the names of `IN_WORDS`.

    Raises:
        ModelError: it begins as a zip archive and is none.
    """
    with parsing(path, "a file"), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(9)
    length = int.from_bytes(head[:8], "little")
    if len(head) == 9 and head[8:] == b"{" and length <= size - 8:
        return "safetensors"  # its length may begin as another format does
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return _kind_of_archive(path) if kind == "zip" else kind
    return "onnx" if head[:1] == b"\x08" else "other"  # the number of its version comes first


def _kind_of_archive(path: Path) -> str:
    with parsing(path, "a zip archive"), zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if any(name.rpartition("/")[2] == "data.pkl" for name in names):
        return "torch"
    return "npz" if any(name.endswith(".npy") for name in names) else "zip"


def check_directory(path: Path, archive: zipfile.ZipFile, *, stored: bool) -> None:
    """Check the directory of a zip archive, before anything is unpacked.

    Args:
        stored: whether all entries have to be stored without compression.

    Raises:
        ModelError: names occur twice, entries are encrypted or compressed in another way, or they
            are larger together than what is read.
    """
    entries = archive.infolist()
    [(twice, times)] = Counter(entry.filename for entry in entries).most_common(1) or [("", 0)]
    if times > 1:
        raise ModelError(f"{where(path)} has two entries {label(twice)}; a name occurs once")
    for entry in entries:
        if entry.flag_bits & 1:
            raise ModelError(f"{where(path)}: the entry {label(entry.filename)} is encrypted")
        if stored and (
            entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size
        ):
            raise ModelError(
                f"{where(path)}: the entry {label(entry.filename)} is compressed; torch stores "
                "entries as they are"
            )
    limit = path.stat().st_size if stored else 8 * LARGEST_ENTRIES + (1 << 20)
    total = sum(entry.file_size for entry in entries)
    if total > limit:
        raise ModelError(
            f"{where(path)} announces {total} bytes of content; at most {limit} are read from it"
        )
