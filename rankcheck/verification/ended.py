"""How the process of a claim ended that was stopped at its limit, or died: in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rankcheck.catalogue.entry import Entry, shown_path
from rankcheck.catalogue.loader import LoadError
from rankcheck.verification.pool import Died, Overran, UnpreparedError
from rankcheck.verification.traces import place_in

__all__ = ["LONGER", "how", "not_imported"]

#: What a message about a limit ends with.
LONGER = "(--limit gives it longer)"


def how(event: Overran[Any] | Died[Any], files: Iterable[Path] = ()) -> str:
    """What follows "its check", "the hunt": that it did not end, and where; or that it died.

    Args:
        files: of the claims; the innermost line in one of them is where it was.
    """
    if isinstance(event, Died):
        return f"lost its process ({event.how})"
    place = place_in(event.trace, files)
    at = f"; it was at {place}" if place else ""
    return f"did not end within {event.seconds:g} s{at} {LONGER}"


def not_imported(entries: Sequence[Entry], error: UnpreparedError) -> LoadError:
    """The error of files whose import does not end."""
    files = dict.fromkeys(entry.file for entry in entries)
    place = place_in(error.trace, files)
    which = place or ", ".join(shown_path(path) for path in list(files)[:3])
    return LoadError(f"{which}: the import did not end within {error.seconds:g} s {LONGER}")
