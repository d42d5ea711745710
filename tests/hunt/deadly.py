"""Strategies that worker processes can import: one ends them, one takes long."""

import os
import signal
import time
from dataclasses import dataclass


class Deadly:
    """Kills its process."""

    name, stage, visits = "deadly", "scout", 0

    def search(self, arena, seed):
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Sleeps:
    """Sleeps, and looks at no clock."""

    seconds: float
    stage: str = "scout"
    visits: int = 0
    name: str = "sleeps"

    def search(self, arena, seed):
        time.sleep(self.seconds)
