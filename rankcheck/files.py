"""Writing files atomically."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from rankcheck.errors import InputError

__all__ = ["check_writable", "write_json"]


def check_writable(path: Path) -> None:
    """Check that a file can be written, before the work whose result it takes.

    Raises:
        InputError: with the path and the reason.
    """
    folder = path.parent
    if path.is_dir():
        raise InputError(f"cannot write to {path}: it is a folder")
    if not folder.is_dir():
        raise InputError(f"cannot write to {path}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"cannot write to {path}: permission denied")


def write_json(path: Path, data: object) -> None:
    """Write JSON, either the whole file or nothing.

    Raises:
        OSError: the file cannot be written.
    """
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        partial.chmod(0o644)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
