"""A strategy that worker processes can import, and that takes long."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Sleeps:
    """Sleeps, and looks at no clock."""

    seconds: float
    stage: str = "scout"
    visits: int = 0
    name: str = "sleeps"

    def search(self, arena, seed):
        time.sleep(self.seconds)
