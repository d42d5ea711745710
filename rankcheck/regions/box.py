r"""Every linear region of a network over a box: the entry point, which checks and converts.

The expected gradient outer product over a uniform box is Σ_r volume_r · J_rᵀJ_r / Σ_r volume_r.

Weights are taken exactly as the floats that they are. Two hyperplanes that were meant to coincide
but were moved apart by rounding (a rotation and its inverse, 3·W beside W) enclose needles of
volume about 1e-16. These are true regions of the given network, though perhaps not of the intended
one. To avoid them draw dyadic weights, or drop the regions whose ``volume()`` is tiny.

For the method see :mod:`rankcheck.regions.splitting`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import torch
from flint import fmpq

from rankcheck.balls import BallArray, NoBallForm, is_ball
from rankcheck.linalg import Number
from rankcheck.regions.cells import Regions
from rankcheck.regions.exact import Floats
from rankcheck.regions.splitting import split_box

__all__ = ["Corner", "regions"]

Corner: TypeAlias = float | Sequence[float] | Floats | torch.Tensor
"""A corner of a box: one number for all coordinates, or one for each."""

LARGEST = 1e150
"""Pre-activations on the box stay below this, so that products of two of them do not overflow."""


def regions(net: Any, low: Corner, high: Corner, *, exact: bool = False) -> Regions:
    """Every activation region of a network in the box [low, high].

    Args:
        net: a single :class:`rankcheck.networks.Network` of float64 tensors (or anything with its
            ``weights``, ``biases`` and ``slope``), or of balls that are exactly such floats.
        low, high: one number for all coordinates or one for each, low < high. The box has 2^d
            corners, so d must be small.
        exact: decide every sign in rational arithmetic, not only the doubtful ones, and round all
            vertices correctly. The regions are the same; slow, for tests of the default.

    Raises:
        NoBallForm: the network is one of balls, and some entry is not exactly a float64.
        TypeError: its arrays are no tensors, numpy arrays or lists.
        ValueError: the network has batch axes or a bias too few, the box is empty or not finite,
            or pre-activations exceed 1e150 on it.
    """
    weights = tuple(_floats(W, 2) for W in net.weights)
    biases = tuple(_floats(b, 1) for b in net.biases)
    if len(weights) != len(biases):
        raise ValueError(
            f"regions received {len(weights)} weights and {len(biases)} biases; "
            "a network has a bias for each weight"
        )
    slope = net.slope
    slope = Fraction(slope if isinstance(slope, Number) else float(_floats(slope, 0)))
    low, high = (_corner(x, weights[0].shape[1]) for x in (low, high))
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise ValueError(
            f"regions received the box from {low} to {high}; a box is finite with low < high"
        )
    size = np.maximum(np.abs(low), np.abs(high))
    for W, b in zip(weights, biases, strict=True):
        with np.errstate(over="ignore"):
            size = (np.abs(W) @ size + np.abs(b)) * max(1.0, abs(float(slope)))
        if not (size < LARGEST).all():
            raise ValueError(
                f"pre-activations of the network reach {size.max()} on the box; "
                f"regions takes at most {LARGEST}"
            )
    cells = split_box(weights[:-1], biases[:-1], slope, low, high, exact=exact)
    return Regions(weights, biases, slope, low, high, cells)


def _corner(numbers: Corner, d: int) -> Floats:
    if is_ball(numbers):
        numbers = _exactly(numbers)
    if isinstance(numbers, torch.Tensor):
        numbers = numbers.detach().cpu().numpy()
    return np.array(np.broadcast_to(np.asarray(numbers, dtype=float), (d,)))


def _floats(array: Any, axes: int) -> Floats:
    if is_ball(array):
        array = _exactly(array)
    if isinstance(array, torch.Tensor):
        array = array.detach().cpu().numpy()
    elif not isinstance(array, np.ndarray | list | tuple):
        raise TypeError(f"regions received a {type(array).__name__}; it takes a network of floats")
    numbers = np.asarray(array, dtype=float)
    if numbers.ndim != axes:
        raise ValueError(
            f"regions received an array of shape {numbers.shape}, and expected {axes} axes: "
            "it takes one network without batch axes"
        )
    return numbers


def _exactly(balls: BallArray) -> Floats:
    """The float64 numbers that exact rationals equal.

    Raises:
        NoBallForm: an entry is a ball, or a rational that no float64 equals.
    """
    numbers = np.empty(balls.elements.shape)
    for place, element in np.ndenumerate(balls.elements):
        if isinstance(element, fmpq):
            exact = Fraction(int(element.p), int(element.q))
            numbers[place] = float(exact)
            if Fraction(float(numbers[place])) == exact:
                continue
        raise NoBallForm(
            "the enumeration of regions", "use drawn entries as weights: they are exact floats"
        )
    return numbers
