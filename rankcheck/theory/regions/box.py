r"""Every linear region of a network over a box: the entry point, which checks and converts.

The expected gradient outer product over a uniform box is Σ_r volume_r · J_rᵀJ_r / Σ_r volume_r.

Weights are taken exactly as the floats that they are. Two hyperplanes that were meant to coincide
but were moved apart by rounding (a rotation and its inverse, 3·W beside W) enclose needles of
volume about 1e-16. These are true regions of the given network, though perhaps not of the intended
one. To avoid them draw dyadic weights, or drop the regions whose ``volume()`` is tiny.

For the method see :mod:`rankcheck.theory.regions.splitting`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from flint import fmpq

from rankcheck.balls import BallArray, NoBallForm, balls, is_ball
from rankcheck.theory.linalg import Number
from rankcheck.theory.regions.cells import Regions
from rankcheck.theory.regions.exact import Floats
from rankcheck.theory.regions.splitting import split_boxes

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
    b = boxes(net, low, high)
    cells = split_boxes(b.weights[:-1], b.biases[:-1], b.slopes, b.low, b.high, exact=exact)
    weights, biases = (tuple(array[0] for array in arrays) for arrays in (b.weights, b.biases))
    return Regions(weights, biases, b.slopes[0], b.low[0], b.high[0], cells)


class Boxes(NamedTuple):
    """N networks of the same widths, and a box for each, as floats.

    Attributes:
        weights, biases: of each layer (N, n_l, n_{l−1}) and (N, n_l).
        slopes: N of them.
        low, high: (N, d).
    """

    weights: list[Floats]
    biases: list[Floats]
    slopes: list[Fraction]
    low: Floats
    high: Floats


def boxes(net: Any, low: Corner, high: Corner, batch: tuple[int, ...] = ()) -> Boxes:
    """The networks of a batch and their boxes, checked; arguments and errors as for `regions`."""
    weights = [_floats(W, batch, 2) for W in net.weights]
    biases = [_floats(b, batch, 1) for b in net.biases]
    if len(weights) != len(biases):
        raise ValueError(
            f"regions received {len(weights)} weights and {len(biases)} biases; "
            "a network has a bias for each weight"
        )
    if isinstance(net.slope, Number):
        slope = _rationals(balls(net.slope)) if is_ball(net.weights[0]) else [Fraction(net.slope)]
        slopes = slope * math.prod(batch)
    else:
        slopes = [Fraction(a) for a in _floats(net.slope, batch, 0).tolist()]
    if is_ball(net.weights[0]):
        low, high = balls(low), balls(high)
    low, high = (_corner(x, batch, weights[0].shape[2]) for x in (low, high))
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        low, high = (x.reshape(*batch, -1) for x in (low, high))
        raise ValueError(
            f"regions received the box from {low} to {high}; a box is finite with low < high"
        )
    size = np.maximum(np.abs(low), np.abs(high))
    steepest = np.array([max(1.0, abs(float(a))) for a in slopes])[:, None]
    for W, b in zip(weights, biases, strict=True):
        with np.errstate(over="ignore"):
            size = ((np.abs(W) @ size[..., None])[..., 0] + np.abs(b)) * steepest
        if not (size < LARGEST).all():
            raise ValueError(
                f"pre-activations of the network reach {size.max()} on the box; "
                f"regions takes at most {LARGEST}"
            )
    return Boxes(weights, biases, slopes, low, high)


def _corner(numbers: Corner, batch: tuple[int, ...], d: int) -> Floats:
    array = np.asarray(_converted(numbers), dtype=float)
    return np.array(np.broadcast_to(array, (*batch, d))).reshape(-1, d)


def _floats(array: Any, batch: tuple[int, ...], axes: int) -> Floats:
    """The array with one axis in place of those of the batch."""
    if not (is_ball(array) or isinstance(array, torch.Tensor | np.ndarray | list | tuple)):
        raise TypeError(f"regions received a {type(array).__name__}; it takes a network of floats")
    numbers = np.asarray(_converted(array), dtype=float)
    split = numbers.ndim - axes
    if numbers.shape[:split] != batch or split != len(batch):
        raise ValueError(
            f"regions received an array of shape {numbers.shape}, and expected {axes} axes: "
            "it takes one network without batch axes; region_arrays takes a batch"
            if not batch
            else f"region_arrays received an array of shape {numbers.shape} in a network with "
            f"batch axes {batch}"
        )
    return numbers.reshape(-1, *numbers.shape[split:])


def _converted(numbers: Any) -> Any:
    """Balls and tensors as arrays of numpy."""
    if is_ball(numbers):
        return _exactly(numbers)
    return numbers.detach().cpu().numpy() if isinstance(numbers, torch.Tensor) else numbers


def _exactly(array: BallArray) -> Floats:
    """The float64 numbers that exact rationals equal.

    Raises:
        NoBallForm: an entry is a ball, or a rational that no float64 equals.
    """
    exact = _rationals(array)
    numbers = [float(x) for x in exact]
    if [Fraction(x) for x in numbers] != exact:
        raise _no_form()
    return np.array(numbers).reshape(array.elements.shape)


def _rationals(array: BallArray) -> list[Fraction]:
    """The entries, one after another.

    Raises:
        NoBallForm: one is a ball.
    """
    elements = array.elements.ravel().tolist()
    if not all(isinstance(x, fmpq) for x in elements):
        raise _no_form()
    return [Fraction(int(x.p), int(x.q)) for x in elements]


def _no_form() -> NoBallForm:
    return NoBallForm(
        "the enumeration of regions",
        "use drawn entries as weights and binary fractions as corners: they are exact floats",
    )
