"""A random sample: entries of mixed kinds, as one batch."""

from __future__ import annotations

from rankcheck.hunt.arena import Arena
from rankcheck.hunt.strategies.base import Stage


class Screen:
    """A random sample."""

    name = "screen"
    stage: Stage = "scout"
    visits = 0

    def search(self, arena: Arena, seed: int) -> None:
        arena.sample(seed)
