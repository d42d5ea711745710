"""What a shell completes where a SELECTOR stands: the ids of rankcheck's claims, and files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

__all__ = ["add_selectors", "selectors"]


def selectors(prefix: str, **_: Any) -> list[str]:
    """The ids that begin with a prefix, before its dot the documents; and files."""
    from rankcheck.catalogue.collect import project

    ids = [entry.id for entry in project() if entry.id.startswith(prefix)]
    if "." not in prefix:
        ids = list(dict.fromkeys(name.partition(".")[0] for name in ids))
    return ids + _files(prefix)


def add_selectors(
    parser: argparse.ArgumentParser,
    name: str = "selectors",
    metavar: str = "SELECTOR",
    nargs: str | None = "*",
    text: str | None = "all claims by default",
) -> None:
    """Add the claims that a command takes; a shell completes them with `selectors`."""
    action: Any = parser.add_argument(name, metavar=metavar, nargs=nargs, help=text)
    action.completer = selectors  # argcomplete reads it


def _files(prefix: str) -> list[str]:
    head, slash, _ = prefix.rpartition("/")
    folder = Path(head + slash or ".")
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return []
    names = (
        (path, head + slash + path.name + "/" * path.is_dir())
        for path in paths
        if path.is_dir() or path.suffix == ".py"
    )
    return [name for path, name in names if name.startswith(prefix) and path.name[0] != "."]
