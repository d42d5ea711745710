"""Seeds the global random generators, so that code that uses them shows it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators of torch, numpy and Python; their states come back afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    before = torch.default_generator.get_state()
    # Not torch.manual_seed, which seeds accelerators, too, and notes a traceback for each kind.
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        torch.default_generator.set_state(before)
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
