r"""Figure 2 of `rank`: four classes in the plane, and the points where three of them meet.

Class c = 0, ..., 3 is an inverted S, (x, y) = (c − 3/2 + sin πt, 3t/2) + noise for uniform t in
[−1, 1]. At every height y neighbouring classes are 1 apart, and one S is 2 wide, so that each
reaches over the columns of its neighbours, and no line separates two of them. In the coordinate
x − sin(2πy/3) they are four intervals: there is a classifier through $\mathbb R^1$.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rankcheck.audit.result import Audit
from rankcheck.experiments.audited import Measured, measured_runs, short
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.statistics import LEVEL, sign_test
from rankcheck.experiments.training import Schedule
from rankcheck.networks.network import Network
from rankcheck.regions.decision import Decision, decision
from rankcheck.regions.outlines import outlines, simplified

__all__ = [
    "DEEP",
    "EXPERIMENT",
    "HE",
    "MARGIN",
    "MARGINS",
    "SHALLOW",
    "TORCH",
    "fits",
    "inverted_s",
    "tripoints_in",
]

CLASSES = 4
SHALLOW, DEEP = 2, 9
#: λ, the same for both depths.
RIDGE = 3e-4
NOISE = 0.05
#: The standard deviation of the first weights times √n_{l−1}, by the name of the start: that of the
#: default of torch.nn.Linear, and that of He.
TORCH, HE = "torch", "He"
GAINS = {TORCH: 1 / math.sqrt(3), HE: math.sqrt(2)}
#: The box in which tripoints are counted: that of the data, with this share of its sides added on
#: each side. The figure shows this one.
MARGIN = 0.5
MARGINS = (0.0, 0.25, MARGIN, 1.0)
#: Outlines are drawn to this share of the box.
_FINE = 0.002


def inverted_s(points: int, draw: torch.Generator) -> Tensor:
    """Points of the four classes, the same number of each, shape (4, points, 2), float32."""
    t = 2 * torch.rand(CLASSES, points, generator=draw) - 1
    noise = NOISE * torch.randn(CLASSES, points, 2, generator=draw)
    middle = torch.arange(CLASSES).unsqueeze(-1) - (CLASSES - 1) / 2
    return torch.stack((middle + torch.sin(math.pi * t), 1.5 * t), dim=-1) + noise


def fits(run: Run) -> bool:
    """Whether the network has every point of the data in its class."""
    return bool(run.measured["accuracy"] == 1)


class FourClasses(Experiment):
    """Four classes in the plane, depths 2 and 9, with and without ridge."""

    name = "rank.figure-2"
    title = "Deep classifiers: no tripoints from a small start, more often some from a large one"
    place = "rank, Figure 2"
    pilots = 1

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        sizes: dict[Scale, dict[str, int]] = {
            "tiny": {"width": 5, "points": 6, "steps": 30, "runs": 1},
            "small": {"width": 24, "points": 40, "steps": 6000, "runs": 16},
            "paper": {"width": 50, "points": 100, "steps": 20000, "runs": 16},
        }
        size = sizes[scale]
        seeds = tuple(1000 * seed + number for number in range(size.pop("runs")))
        return [
            Part(
                f"depth-{depth}-{'ridge' if ridge else 'no-ridge'}{'-He' if start == HE else ''}",
                {"depth": depth, "ridge": ridge, "start": start, "rate": 0.005, **size},
                seeds,
            )
            for depth, start in ((SHALLOW, TORCH), (DEEP, TORCH), (DEEP, HE))
            for ridge in (0.0, RIDGE)
        ]

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        settings = part.settings
        draws = generators(part.seeds)
        x = torch.stack([inverted_s(settings["points"], draw) for draw in draws]).flatten(1, 2)
        y = torch.arange(CLASSES).repeat_interleave(settings["points"])
        widths = [2, *[settings["width"]] * (settings["depth"] - 1), CLASSES]
        gain = GAINS[settings["start"]]
        stack = Stack.random(widths, draws, gain=gain, device=place.device)
        history = place.train(
            stack,
            entropy_of(y.to(place.device)),
            x.to(place.device),
            settings["ridge"],
            Schedule(settings["steps"], settings["rate"]),
        )
        points = x.double()
        first = settings["depth"] == SHALLOW and not settings["ridge"]

        def measure_run(number: int, net: Network, audit: Audit) -> Measured:
            X, values = points[number], audit.data.singular_values if audit.data else ()
            measured = {
                "error": float(history.errors[-1, number]),
                "accuracy": float((net(X).argmax(-1) == y).double().mean()),
                "singular_values": short(torch.tensor([value.median for value in values]), 3),
                "tripoints": tripoints(net, X),
            }
            shown = number == 0 and settings["start"] == TORCH
            return measured, drawing(net, X, data=first) if shown else {}

        return measured_runs(part, place, stack, points, measure_run)

    def findings(self, result: Result) -> Sequence[Finding]:
        findings = []
        for depth, printed, start in (
            (DEEP, "none", TORCH),
            (SHALLOW, "some", TORCH),
            (DEEP, "none", HE),
        ):
            for ridge in (True, False):
                runs = group(result, depth, ridge, start)
                numbers = [tripoints_in(run) for run in runs]
                count = sum(
                    fits(run) and (number > 0) == (printed == "some")
                    for run, number in zip(runs, numbers, strict=True)
                )
                p = sign_test(count, len(runs))
                findings.append(
                    Finding(
                        f"tripoints at depth {depth}, {'with' if ridge else 'without'} ridge, in "
                        f"the box of the figure{', from the start of He' * (start == HE)}",
                        printed,
                        f"{printed} in {count} of {len(runs)} runs, p = {p:.2g}; by run "
                        f"{', '.join(map(str, numbers))}; {sum(map(fits, runs))} fit all their "
                        "points",
                        p < LEVEL,
                    )
                )
        return findings


EXPERIMENT = FourClasses()


def entropy_of(y: Tensor) -> Callable[[Tensor], Tensor]:
    """The mean cross-entropy of outputs (R, N, m) for the classes y, (N), by run."""

    def entropy(out: Tensor) -> Tensor:
        each = cross_entropy(out.flatten(0, 1), y.repeat(len(out)), reduction="none")
        return each.unflatten(0, out.shape[:2]).mean(-1)

    return entropy


def enlarged(X: Tensor, margin: float) -> tuple[Tensor, Tensor]:
    """The corners of the box of points (N, 2), with a share of its sides added on each side."""
    low, high = X.min(0).values, X.max(0).values
    return low - margin * (high - low), high + margin * (high - low)


def tripoints(net: Network, X: Tensor) -> list[int]:
    """How many tripoints a classifier has in the boxes around its data, all found in the largest.

    Returns:
        for each of `MARGINS`, those in its box.
    """
    decided = decision(net, *enlarged(X, max(MARGINS)))
    points = decided.junctions()
    numbers = []
    for margin in MARGINS:
        low, high = (corner.numpy() for corner in enlarged(X, margin))
        numbers.append(int(((low <= points) & (points <= high)).all(axis=1).sum()))
    return numbers


def tripoints_in(run: Run, margin: float = MARGIN) -> int:
    """How many tripoints a network has in the box with this margin."""
    return int(run.measured["tripoints"][MARGINS.index(margin)])


def drawing(net: Network, X: Tensor, *, data: bool) -> dict[str, Any]:
    """What the figure shows: the box, the outlines of the classes, the tripoints; and the data."""
    low, high = enlarged(X, MARGIN)
    decided = decision(net, low, high)
    return {
        "low": _short(low.numpy()),
        "high": _short(high.numpy()),
        "classes": _classes(decided),
        "tripoints": _short(decided.junctions()),
    } | ({"points": _short(X.numpy().reshape(CLASSES, -1, 2))} if data else {})


def _classes(decided: Decision) -> list[list[Any]]:
    """The rings around each class, as far as they are to be seen."""
    around = outlines(decided.cells, decided.classes)
    size = float((decided.cells.high - decided.cells.low).min())
    thin = [
        [simplified(ring, _FINE * size) for ring in around.get(label, [])]
        for label in range(CLASSES)
    ]
    return [[_short(ring) for ring in rings if len(ring) > 2] for rings in thin]


def _short(points: np.ndarray) -> list[Any]:
    """Points with three decimals."""
    listed: list[Any] = (np.round(points, 3) + 0.0).tolist()
    return listed


def group(result: Result, depth: int, ridge: bool, start: str = TORCH) -> tuple[Run, ...]:
    """The runs of one depth and start, with or without ridge."""
    runs = result.where(depth=depth, start=start)
    return tuple(run for run in runs if (run.settings["ridge"] > 0) == ridge)


def second(run: Run) -> float:
    """s_2/s_1 of the Jacobian at the data, by the medians of both."""
    first, other = run.measured["singular_values"][:2]
    return float(other / first) if first else 0.0
