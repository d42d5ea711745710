"""Strategies that draw one sample of a shape, or two, and search no further."""

from __future__ import annotations

from rankcheck.engine.hunt.arena import Arena
from rankcheck.engine.hunt.strategies.base import Stage
from rankcheck.engine.verification.scouts import FEW
from rankcheck.theory.instances.source import seed_of

#: Instances that a survey draws of a shape where they run one at a time.
FEW_SINGLES = 4


class Survey:
    """A few random instances of each of many shapes, before any shape is searched deeply.

    A statement that is false at one shape in a thousand, and nearly everywhere at that shape, is
    broken by a glance at the right shape and by no search at the others. What a survey finds also
    says which shapes to search first.
    """

    name = "survey"
    stage: Stage = "survey"
    visits = 128

    def search(self, arena: Arena, seed: int) -> None:
        # Where many shapes have a violation that balls do not prove, judging it takes the time.
        arena.kept = 1, 1
        arena.sample(seed, arena.scaled(FEW if arena.batched else FEW_SINGLES))


class Screen:
    """Random samples: entries of mixed kinds, and entries whose magnitudes differ by orders."""

    name = "screen"
    stage: Stage = "scout"
    visits = 0

    def search(self, arena: Arena, seed: int) -> None:
        arena.sample(seed)
        arena.sample(seed_of(seed, "magnitudes"), max(1, arena.sample_size // 4), magnitudes=True)


class Corpus:
    """A sample of structured points: zeros, identities, permutations, ends, repetitions."""

    name = "corpus"
    stage: Stage = "scout"
    visits = 0

    def search(self, arena: Arena, seed: int) -> None:
        arena.sample(seed, structured=True)
