"""How many shapes each strategy visits in a round: one that has stalled lets the others go on.

A strategy has stalled if its last round has raised the promise of no shape (`plan.Arm`): if it has
lowered no least margin. If the strategy that has evaluated the most instances has stalled, it sits
out one round. Its visits go to the others in turn; the one with the fewest instances begins. Then
it has another round, since shapes that are still new may need it.

Work is counted in instances and not in seconds, so that rounds do not depend on the clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rankcheck.engine.hunt.strategies.base import Strategy

#: A promise that rises by more than this share of itself, or of `LEAST`, has been raised. What
#: converges to a positive margin, or differs from equality by rounding, has not.
SHARE, LEAST = 0.1, 1e-9


class Turns:
    """What the strategies have brought so far, and whose turn it is."""

    def __init__(self) -> None:
        self._instances: Counter[str] = Counter()
        #: By strategy, its last round, and the last one in which it raised the promise of a shape.
        self._last: dict[str, int] = {}
        self._raised: dict[str, int] = {}

    def take(self, strategy: str, number: int, instances: int, before: float, after: float) -> None:
        """Take in a visit.

        Args:
            number: its round.
            instances: how many it evaluated.
            before: the promise of its shape before the visit, and `after` it.
        """
        self._instances[strategy] += instances
        self._last[strategy] = number
        if after - before > SHARE * max(abs(before), LEAST):
            self._raised[strategy] = number

    def visits(self, strategies: Sequence[Strategy], number: int) -> dict[str, int]:
        """By the name of a strategy, its visits in a round; those that sit out are left out."""
        visits = {strategy.name: strategy.visits for strategy in strategies}
        most = max(visits, key=self._instances.__getitem__, default="")
        searched = self._last.get(most) == number - 1
        if len(visits) < 2 or not searched or self._raised.get(most) == number - 1:
            return visits
        spare = visits.pop(most)
        others = sorted(visits, key=self._instances.__getitem__)
        for turn in range(spare):
            visits[others[turn % len(others)]] += 1
        return visits
