"""Writing files atomically."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from rankcheck.errors import InputError

__all__ = ["check_writable", "write_json"]

#: The longest list that is written on one line.
WIDTH = 200


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
    text = _layout(data) + "\n"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        partial.chmod(0o644)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _layout(data: object, indent: str = "") -> str:
    """JSON with a field a line; a list without objects that fits on a line stays on one."""
    flat = json.dumps(data, ensure_ascii=False)
    inner = indent + "  "
    if isinstance(data, dict) and data:
        lines = [
            f"{json.dumps(str(key), ensure_ascii=False)}: {_layout(value, inner)}"
            for key, value in data.items()
        ]
        opening, closing = "{", "}"
    elif isinstance(data, list | tuple) and (len(flat) > WIDTH or "{" in flat):
        lines = [_layout(value, inner) for value in data]
        opening, closing = "[", "]"
    else:
        return flat
    return f"{opening}\n{inner}" + f",\n{inner}".join(lines) + f"\n{indent}{closing}"
