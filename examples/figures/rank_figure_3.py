r"""Figure 3 of `rank`: autoencoders of a curve in the plane and of images of digits.

The curve is g(R) for a random shallow ReLU network g: R → R², a path of finitely many segments, so
distances to it are exact. The images are the 1797 digits of 8 × 8 pixels that scikit-learn ships,
in place of MNIST. Networks minimise the mean square over points and entries of f(x) − x, plus
10⁻⁴ ‖θ‖². What is measured is the mean distance of outputs to the data over that of inputs: for
the curve, of random points of a box around it; for images, of new images with noise, whose distance
is that to the clean image. The document prints neither depths and widths nor points, noise or
normalisation. Deep networks of the curve have a smaller rate, as some became constant otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import _training as lab
import torch
from sklearn.datasets import load_digits
from torch import Tensor

from rankcheck.networks import Network

CURVE, DIGITS = "curve", "digits"
#: Standard deviations of the noise on the images, whose pixels are in [0, 1]. The last one counts.
NOISES = (0.1, 0.25, 0.5)
#: The ends of the path that stands for the curve: a normal z is beyond them once in 10¹⁵ times.
FAR = 8.0
#: So many points and images are drawn; at so many of the points there is the rank of Jf.
ARROWS, IMAGES, AUDITED = 28, 8, 200
#: Columns of the settings; the depth of the shallow networks is 2.
COLUMNS = ("points", "test", "width", "steps", "rate", "warm")
SIZES = {DIGITS: (500, 300, 80, 4000, 3e-3, 100), CURVE: (100, 500, 50, 15000, 6e-3, 100)}
QUICK = {"points": 12, "test": 30, "width": 6, "steps": 60, "warm": 5}


def parts(seed: int) -> list[lab.Part]:
    """Deep and shallow networks of the same seeds, and so of the same data."""
    deep = {DIGITS: {"depth": 9}, CURVE: {"depth": 20, "rate": 4e-3, "warm": 500}}
    made = []
    for data, row in SIZES.items():
        common = {"ridge": 1e-4, "data": data} | dict(zip(COLUMNS, row, strict=True))
        common |= {"inner": 100} if data == CURVE else {}  # hidden units of g
        seeds = tuple(1000 * seed + 101 + run for run in range(16 if data == CURVE else 5))
        made.append(lab.Part(f"{data}-deep", common | deep[data], seeds))
        made.append(lab.Part(f"{data}-shallow", common | {"depth": 2}, seeds))
    return made


def run(part: lab.Part) -> Iterator[lab.Measured]:
    """Train autoencoders of one data set, each of its own curve or choice of images."""
    settings = part.settings
    draws = lab.generators(part.seeds)
    made = [{CURVE: curve, DIGITS: digits}[settings["data"]](settings, draw) for draw in draws]
    x = torch.stack([each.x for each in made]).float()
    ends = x.shape[-1]
    stack = lab.Stack.random([ends, *[settings["width"]] * (settings["depth"] - 1), ends], draws)

    def error(out: Tensor) -> Tensor:
        return (out - x).square().mean((-1, -2))

    rates = settings["steps"], settings["rate"]
    lab.train(stack, error, x, settings["ridge"], *rates, warm=settings["warm"])
    for number, (net, data) in enumerate(zip(stack.networks(), made, strict=True)):
        shown = number < (2 if data.path is not None else 1)
        yield measure(net, data), drawn(net, data) if shown else {}


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


def measure(net: Network, data: Data) -> dict[str, Any]:
    """`left` is the mean distance to the data that is left; `lefts` for each level of noise."""
    lefts = [float(data.distance(net(x)).mean() / data.distance(x).mean()) for x in data.inputs]
    return {
        "error": float((net(data.x) - data.x).square().mean()),
        "new_error": float((net(data.new) - data.new).square().mean()),
        "variance": float((data.new - data.x.mean(0)).square().mean()),
        "left": lefts[-1],
        "lefts": lefts,
        "jacobian_rank": lab.jacobian_rank(net, data.x[:AUDITED]),
    }


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
    W, b, V = (each.double() for each in lab.shallow_network(1, 2, settings["inner"], draw))
    g = Network((W, V), (b, V.new_zeros(2)))
    fresh = torch.randn(settings["test"], 1, generator=draw)
    share = torch.rand(settings["test"], 2, generator=draw)
    kinks = -b / W[:, 0]
    ends = kinks.new_tensor([-FAR, FAR])
    knots = torch.cat((kinks[kinks.abs() < FAR], ends)).sort().values.unsqueeze(-1)
    plain = g(z.double())
    shift = plain.mean(0)
    scale = (plain - shift).square().mean().sqrt()
    x, new, path = ((g(at.double()) - shift) / scale for at in (z, fresh, knots))
    low, high = x.amin(0), x.amax(0)
    inputs = low + (1.5 * share.double() - 0.25) * (high - low)
    return Data(x, new, inputs.unsqueeze(0), lambda points: distance_to_path(points, path), path)


@cache
def images() -> Tensor:
    """The images of digits as rows of 64 pixels in [0, 1], float64."""
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


def drawn(net: Network, data: Data) -> dict[str, Any]:
    """Points and images for the figures."""
    if data.path is None:  # what is below 0 or above 1 is shown as 0 or 1
        shown = data.inputs[-1, :IMAGES]
        points = {"inputs": shown, "outputs": net(shown), "clean": data.new[:IMAGES]}
        points = {name: pixels.clamp(0, 1) for name, pixels in points.items()}
    else:
        shown = data.inputs[-1, :ARROWS]
        points = {"inputs": shown, "outputs": net(shown), "points": data.x, "path": data.path}
    few = 2 if data.path is None else 3
    return {
        name: [[round(float(value), few) for value in row] for row in rows]
        for name, rows in points.items()
    }


def pairs(runs: Sequence[lab.Run]) -> list[tuple[lab.Run, lab.Run]]:
    """Of runs on one data set, the deep and the shallow network of each seed."""
    shallow = {one["seed"]: one for one in lab.where(runs, depth=2)}
    return [(one, shallow[one["seed"]]) for one in runs if one["settings"]["depth"] > 2]


def draw(runs: Sequence[lab.Run]) -> dict[str, lab.Figure]:
    """Where points of the plane move, and what becomes of noisy images."""
    shown = [one for one in runs if "drawn" in one]
    figure, axes = lab.panels(2, 2, height=2.9)
    moved = [one for pair in pairs(lab.where(shown, data=CURVE)) for one in pair]
    for panel, one in zip(axes, moved, strict=False):
        there = one["drawn"]
        panel.plot(*zip(*there["path"], strict=True), color=lab.GREY, linewidth=0.6)
        ways = lab.joined(zip(there["inputs"], there["outputs"], strict=True))
        panel.plot(*ways, color=lab.COLOURS[2], linewidth=0.8, label="from input")
        data = zip(*there["points"], strict=True)
        panel.plot(*data, ".", color=lab.COLOURS[0], markersize=3, label="data")
        ends = zip(*there["outputs"], strict=True)
        panel.plot(*ends, ".", color=lab.COLOURS[1], markersize=5, label="to output")
        share = f"{one['measured']['left']:.0%} of the distance left"
        x, y = zip(*there["points"], *there["inputs"], strict=True)
        panel.set(xlim=(min(x), max(x)), ylim=(min(y), max(y)))
        panel.set_title(f"depth {one['settings']['depth']}: {share}")
    axes[0].legend()
    return {"plane": figure, "images": of_images(lab.where(shown, data=DIGITS))}


def of_images(runs: Sequence[lab.Run]) -> lab.Figure:
    """Noisy images, the outputs of a deep and of a shallow network, and the clean images."""
    [(deep, shallow)] = pairs(runs)
    rows = {
        "noisy": deep["drawn"]["inputs"],
        f"depth {deep['settings']['depth']}": deep["drawn"]["outputs"],
        "depth 2": shallow["drawn"]["outputs"],
        "clean": deep["drawn"]["clean"],
    }
    figure, axes = lab.panels(len(rows), 1, height=0.9)
    for panel, (name, pixels) in zip(axes, rows.items(), strict=True):
        strips = [torch.tensor(image).reshape(8, 8) for image in pixels]
        gap = torch.full((8, 1), math.nan)
        row = torch.cat([*chain.from_iterable((strip, gap) for strip in strips)], 1)
        panel.imshow(row.numpy(), cmap="gray_r", vmin=0, vmax=1)
        panel.set(xticks=[], yticks=[], frame_on=False, ylabel=name)
    return figure


if __name__ == "__main__":
    lab.make("rank.figure-3", parts, run, draw, QUICK)
