"""The arithmetic of a process: one thread, and one path through the BLAS.

The last digits of a matrix product depend on how many threads share it and on the code that the
BLAS chooses. So that one seed has one ledger, both are fixed before numpy and torch are imported;
they read these variables once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
#: Intel's "conditional numerical reproducibility": on one processor the same numbers in every run.
_PATH = "MKL_CBWR"


def fix_arithmetic() -> None:
    """Fix it in a process of rankcheck's own; it has no effect once numpy and torch are imported.

    A path through the BLAS that the environment chooses is kept.
    """
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    os.environ.setdefault(_PATH, "AUTO")


@contextmanager
def single_thread() -> Iterator[None]:
    """Limit torch to one thread: faster for small matrices, and the same result everywhere."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
