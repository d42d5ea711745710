r"""Every linear region of a network over a box, exactly; and rank_J(f; Ω) as a maximum over them.

>>> cells = regions(net, -1, 1)            # all of [−1, 1]^d
>>> len(cells), cells.patterns, cells.interior, cells.jacobians, cells.offsets, cells.volume()
>>> jacobian_rank(net, -1, 1, exact=True)  # a proof, with a witness point

The expected gradient outer product over a uniform box is Σ_r volume_r · J_rᵀJ_r / Σ_r volume_r.

Floats are taken at their word. Where rounding has moved apart two hyperplanes that were meant to
coincide (a rotation and its inverse, 3·W beside W) there are needles between them, of volume 1e-16:
true regions of the network at hand, perhaps not of the one that was meant. Draw dyadic weights, or
leave out what ``volume()`` says is thin.

How it works, and why no sign is ever guessed: :mod:`rankcheck.regions.splitting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rankcheck.regions.cells import Regions
from rankcheck.regions.exact import Floats
from rankcheck.regions.rank import JacobianRank, highest_rank
from rankcheck.regions.splitting import Complex, split_box

__all__ = ["Complex", "JacobianRank", "Regions", "highest_rank", "jacobian_rank", "regions"]

LARGEST = 1e150
"""Pre-activations on the box stay below this, so that products of two of them do not overflow."""


def regions(
    net: Any,
    low: float | Sequence[float] | Floats,
    high: float | Sequence[float] | Floats,
    *,
    exact: bool = False,
) -> Regions:
    """Every activation region of a network in the box [low, high].

    Args:
        net: a single :class:`rankcheck.networks.Network` of float64 tensors (or anything with its
            ``weights``, ``biases`` and ``slope``).
        low, high: one number for all coordinates or one for each, low < high. The box has 2^d
            corners, so d is small.
        exact: decide every sign in rational arithmetic, not only the doubtful ones, and round all
            vertices correctly. The regions are the same; it is an oracle, and slow.

    Raises:
        TypeError: the network is one of balls.
        ValueError: the network has batch axes, the box is empty or not finite, or pre-activations
            exceed 1e150 on it.
    """
    weights = tuple(_floats(W, 2) for W in net.weights)
    biases = tuple(_floats(b, 1) for b in net.biases)
    slope = net.slope
    slope = Fraction(
        slope if isinstance(slope, int | float | Fraction) else float(_floats(slope, 0))
    )
    d = weights[0].shape[1]
    low, high = (np.array(np.broadcast_to(np.asarray(x, dtype=float), (d,))) for x in (low, high))
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise ValueError(f"a box is finite with low < high, received {low} and {high}")
    size = np.maximum(np.abs(low), np.abs(high))
    for W, b in zip(weights, biases, strict=True):
        with np.errstate(over="ignore"):
            size = (np.abs(W) @ size + np.abs(b)) * max(1.0, abs(float(slope)))
        if not (size < LARGEST).all():
            raise ValueError(f"pre-activations stay below {LARGEST} on the box, received {size}")
    cells = split_box(weights[:-1], biases[:-1], slope, low, high, exact=exact)
    return Regions(weights, biases, slope, low, high, cells)


def jacobian_rank(
    net: Any,
    low: float | Sequence[float] | Floats,
    high: float | Sequence[float] | Floats,
    *,
    exact: bool = False,
) -> JacobianRank:
    """rank_J(f; Ω) on the open box Ω: the largest rank of Jf over all regions, with a witness.

    The ranks are those of rankcheck.linalg in floats, and of rational matrices with ``exact``:
    then the result is proved, from above and from below, for the network as its floats are.
    Arguments and errors as for :func:`regions`.
    """
    return highest_rank(regions(net, low, high), exact=exact)


def _floats(array: Any, axes: int) -> Floats:
    if hasattr(array, "detach"):
        array = array.detach().cpu().numpy()
    elif not isinstance(array, np.ndarray | list | tuple):
        raise TypeError(f"regions are of networks of floats, received {type(array).__name__}")
    numbers = np.asarray(array, dtype=float)
    if numbers.ndim != axes:
        raise ValueError(
            f"regions are of one network without batch axes, received an array of shape "
            f"{numbers.shape} for {axes} axes"
        )
    return numbers
