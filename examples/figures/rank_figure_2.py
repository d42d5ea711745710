r"""Figure 2 of `rank`: four classes in the plane, and the points where three of them meet.

Class c = 0, ..., 3 is an inverted S, (x, y) = (c − 3/2 + sin πt, 3t/2) + noise for uniform t in
[−1, 1]. At every height y neighbouring classes are 1 apart, and one S is 2 wide, so that each
reaches over the columns of its neighbours, and no line separates two of them. In the coordinate
x − sin(2πy/3) they are four intervals: there is a classifier through R^1.

Tripoints are vertices of the linear regions where three classes meet, by
`rankcheck.theory.regions.decision`. The document prints neither width, points, noise, ridge and steps nor
from which first weights it trained, nor how large its box is; the answer depends on the last two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import _training as lab
import numpy as np
import torch
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from torch import Tensor
from torch.nn.functional import cross_entropy

from rankcheck.linalg import singular_values
from rankcheck.networks import Network
from rankcheck.theory.regions.decision import decision
from rankcheck.theory.regions.outlines import outlines, simplified

CLASSES, NOISE = 4, 0.05
SHALLOW, DEEP, RIDGE = 2, 9, 3e-4
#: The standard deviation of the first weights times √n_{l−1}, by the name of the start: that of the
#: default of torch.nn.Linear, and that of He.
GAINS = {"torch": 1 / math.sqrt(3), "He": math.sqrt(2)}
#: Tripoints are counted in the box of the data with these shares of its sides added on each side;
#: the figure shows the box of the third one.
MARGINS = (0.0, 0.25, 0.5, 1.0)
SHOWN = 2
SIZES = {"width": 24, "points": 40, "steps": 6000}
QUICK = {"width": 5, "points": 6, "steps": 30}


def parts(seed: int) -> list[lab.Part]:
    """Depths 2 and 9 from the small start, depth 9 from the large one; with and without ridge."""
    return [
        lab.Part(
            f"depth-{depth}-{'ridge' if ridge else 'no-ridge'}{'-He' * (start == 'He')}",
            {"depth": depth, "ridge": ridge, "start": start, "rate": 0.005} | SIZES,
            tuple(range(1000 * seed, 1000 * seed + 16)),
        )
        for depth, start in ((SHALLOW, "torch"), (DEEP, "torch"), (DEEP, "He"))
        for ridge in (0.0, RIDGE)
    ]


def run(part: lab.Part) -> Iterator[lab.Measured]:
    """`singular_values` are the medians over the data of both singular values of Jf."""
    settings = part.settings
    draws = lab.generators(part.seeds)
    x = torch.stack([inverted_s(settings["points"], draw) for draw in draws]).flatten(1, 2)
    y = torch.arange(CLASSES).repeat_interleave(settings["points"])
    widths = [2, *[settings["width"]] * (settings["depth"] - 1), CLASSES]
    stack = lab.Stack.random(widths, draws, GAINS[settings["start"]])

    def entropy(out: Tensor) -> Tensor:
        each = cross_entropy(out.flatten(0, 1), y.repeat(len(out)), reduction="none")
        return each.unflatten(0, out.shape[:2]).mean(-1)

    _, errors, _ = lab.train(
        stack, entropy, x, settings["ridge"], settings["steps"], settings["rate"]
    )
    for number, (net, X) in enumerate(zip(stack.networks(), x.double(), strict=True)):
        s = singular_values(net.jacobian(X))
        measured = {
            "error": float(errors[-1, number]),
            "accuracy": float((net(X).argmax(-1) == y).double().mean()),
            "singular_values": lab.short(s.quantile(0.5, 0)),
            "tripoints": tripoints(net, X),
        }
        shown = number == 0 and settings["start"] == "torch"
        yield measured, drawing(net, X) if shown else {}


def inverted_s(points: int, draw: torch.Generator) -> Tensor:
    """Points of the four classes, the same number of each, shape (4, points, 2), float32."""
    t = 2 * torch.rand(CLASSES, points, generator=draw) - 1
    noise = NOISE * torch.randn(CLASSES, points, 2, generator=draw)
    middle = torch.arange(CLASSES).unsqueeze(-1) - (CLASSES - 1) / 2
    return torch.stack((middle + torch.sin(math.pi * t), 1.5 * t), dim=-1) + noise


def enlarged(X: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """The corners of the box of points (N, 2), with a share of its sides added on each side."""
    low, high = X.min(0).values, X.max(0).values
    return low - margin * (high - low), high + margin * (high - low)


def tripoints(net: Network, X: Tensor) -> list[int]:
    """How many tripoints are in the box of each of `MARGINS`, all found in the largest one."""
    points = decision(net, *enlarged(X, max(MARGINS))).junctions()
    boxes = [(low.numpy(), high.numpy()) for low, high in (enlarged(X, m) for m in MARGINS)]
    return [int(((low <= points) & (points <= high)).all(axis=1).sum()) for low, high in boxes]


def drawing(net: Network, X: Tensor) -> dict[str, Any]:
    """What the figure shows: the box, the outlines of the classes, the tripoints, and the data."""
    low, high = enlarged(X, MARGINS[SHOWN])
    decided = decision(net, low, high)
    around = outlines(decided.cells, decided.classes)
    fine = 0.002 * float((decided.cells.high - decided.cells.low).min())
    thin = [[simplified(one, fine) for one in around.get(c, [])] for c in range(CLASSES)]

    def listed(points: np.ndarray) -> list[Any]:
        return list((np.round(points, 3) + 0.0).tolist())

    return {
        "low": listed(low.numpy()),
        "high": listed(high.numpy()),
        "classes": [[listed(ring) for ring in rings if len(ring) > 2] for rings in thin],
        "tripoints": listed(decided.junctions()),
        "points": listed(X.numpy().reshape(CLASSES, -1, 2)),
    }


def draw(runs: Sequence[lab.Run]) -> dict[str, lab.Figure]:
    """The classes of a network of each group from the small start, with its tripoints."""
    figure, axes = lab.panels(2, 2, height=2.9)
    for panel, one in zip(axes, (one for one in runs if "drawn" in one), strict=True):
        drawn, settings = one["drawn"], one["settings"]
        for colour, rings, data in zip(
            lab.COLOURS, drawn["classes"], drawn["points"], strict=False
        ):
            if rings:  # inside of an odd number of them
                area = Path.make_compound_path(*(Path([*r, r[0]], closed=True) for r in rings))
                panel.add_patch(PathPatch(area, facecolor=colour, alpha=0.3, linewidth=0.5))
            panel.plot(*zip(*data, strict=True), ".", color=colour, markersize=3)
        for point in drawn["tripoints"]:
            panel.plot(*point, "o", color="black", markersize=9, fillstyle="none", clip_on=False)
        (left, low), (right, high) = drawn["low"], drawn["high"]
        ridge = "with" if settings["ridge"] else "without"
        title = f"depth {settings['depth']}, {ridge} ridge: {len(drawn['tripoints'])} tripoints"
        panel.set(xlim=(left, right), ylim=(low, high), title=title)
    return {"classes": figure}


if __name__ == "__main__":
    lab.make("rank.figure-2", parts, run, draw, QUICK)
