r"""Figure 2 of `bottleneck`: a network that predicts the losses of descent learns their symmetry.

The losses are C(v) = ‖vvᵀ − (wwᵀ + E)‖²_F for a unit vector w, after each of T steps of gradient
descent from v(0), which is all that the network is told. For E = 0 they depend on v(0) through
(wᵀv)² and ‖(1 − wwᵀ)v‖² alone. Controls: a task without the symmetry (entries of E of standard
deviation 0.3), depth 3, no ridge. In print the depth is 25, the width 200 and the ridge 0.0002;
here the width is 50 and the ridge 0.001, for a mean square over points and outputs of mean square
1. Dimension, T, step size, points, E and the law of v(0) are not printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import _training as lab
import torch
from torch import Tensor

from rankcheck.costs import descent_path, matching_loss, split_along
from rankcheck.data import covariance, crossing_angles
from rankcheck.linalg import singular_values
from rankcheck.networks import Network

COMMON: dict[str, Any] = {
    "inputs": 8, "points": 400, "width": 50, "depth": 25, "ridge": 0.001, "noise": 0.005, "descent_steps": 12,
    "descent_rate": 0.03, "steps": 8000, "rate": 0.006, "warm": 500, "paths": 48
}  # fmt: skip
QUICK = {"inputs": 3, "points": 10, "width": 4, "steps": 20, "paths": 6}
#: What the groups differ in, and their schedules.
GROUPS: dict[str, dict[str, Any]] = {
    "deep": {},
    "noisy": {"noise": 0.3, "steps": 3000},
    "shallow": {"depth": 3, "steps": 4000},
    "no-ridge": {"ridge": 0.0, "steps": 1200, "rate": 0.001, "warm": 200},
}
#: The largest |wᵀv(0)|, and the largest distance of v(0) to the axis of w.
REACH = 1.3
#: Orbits, and points on each.
ORBITS, ON_ORBIT = 40, 32
#: A singular value above is an outlier: it is nearer to 1 than to 0.
OUTLIER = 0.5
#: The layers of panels (b) and (c) of the figure.
PATHS_LAYER, DISTANCE_LAYER = 6, 2
#: Paths that cross at a smaller angle, in degrees, run beside each other: they cross only because E
#: is not 0 and steps are not short. So many paths are drawn.
ANGLE, DRAWN = 30.0, 24
#: The plane of panel (c): its height along w, the place of x_0 in it; half the side of the map, its
#: cells on a side; circles up to `REACH`, and points on each.
HEIGHT, SPOT, HALF, CELLS, CIRCLES, ANGLES = 0.6, 0.7, 1.0, 24, 13, 48


def parts(seed: int) -> list[lab.Part]:
    """The same seeds for each group, so that groups differ in what is named above alone."""
    seeds = tuple(range(1000 * seed, 1000 * seed + 5))
    return [lab.Part(name, COMMON | own | {"group": name}, seeds) for name, own in GROUPS.items()]


def run(part: lab.Part) -> Iterator[lab.Measured]:
    """Each measurement draws with a generator of its own: of the seeds of no runs."""
    settings, draws = part.settings, lab.generators(part.seeds)
    tasks, inputs, outputs = zip(*(Task.drawn(settings, draw) for draw in draws), strict=True)
    inner = [settings["width"]] * (settings["depth"] - 1)
    stack = lab.Stack.random([settings["inputs"], *inner, settings["descent_steps"]], draws)
    x, y = torch.stack(inputs).float(), torch.stack(outputs).float()

    def error(out: Tensor) -> Tensor:
        return (out - y).square().mean((-1, -2))

    rates = settings["steps"], settings["rate"]
    lab.train(stack, error, x, settings["ridge"], *rates, warm=settings["warm"])
    for number, (net, task, seed) in enumerate(
        zip(stack.networks(), tasks, part.seeds, strict=True)
    ):
        draw = lab.generators(seed + 500 + 100 * each for each in range(1, 5))
        X, spectra = inputs[number], [singular_values(W) for W in net.weights]
        rotations = shares_within(images_of(net, task, rotated(task, draw[2])))
        paths, drawn_paths = measured_paths(net, task, X, settings["paths"], draw[0])
        share, drawn_distances = measured_distances(net, task, draw[1])
        measured = {
            "error": float((net(X) - outputs[number]).square().mean()),
            "outliers": [int((s > OUTLIER).sum()) for s in spectra],
            "rotation_shares": [float(f"{each:.3g}") for each in rotations],
            "reflection_share": shares_within(images_of(net, task, reflected(task, draw[3])))[-1],
            "circle_share": share,
            "jacobian_rank": lab.jacobian_rank(net, X),
            "near_one": lab.near_one(net),
        } | paths  # fmt: skip
        shown = number == 0 and part.name == "deep"
        drawn = {"singular_values": [lab.short(s[:8]) for s in spectra]}
        yield measured, drawn | drawn_paths | drawn_distances if shown else {}


@dataclass(frozen=True)
class Task:
    """The function v(0) ↦ (C(v(1)), ..., C(v(T))), its inputs and its outputs scaled.

    Attributes:
        w: the unit vector, (d).
        noise: E, (d, d).
        rate: the step size of the descent.
        steps: T.
        size: the inputs are divided by it.
        shift, scale: y = (C − shift) / scale, with a shift for each step.
    """

    w: Tensor
    noise: Tensor
    rate: float
    steps: int
    size: float = 1.0
    shift: Tensor | float = 0.0
    scale: float = 1.0

    @classmethod
    def drawn(
        cls, settings: Mapping[str, Any], draw: torch.Generator
    ) -> tuple[Task, Tensor, Tensor]:
        """A task, and N points with their values, of mean square 1, the values of mean 0."""
        w = torch.randn(settings["inputs"], generator=draw, dtype=torch.float64)
        w = w / w.norm()
        noise = settings["noise"] * torch.randn(len(w), len(w), generator=draw, dtype=torch.float64)
        plain = cls(w, noise, settings["descent_rate"], settings["descent_steps"])
        v = plain.points(settings["points"], draw)
        C = plain.values(v)
        shift = C.mean(0)
        size, scale = (float(each.square().mean().sqrt()) for each in (v, C - shift))
        made = cls(w, noise, plain.rate, plain.steps, size, shift, scale)
        return made, made.inputs(v), made.values(v)

    def points(self, count: int, draw: torch.Generator) -> Tensor:
        """v (count, d) with wᵀv uniform in [−REACH, REACH], ‖(1 − wwᵀ) v‖ in [0, REACH]."""
        along, beside = torch.rand(2, count, generator=draw, dtype=torch.float64)
        return starts(REACH * (2 * along - 1), REACH * beside, self.w, draw)

    def inputs(self, v: Tensor) -> Tensor:
        """x = v / size."""
        return v / self.size

    def path(self, v: Tensor) -> Tensor:
        """v(0), ..., v(T), shape (N, T + 1, d), for starts (N, d)."""
        rate = torch.full(v.shape[:-1], self.rate, dtype=v.dtype)
        return torch.stack(descent_path(v, self.w, rate, self.steps, self.noise), -2)

    def values(self, v: Tensor) -> Tensor:
        """y, shape (N, T), for starts (N, d)."""
        losses = matching_loss(self.path(v)[..., 1:, :], self.w, self.noise)
        return (losses - self.shift) / self.scale


def starts(along: Tensor, beside: Tensor, w: Tensor, draw: torch.Generator) -> Tensor:
    """Points (*B, d) with wᵀv = along and ‖(1 − wwᵀ) v‖ = beside, both (*B).

    The directions beside w are uniform on the unit sphere there.
    """
    normal = torch.randn(*along.shape, len(w), generator=draw, dtype=torch.float64)
    normal = normal - (normal @ w).unsqueeze(-1) * w
    unit = normal / normal.norm(dim=-1, keepdim=True)
    return along.unsqueeze(-1) * w + beside.unsqueeze(-1) * unit


def rotated(task: Task, draw: torch.Generator) -> Tensor:
    """Orbits of the rotations about w, (orbits, points on each, d), of starts of the task."""
    v = task.points(ORBITS, draw)
    along, beside = v @ task.w, split_along(v, task.w)[1].sqrt()
    wide = (ORBITS, ON_ORBIT)
    return starts(along[:, None].expand(wide), beside[:, None].expand(wide), task.w, draw)


def reflected(task: Task, draw: torch.Generator) -> Tensor:
    """Orbits {v, v − 2 (wᵀv) w} of the reflection that takes w to −w, (orbits, 2, d)."""
    v = task.points(ORBITS * ON_ORBIT // 2, draw)
    return torch.stack((v, v - 2 * (v @ task.w).unsqueeze(-1) * task.w), 1)


def total(values: Tensor) -> Tensor:
    """The trace of the covariance of rows (*B, N, n), (*B); what is rounding is 0."""
    variance = covariance(values).diagonal(dim1=-2, dim2=-1).sum(-1)
    return torch.where(variance > 1e-28 * values.square().sum(-1).mean(-1), variance, 0.0)


def share(part: Tensor, whole: Tensor) -> float:
    """part/whole; 0 for the representation that is constant, which no two points tell apart."""
    return float(part / whole) if whole > 0 else 0.0


def shares_within(images: Sequence[Tensor]) -> list[float]:
    """The share of the variance that is within orbits, for images (orbits, points, n) of them.

    By the law of total variance it is in [0, 1]; it is 0 if every orbit has one image.
    """
    return [share(total(each).mean(), total(each.flatten(0, 1))) for each in images]


def images_of(net: Network, task: Task, orbits: Tensor) -> list[Tensor]:
    """The images of orbits (M, K, d) under α_0, ..., α_{L−1} and f, each (M, K, n_ℓ)."""
    at = net.at(task.inputs(orbits).flatten(0, 1))
    return [each.unflatten(0, orbits.shape[:2]) for each in (*at.activations, at.value)]


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
) -> lab.Measured:
    """How many pairs of descent paths cross in two planes, and the paths there.

    The planes are that of the first two principal components of α_6 (or of the last hidden layer of
    a network that is shallower); and that of (|wᵀv|, |uᵀv|) for a unit vector u beside w, two
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
    return measured, {f"paths_{name}": lab.short(each[:DRAWN]) for name, each in planes.items()}


def measured_distances(
    net: Network, task: Task, draw: torch.Generator
) -> tuple[float, dict[str, Any]]:
    """How ‖α_2(x) − α_2(x_0)‖ varies over circles in a plane orthogonal to w, and a map of it."""
    normal = torch.randn(2, len(task.w), generator=draw, dtype=torch.float64)
    frame = torch.linalg.qr(torch.cat((task.w[None], normal)).mT)[0][:, 1:]

    def at(places: Tensor) -> Tensor:
        """α_2 at points (*B, 2) of the plane."""
        v = HEIGHT * task.w + places @ frame.mT
        layer = net.at(task.inputs(v).flatten(0, -2)).activations[DISTANCE_LAYER]
        return layer.unflatten(0, v.shape[:-1])

    centre = at(torch.tensor([[SPOT, 0.0]], dtype=torch.float64))[0]
    radii = torch.linspace(0, REACH, CIRCLES + 1, dtype=torch.float64)[1:]
    angles = torch.arange(ANGLES, dtype=torch.float64) * (2 * torch.pi / ANGLES)
    circle = torch.stack((angles.cos(), angles.sin()), -1)
    around = (at(radii[:, None, None] * circle) - centre).norm(dim=-1).unsqueeze(-1)
    ticks = (torch.arange(CELLS, dtype=torch.float64) + 0.5) * (2 * HALF / CELLS) - HALF
    grid = torch.stack(torch.meshgrid(ticks, ticks, indexing="xy"), -1)
    within = share(total(around).mean(), total(around.flatten(0, 1)))
    return within, {"distances": lab.short((at(grid) - centre).norm(dim=-1), 2)}


def draw(runs: Sequence[lab.Run]) -> dict[str, lab.Figure]:
    """The panels of the document, and paths in two other numbers, of one deep network."""
    [one] = [one for one in runs if "drawn" in one]
    figure, (values, paths, distances, others) = lab.panels(2, 2, height=2.9)
    drawn, measured = one["drawn"], one["measured"]
    lab.spectra(values, drawn["singular_values"], 2, r"singular values of $W_\ell$")
    values.axhline(OUTLIER, color="black", linestyle="--", linewidth=0.8)
    values.set_title("a  Singular values, the first two in blue")
    in_layer = rf"in $\alpha_{measured['crossing_layer']}$"
    for letter, panel, which, words in (
        ("b", paths, "layer", in_layer), ("d", others, "others", r"in $|w^T v|$ and $|u^T v|$")
    ):  # fmt: skip
        lines = drawn[f"paths_{which}"]
        panel.plot(*lab.joined(lines), color=lab.COLOURS[0], linewidth=0.8)
        first = zip(*(line[0] for line in lines), strict=True)
        panel.plot(*first, ".", color=lab.COLOURS[0], markersize=5)
        panel.set_title(f"{letter}  Descent paths {words}, {measured['crossing'][which]} cross")
    extent = (-HALF, HALF, -HALF, HALF)
    image = distances.imshow(drawn["distances"], origin="lower", extent=extent, cmap="Blues")
    figure.colorbar(image, ax=distances, label="distance")
    distances.plot(SPOT, 0, "o", color="black", fillstyle="none")
    distances.set_title(r"c  Distance in $\alpha_2$ to $x_0$ (the ring)")
    return {"symmetry": figure}


if __name__ == "__main__":
    lab.make("bottleneck.figure-2", parts, run, draw, QUICK)
