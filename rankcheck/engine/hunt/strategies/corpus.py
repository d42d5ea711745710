"""A sample of structured points: zeros, identities, permutations, ends of ranges, repetitions."""

from __future__ import annotations

from rankcheck.engine.hunt.arena import Arena
from rankcheck.engine.hunt.strategies.base import Stage


class Corpus:
    """A sample of structured points."""

    name = "corpus"
    stage: Stage = "scout"
    visits = 0

    def search(self, arena: Arena, seed: int) -> None:
        arena.sample(seed, structured=True)
