"""Writing files whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

__all__ = ["check_writable", "write_json"]


def check_writable(path: Path) -> None:
    """Find out that a file cannot be written before the work, not after.

    Raises:
        ValueError: with the rule and the path.
    """
    folder = path.parent
    if path.is_dir():
        raise ValueError(f"a ledger is written to a file; received the folder {path}")
    if not folder.is_dir():
        raise ValueError(f"a ledger is written into an existing folder; received {path}")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise ValueError(f"a ledger is written where writing is allowed; received {path}")


def write_json(path: Path, data: object) -> None:
    """Write JSON whole or not at all.

    Raises:
        OSError: if it cannot be written.
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
