"""A budget of seconds."""

from __future__ import annotations

import time


class Clock:
    """Runs out after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; at least 0."""
        return max(0.0, self._end - time.monotonic())

    def over(self) -> bool:
        """Whether the budget is spent."""
        return time.monotonic() >= self._end

    def share(self, part: float) -> Clock:
        """A clock for a part of what is left."""
        return Clock(part * self.left)
