r"""What the autoencoders of rank.figure-3 learn: a curve in the plane, and images of digits.

The curve is $g(\mathbb R)$ for a random shallow ReLU network $g: \mathbb R \to \mathbb R^2$, a path
of finitely many segments, so distances to it are exact. The images are the 1797 handwritten digits
of 8 × 8 pixels that scikit-learn ships.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from rankcheck.errors import InputError
from rankcheck.experiments.figures.tasks import shallow_network
from rankcheck.networks.network import Network

__all__ = ["CURVE", "DATA", "DIGITS", "NOISES", "Data", "curve", "digits", "distance_to_path"]

#: The two data sets.
CURVE, DIGITS = "curve", "digits"
#: Standard deviations of the noise on the images, whose pixels are in [0, 1]. The last one counts.
NOISES = (0.1, 0.25, 0.5)
#: The ends of the path that stands for the curve: a normal z is beyond them once in 10¹⁵ times.
_FAR = 8.0


@dataclass(frozen=True)
class Data:
    """What a run is trained and measured on; all in float64.

    Attributes:
        x: the training points, (N, d).
        new: points of the same distribution, (M, d).
        inputs: points off the data, (K, M', d): K levels of noise, the last of which counts.
        distance: of outputs (M', d) for the inputs of one level, the distances to the data, (M').
        path: the knots of the curve, (P, 2), or None.
    """

    x: Tensor
    new: Tensor
    inputs: Tensor
    distance: Callable[[Tensor], Tensor]
    path: Tensor | None = None


def distance_to_path(points: Tensor, knots: Tensor) -> Tensor:
    """The Euclidean distances of points (M, d) to the path through knots (P, d), P ≥ 2: (M).

    On a segment a + t (b − a), t ∈ [0, 1], the nearest point has t = ⟨p − a, b − a⟩ / ‖b − a‖²,
    moved into [0, 1].
    """
    a, side = knots[:-1], knots[1:] - knots[:-1]
    length = side.square().sum(-1)
    along = ((points.unsqueeze(-2) - a) * side).sum(-1)
    # A segment of length zero is its knot.
    t = torch.where(length > 0, along / torch.where(length > 0, length, 1.0), 0.0).clamp(0, 1)
    nearest = a + t.unsqueeze(-1) * side
    return (points.unsqueeze(-2) - nearest).norm(dim=-1).amin(-1)


def curve(settings: Mapping[str, Any], draw: torch.Generator) -> Data:
    """Points g(z) with normal z, shifted to mean 0 and scaled to mean square 1, and random inputs.

    g has one hidden layer, and its knots are its values at the kinks z = −b_i / w_i. The inputs are
    uniform in the box of the training points with a quarter of its sides added on each side.
    """
    z = torch.randn(settings["points"], 1, generator=draw)
    W, b, V = (each.double() for each in shallow_network(1, 2, settings["inner"], draw))
    g = Network((W, V), (b, V.new_zeros(2)))
    fresh = torch.randn(settings["test"], 1, generator=draw)
    share = torch.rand(settings["test"], 2, generator=draw)
    kinks = -b / W[:, 0]
    ends = kinks.new_tensor([-_FAR, _FAR])
    knots = torch.cat((kinks[kinks.abs() < _FAR], ends)).sort().values.unsqueeze(-1)
    plain = g(z.double())
    shift = plain.mean(0)
    scale = (plain - shift).square().mean().sqrt()
    x, new, path = ((g(at.double()) - shift) / scale for at in (z, fresh, knots))
    low, high = x.amin(0), x.amax(0)
    inputs = low + (1.5 * share.double() - 0.25) * (high - low)
    return Data(x, new, inputs.unsqueeze(0), lambda points: distance_to_path(points, path), path)


@cache
def images() -> Tensor:
    """The 1797 images of digits as rows of 64 pixels in [0, 1], float64.

    Raises:
        InputError: if scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise InputError(
            "scikit-learn is not installed; rank.figure-3 trains on the images of digits that it "
            "ships and needs pip install 'rankcheck[experiments]'"
        ) from error
    return torch.tensor(load_digits().data / 16, dtype=torch.float64)


def digits(settings: Mapping[str, Any], draw: torch.Generator) -> Data:
    """Training images, others, and these with normal noise; distances are to the clean image."""
    pixels = images()
    order = torch.randperm(len(pixels), generator=draw)
    count = settings["points"]
    x, new = pixels[order[:count]], pixels[order[count : count + settings["test"]]]
    noise = torch.stack([torch.randn(new.shape, generator=draw) for _ in NOISES]).double()
    inputs = new + x.new_tensor(NOISES)[:, None, None] * noise
    return Data(x, new, inputs, lambda points: (points - new).norm(dim=-1))


#: By name, what draws the data of a run.
DATA = {CURVE: curve, DIGITS: digits}
