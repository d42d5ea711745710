"""The entries that a sweep draws: Gaussian of all sizes, with special ones mixed in.

numpy draws them, in half of the time that torch takes, and only those that are used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Of sixteen instances: 1 of zeros, 1 of signs, 2 of integers, 2 sparse, 2 uniform, 8 Gaussian.
#: The constants are the ends of these ranges.
_ZERO, _SIGNS, _INTEGERS, _SPARSE, _UNIFORM, _KINDS = 1, 2, 4, 6, 8, 16


def mixture(
    instances: int, entries: int, low: float, high: float, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Entries in [low, high], of shape (instances, entries); each instance has its kind."""
    kind = generator.integers(0, _KINDS, instances)
    scale = np.exp2(generator.uniform(-2.5, 1.5, (instances, 1)))
    values = generator.standard_normal((instances, entries))
    values *= scale

    def rows(first: int, end: int) -> NDArray[np.intp]:
        return np.flatnonzero((kind >= first) & (kind < end))

    whole, signs, sparse = rows(_SIGNS, _INTEGERS), rows(_ZERO, _SIGNS), rows(_INTEGERS, _SPARSE)
    even, kept = rows(_SPARSE, _UNIFORM), generator.random((len(sparse), entries)) >= 0.5
    values[rows(0, _ZERO)] = 0.0
    values[signs] = np.sign(values[signs])
    values[whole] = np.round(values[whole])
    values[sparse] *= kept
    if low >= 0:
        values = low + np.abs(values)
    elif high <= 0:
        values = high - np.abs(values)
    values[even] = generator.uniform(low, high, (len(even), entries))
    return np.clip(values, low, high, out=values)
