"""A few random instances of each of many shapes, before any shape is searched deeply.

A statement that is false at one shape in a thousand, and nearly everywhere at that shape, is broken
by a glance at the right shape and by no search at the others. What a survey finds also says which
shapes to search first.
"""

from __future__ import annotations

from rankcheck.engine.hunt.arena import Arena
from rankcheck.engine.hunt.strategies.base import Stage
from rankcheck.engine.verification.scouts import FEW

#: Instances of a shape for a body that takes no batch.
FEW_SINGLES = 4


class Survey:
    """A few random instances."""

    name = "survey"
    stage: Stage = "survey"
    visits = 128

    def search(self, arena: Arena, seed: int) -> None:
        # Where many shapes have a violation that balls do not prove, judging it takes the time.
        arena.kept = 1, 1
        arena.sample(seed, arena.scaled(FEW if arena.batched else FEW_SINGLES))
