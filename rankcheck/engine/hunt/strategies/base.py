"""The interface of a strategy, which searches for small margins at one shape."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from rankcheck.engine.hunt.arena import Arena

#: When a strategy runs: `survey` on many new shapes of each round; `scout` on a few new ones and on
#: the most promising of a survey; `deepen` on the most promising of those, in each round after the
#: first; `late` likewise, after the second round.
Stage = Literal["survey", "scout", "deepen", "late"]


@runtime_checkable
class Strategy(Protocol):
    """A stage of a hunt.

    `search` looks for violations at the arena's shape and offers them to the arena. What it offers
    depends on the claim, the shape and the seed alone: it uses no global random generator and no
    clock, and keeps no state. Workers receive a strategy by pickle, so its class is at the top
    level of a module. A search takes about a second or less.
    """

    @property
    def name(self) -> str:
        """One word for keys and messages; the strategies of a hunt have different names."""

    @property
    def stage(self) -> Stage:
        """When it runs."""

    @property
    def visits(self) -> int:
        """Number of shapes that it visits in a round. Scouts visit those that the plan chooses."""

    def search(self, arena: Arena, seed: int) -> None:
        """Search for violations and offer them to the arena."""
