"""A budget of seconds."""

from __future__ import annotations

import time


class Clock:
    """A budget that starts when it is made.

    >>> clock = Clock(60.0)
    >>> clock.over(), 20 < clock.share(0.5).left <= 30
    (False, True)
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def over(self) -> bool:
        """Whether the budget is spent."""
        return time.monotonic() >= self._end

    def share(self, part: float) -> Clock:
        """A clock for this part of the seconds that are left."""
        return Clock(part * self.left)
