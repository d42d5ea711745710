"""What is measured for bottleneck.figure-2: orbits, descent paths and distances in the layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rankcheck.data.crossings import crossing_angles
from rankcheck.data.moments import covariance
from rankcheck.experiments.audited import short
from rankcheck.experiments.figures.symmetry_task import REACH, Task, reflected, rotated, starts
from rankcheck.experiments.stack import generators
from rankcheck.linalg import singular_values
from rankcheck.networks.network import Network

__all__ = [
    "COLLAPSED",
    "FITTED",
    "images_of",
    "measure",
    "measured_distances",
    "measured_paths",
    "principal_plane",
    "shares_within",
]

#: A singular value above this is an outlier: it is nearer to 1 than to 0.
OUTLIER = 0.5
#: Part of the variance of the values that may be left; 1 is that of a constant.
FITTED = 0.01
#: Part of the variance of new points that may be left within orbits. It is about 1/2 of the inputs.
COLLAPSED = 0.05
#: The layers of panels (b) and (c) of the figure.
PATHS_LAYER, DISTANCE_LAYER = 6, 2
#: A variance that is this share of the mean square of the values is rounding.
ROUNDING = 1e-28
#: Paths that cross at a smaller angle, in degrees, run beside each other. In the statistics of the
#: task paths cross only because E is not 0 and steps are not short: at up to 20° for small E.
ANGLE = 30.0
#: So many paths are drawn.
DRAWN = 24
#: Measurements draw with the seed of the run plus this and some hundreds: the seeds of no runs.
_APART = 500
#: The plane of panel (c): its height along w, the place of x_0 in it; half the side of the map, its
#: cells on a side; circles up to `REACH`, and points on each.
HEIGHT, SPOT, HALF, CELLS, CIRCLES, ANGLES = 0.6, 0.7, 1.0, 24, 13, 48


def hidden(net: Network, x: Tensor) -> list[Tensor]:
    """α_0(x) = x, α_1(x), ..., α_{L−1}(x) and f(x), each (N, n_ℓ), at points (N, n_0)."""
    at = net.at(x)
    return [*at.activations, at.value]


def total(values: Tensor) -> Tensor:
    """The total variance of rows (*B, N, n): the trace of their covariance, (*B).

    What is rounding is 0: the mean of equal floats can be another float.
    """
    variance = covariance(values).diagonal(dim1=-2, dim2=-1).sum(-1)
    size = values.square().sum(-1).mean(-1)
    return torch.where(variance > ROUNDING * size, variance, 0.0)


def _share(part: Tensor, whole: Tensor) -> float:
    """part/whole; 0 for the representation that is constant, which no two points tell apart."""
    return float(part / whole) if whole > 0 else 0.0


def shares_within(images: Sequence[Tensor]) -> list[float]:
    """The share of the variance that is within orbits, for several images of them.

    By the law of total variance a share is in [0, 1]; it is 0 if every orbit has one image.

    Args:
        images: of the points of orbits, each (orbits, points on each, n).
    """
    return [_share(total(each).mean(), total(each.flatten(0, 1))) for each in images]


def images_of(net: Network, task: Task, orbits: Tensor) -> list[Tensor]:
    """The images of orbits (M, K, d) under α_0, ..., α_{L−1} and f, each (M, K, n_ℓ)."""
    layers = hidden(net, task.inputs(orbits).flatten(0, 1))
    return [each.unflatten(0, orbits.shape[:2]) for each in layers]


def principal_plane(values: Tensor) -> tuple[Tensor, Tensor]:
    """Of rows (N, n), n ≥ 2: their mean and the two principal directions (n, 2).

    The largest entry of a direction is positive.
    """
    _, directions = torch.linalg.eigh(covariance(values))
    axes = directions.flip(-1)[:, :2]
    largest = axes.gather(0, axes.abs().argmax(0, keepdim=True))
    return values.mean(0), axes * torch.where(largest < 0, -1.0, 1.0)


def measured_paths(
    net: Network, task: Task, x: Tensor, count: int, draw: torch.Generator
) -> tuple[dict[str, Any], dict[str, Any]]:
    """How many pairs of descent paths cross in two planes, and the paths there.

    The planes are that of the first two principal components of α_6 (or of the last hidden layer of
    a network that is shallower); and that of (|w^T v|, |u^T v|) for a unit vector u beside w, two
    numbers that do not determine how they go on.
    """
    layer = min(PATHS_LAYER, net.depth - 1)
    v = task.path(task.points(count, draw))
    images = net.at(task.inputs(v).flatten(0, 1)).activations[layer].unflatten(0, v.shape[:2])
    mean, axes = principal_plane(net.at(x).activations[layer])
    u = starts(torch.zeros(()), torch.ones(()), task.w, draw)
    planes = {
        "layer": (images - mean) @ axes,
        "others": torch.stack((v @ task.w, v @ u), -1).abs(),
    }
    angles = {name: crossing_angles(each.numpy()).values() for name, each in planes.items()}
    measured = {
        "crossing_layer": layer,
        "crossing": {name: sum(a > ANGLE for a in each) for name, each in angles.items()},
        "crossing_at_all": {name: len(each) for name, each in angles.items()},
    }
    inner, others = (short(planes[name][:DRAWN]) for name in ("layer", "others"))
    return measured, {"paths": inner, "paths_others": others}


def measured_distances(
    net: Network, task: Task, draw: torch.Generator
) -> tuple[dict[str, Any], dict[str, Any]]:
    """How ‖α_2(x) − α_2(x_0)‖ varies over circles in a plane orthogonal to w, and a map of it."""
    normal = torch.randn(2, len(task.w), generator=draw, dtype=torch.float64)
    frame = torch.linalg.qr(torch.cat((task.w[None], normal)).mT)[0][:, 1:]

    def at(places: Tensor) -> Tensor:
        """α_2 at points (*B, 2) of the plane."""
        v = HEIGHT * task.w + places @ frame.mT
        layer = net.at(task.inputs(v).flatten(0, -2)).activations[DISTANCE_LAYER]
        return layer.unflatten(0, v.shape[:-1])

    spot = torch.tensor([SPOT, 0.0], dtype=torch.float64)
    centre = at(spot[None])[0]
    radii = torch.linspace(0, REACH, CIRCLES + 1, dtype=torch.float64)[1:]
    angles = torch.arange(ANGLES, dtype=torch.float64) * (2 * torch.pi / ANGLES)
    circle = torch.stack((angles.cos(), angles.sin()), -1)
    around = (at(radii[:, None, None] * circle) - centre).norm(dim=-1)
    share = _share(total(around.unsqueeze(-1)).mean(), total(around.flatten().unsqueeze(-1)))
    ticks = (torch.arange(CELLS, dtype=torch.float64) + 0.5) * (2 * HALF / CELLS) - HALF
    grid = torch.stack(torch.meshgrid(ticks, ticks, indexing="xy"), -1)
    picture = (at(grid) - centre).norm(dim=-1)
    return {"circle_share": share}, {"distances": short(picture, 2), "half": HALF, "spot": SPOT}


def measure(
    net: Network, task: Task, data: Sequence[Tensor], count: int, seed: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is measured on a trained network, and what figures need of it.

    Args:
        data: the inputs and the values on which it was trained.
        count: of the paths.
    """
    x, y = data

    def draw(number: int) -> torch.Generator:
        """A generator for one measurement."""
        return generators([seed + _APART + 100 * number])[0]

    spectra = [singular_values(W) for W in net.weights]
    rotations = shares_within(images_of(net, task, rotated(task, draw(3))))
    paths, drawn_paths = measured_paths(net, task, x, count, draw(1))
    distances, drawn_distances = measured_distances(net, task, draw(2))
    measured = {
        "error": float((net(x) - y).square().mean()),
        "outliers": [int((s > OUTLIER).sum()) for s in spectra],
        "rotation_shares": [float(f"{each:.3g}") for each in rotations],
        "reflection_share": shares_within(images_of(net, task, reflected(task, draw(4))))[-1],
        **paths,
        **distances,
    }
    singular = [short(s[:8]) for s in spectra]
    return measured, {"singular_values": singular, **drawn_paths, **drawn_distances}
