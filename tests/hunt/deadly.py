"""A strategy that worker processes can import, and that ends them."""

import os
import signal


class Deadly:
    """Kills its process."""

    name, stage, visits = "deadly", "scout", 0

    def search(self, arena, seed):
        os.kill(os.getpid(), signal.SIGKILL)
