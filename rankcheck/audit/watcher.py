"""Progress events of an audit."""

from __future__ import annotations

__all__ = ["Watcher"]


class Watcher:
    """Receives progress events; the default ignores them."""

    def started(self, stage: str, total: int | None) -> None:
        """A stage starts, in words; `total` is the sum of its `advanced`, None if it has none."""

    def advanced(self, number: int) -> None:
        """So many more of the stage are done."""

    def interrupted(self, done: str) -> None:
        """Ctrl-C came; a sentence says what was done until then. KeyboardInterrupt follows."""
