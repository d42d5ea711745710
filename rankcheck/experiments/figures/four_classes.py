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
from rankcheck.experiments.audited import Measured, measured_runs
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.statistics import LEVEL, sign_test
from rankcheck.experiments.training import Schedule
from rankcheck.networks.network import Network
from rankcheck.regions.decision import Decision, decision
from rankcheck.regions.outlines import outlines, simplified

__all__ = ["EXPERIMENT", "MARGIN", "MARGINS", "fits", "inverted_s"]

CLASSES = 4
SHALLOW, DEEP = 2, 9
#: λ, the same for both depths.
RIDGE = 3e-4
NOISE = 0.05
#: The standard deviation of the first weights times √n_{l−1}, that of the default of torch.
GAIN = 1 / math.sqrt(3)
#: The box in which tripoints are counted: that of the data, with this share of its sides added on
#: each side. The figure shows this one, and the claim counts there.
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
    title = "Four classes in the plane"
    place = "rank, Figure 2"
    pilots = 0  # what was chosen was chosen on the record

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
                f"depth-{depth}-{'ridge' if ridge else 'no-ridge'}",
                {"depth": depth, "ridge": ridge, "rate": 0.005, **size},
                seeds,
            )
            for depth in (SHALLOW, DEEP)
            for ridge in (0.0, RIDGE)
        ]

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        settings = part.settings
        draws = generators(part.seeds)
        x = torch.stack([inverted_s(settings["points"], draw) for draw in draws]).flatten(1, 2)
        y = torch.arange(CLASSES).repeat_interleave(settings["points"])
        widths = [2, *[settings["width"]] * (settings["depth"] - 1), CLASSES]
        stack = Stack.random(widths, draws, gain=GAIN, device=place.device)
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
                "singular_values": [value.median for value in values],
            }
            return measured | counts(net, X), drawing(net, X, data=first) if number == 0 else {}

        return measured_runs(part, place, stack, points, measure_run)

    def findings(self, result: Result) -> Sequence[Finding]:
        findings = []
        for depth, printed in ((DEEP, "none"), (SHALLOW, "some")):
            for ridge in (True, False):
                runs = group(result, depth, ridge)
                tripoints = [run.measured["tripoints"] for run in runs]
                count = sum(
                    fits(run) and (number > 0) == (printed == "some")
                    for run, number in zip(runs, tripoints, strict=True)
                )
                p = sign_test(count, len(runs))
                findings.append(
                    Finding(
                        f"tripoints at depth {depth}, {'with' if ridge else 'without'} ridge, in "
                        "the box of the figure",
                        printed,
                        f"{printed} in {count} of {len(runs)} runs, p = {p:.2g}; by run "
                        f"{', '.join(map(str, tripoints))}; {sum(map(fits, runs))} fit all their "
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


def counts(net: Network, X: Tensor) -> dict[str, Any]:
    """How many tripoints a classifier has in the boxes around its data, all found in the largest.

    Returns:
        `tripoints` in the box of the figure, and `tripoints_by_margin` in those of `MARGINS`.
    """
    decided = decision(net, *enlarged(X, max(MARGINS)))
    points = decided.junctions()
    by_margin = []
    for margin in MARGINS:
        low, high = (corner.numpy() for corner in enlarged(X, margin))
        by_margin.append(int(((low <= points) & (points <= high)).all(axis=1).sum()))
    return {
        "tripoints": by_margin[MARGINS.index(MARGIN)],
        "tripoints_by_margin": by_margin,
    }


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


def group(result: Result, depth: int, ridge: bool) -> tuple[Run, ...]:
    """The runs of one depth, with or without ridge."""
    return tuple(run for run in result.where(depth=depth) if (run.settings["ridge"] > 0) == ridge)


def second(run: Run) -> float:
    """s_2/s_1 of the Jacobian at the data, by the medians of both."""
    first, other = run.measured["singular_values"][:2]
    return float(other / first) if first else 0.0
