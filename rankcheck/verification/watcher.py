"""Progress events of a run."""

from __future__ import annotations

from rankcheck.catalogue.entry import Entry
from rankcheck.verification.ledger import Row

__all__ = ["Watcher"]


class Watcher:
    """Receives progress events; the default ignores them."""

    def started(self, entry: Entry) -> None:
        """The verification of a claim starts."""

    def advanced(self, entry: Entry, instances: int) -> None:
        """So many more instances of a claim were evaluated."""

    def remade(self, entry: Entry, share: float) -> None:
        """So much of the experiment of a claim has been made again, a share in [0, 1]."""

    def noticed(self, text: str) -> None:
        """Something happened that belongs to no claim."""

    def finished(self, row: Row) -> None:
        """The row of a claim is complete."""
