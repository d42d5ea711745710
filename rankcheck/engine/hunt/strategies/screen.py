"""Random samples: entries of mixed kinds, and entries whose magnitudes differ by orders."""

from __future__ import annotations

from rankcheck.engine.hunt.arena import Arena
from rankcheck.engine.hunt.strategies.base import Stage
from rankcheck.theory.instances.source import seed_of


class Screen:
    """Random samples."""

    name = "screen"
    stage: Stage = "scout"
    visits = 0

    def search(self, arena: Arena, seed: int) -> None:
        arena.sample(seed)
        arena.sample(seed_of(seed, "magnitudes"), max(1, arena.sample_size // 4), magnitudes=True)
