"""What a shell completes where a SELECTOR stands: the ids of rankcheck's claims, and files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["add_selectors", "kept", "selectors"]


def selectors(prefix: str, **_: Any) -> list[str]:
    """The ids that begin with a prefix, before its dot the documents; and files."""
    from rankcheck.catalogue.collect import project

    ids = [entry.id for entry in project() if entry.id.startswith(prefix)]
    if "." not in prefix:
        ids = list(dict.fromkeys(name.partition(".")[0] for name in ids))
    return ids + _files(prefix, [".py"])


def kept(prefix: str, **_: Any) -> list[str]:
    """The same, and files that are kept for claims."""
    return selectors(prefix) + [name for name in _files(prefix, [".json"]) if name[-1] != "/"]


def add_selectors(
    parser: argparse.ArgumentParser,
    name: str = "selectors",
    metavar: str = "SELECTOR",
    nargs: str | None = "*",
    text: str | None = "all claims by default",
    *,
    files: bool = False,
) -> None:
    """Add the claims that a command takes, and files that are kept for them if it takes `files`."""
    action: Any = parser.add_argument(name, metavar=metavar, nargs=nargs, help=text)
    action.completer = kept if files else selectors  # argcomplete reads it


def _files(prefix: str, suffixes: Sequence[str]) -> list[str]:
    head, slash, _ = prefix.rpartition("/")
    folder = Path(head + slash or ".")
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return []
    names = (
        (path, head + slash + path.name + "/" * path.is_dir())
        for path in paths
        if path.is_dir() or path.suffix in suffixes
    )
    return [name for path, name in names if name.startswith(prefix) and path.name[0] != "."]
