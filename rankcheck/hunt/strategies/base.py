"""What a strategy is: a way to look for small margins at one shape."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from rankcheck.hunt.arena import Arena

#: When a strategy is used: on every new shape; on the most promising shapes of each round after the
#: first; or likewise, but after the second, when what is quick has failed.
Stage = Literal["scout", "deepen", "late"]


@runtime_checkable
class Strategy(Protocol):
    """A stage of a hunt.

    `search` looks for violations at the arena's shape and offers them to the arena. It is a
    function of the claim, the shape and the seed alone: it draws no other random numbers, looks at
    no clock, and keeps nothing. It is sent to worker processes, so it is an instance of a class
    that can be imported there. A second or less is a good length.
    """

    @property
    def name(self) -> str:
        """One word, for the key of a shard and for people; the names of a hunt differ."""

    @property
    def stage(self) -> Stage:
        """When it is used."""

    @property
    def visits(self) -> int:
        """How many shapes it visits in a round; not asked of scouts, which visit all new ones."""

    def search(self, arena: Arena, seed: int) -> None:
        """Look for violations."""
