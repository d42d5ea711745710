"""bottleneck.figure-2: a network that predicts the losses of descent learns their symmetry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.result import Audit
from rankcheck.experiments.audited import Measured, measured_runs
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.figures.symmetry_measures import COLLAPSED, measure
from rankcheck.experiments.figures.symmetry_task import Task
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.statistics import span, tally
from rankcheck.experiments.training import Schedule
from rankcheck.networks.network import Network

__all__ = ["EXPERIMENT"]

#: What the groups share; see `Task` and `Stack`.
_COMMON: dict[str, Any] = {
    "inputs": 8,
    "points": 400,
    "width": 50,
    "depth": 25,
    "ridge": 0.001,
    "noise": 0.005,
    "descent_steps": 12,
    "descent_rate": 0.03,
    "steps": 8000,
    "rate": 0.006,
    "warm": 500,
    "paths": 48,
}
_TINY: dict[str, Any] = {"inputs": 3, "points": 10, "width": 4, "depth": 4, "steps": 20, "paths": 6}
_PAPER: dict[str, Any] = {
    "inputs": 20,
    "points": 500,
    "width": 200,
    "ridge": 0.0002,
    "steps": 40000,
    "rate": 0.001,
    "warm": 1000,
}
#: What the groups differ in.
_GROUPS: dict[str, dict[str, Any]] = {
    "deep": {},
    "noisy": {"noise": 0.3},
    "shallow": {"depth": 3},
    "no-ridge": {"ridge": 0.0},
}
#: The groups whose first run is drawn.
_DRAWN = ("deep", "noisy")
#: The schedules of the controls at small scale.
_SHORTER: dict[str, dict[str, Any]] = {
    "noisy": {"steps": 3000},
    "shallow": {"steps": 4000},
    "no-ridge": {"steps": 1200, "rate": 0.001, "warm": 200},
}


class Symmetry(Experiment):
    """Deep networks, deep ones for a task without the symmetry, and shallow ones."""

    name = "bottleneck.figure-2"
    title = "A deep network learns the rotation symmetry of its task"
    place = "bottleneck, Figure 2 and Section 5"

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        """The same seeds for each group, so that groups differ in one setting alone."""
        scaled: dict[str, Any] = {"tiny": _TINY, "small": {}, "paper": _PAPER}[scale]
        seeds = tuple(1000 * seed + run for run in range(1 if scale == "tiny" else 5))
        parts = []
        for group, changed in _GROUPS.items():
            shorter = _SHORTER.get(group, {}) if scale == "small" else {}
            settings = _COMMON | scaled | changed | shorter | {"group": group}
            parts.append(Part(group, settings, seeds))
        return parts

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        """Train the networks of a group side by side, and measure each."""
        settings = part.settings
        draws = generators(part.seeds)
        made = [Task.drawn(settings, draw) for draw in draws]
        hidden_widths = [settings["width"]] * (settings["depth"] - 1)
        widths = [settings["inputs"], *hidden_widths, settings["descent_steps"]]
        stack = Stack.random(widths, draws, device=place.device)
        x = torch.stack([points for _, points, _ in made]).to(place.device, torch.float32)
        y = torch.stack([values for _, _, values in made]).to(place.device, torch.float32)

        def error(out: Tensor) -> Tensor:
            return (out - y).square().mean((-1, -2))

        schedule = Schedule(settings["steps"], settings["rate"], settings["warm"])
        place.train(stack, error, x, settings["ridge"], schedule)

        def measure_run(number: int, net: Network, audit: Audit) -> Measured:
            task, *data = made[number]
            seed, paths = part.seeds[number], settings["paths"]
            measured, drawn = measure(net, task, data, paths, seed)
            shown = number == 0 and settings["group"] in _DRAWN
            return measured, drawn if shown else {}

        points = [points for _, points, _ in made]
        return measured_runs(part, place, stack, points, measure_run)

    def findings(self, result: Result) -> Sequence[Finding]:
        """The three panels."""
        return tuple(_panels(result.where(group="deep")))


EXPERIMENT = Symmetry()


def _panels(runs: Sequence[Run]) -> Iterator[Finding]:
    """What the deep networks show."""
    first = runs[0]
    layers, paths = first.settings["depth"] - 2, first.settings["paths"]
    layer = first.measured["crossing_layer"]
    near = [run.audit.near_one[1:-1] for run in runs if run.audit is not None]
    ranks = [run.audit.rank for run in runs if run.audit is not None]
    outliers = [run.measured["outliers"] for run in runs]
    twos, above = ([list(n).count(2) for n in each] for each in (near, (o[1:-1] for o in outliers)))
    yield Finding(
        r"Layers $W_2, \dots, W_{L-1}$ with two outliers",
        "two outliers in the bottleneck",
        f"two singular values within 1/4 of 1 in {span(twos)} of {layers} layers; two above "
        f"1/2 in {span(above)}",
        2 * min(twos) > layers,
    )
    yield Finding(
        "Rank of the Jacobian at most points of the data",
        "2, the true rank",
        tally(ranks),
        all(rank == 2 for rank in ranks),
    )
    crossing, at_all = (
        [run.measured[name]["layer"] for run in runs] for name in ("crossing", "crossing_at_all")
    )
    yield Finding(
        rf"Pairs of descent paths that cross in two principal components of $\alpha_{layer}$",
        "images of the paths do not cross",
        f"at more than 30°, {span(crossing)} of {paths * (paths - 1) // 2} pairs; at any angle, "
        f"{span(at_all)}",
        max(crossing) == 0,
    )
    rotated = [run.measured["rotation_shares"][2] for run in runs]
    yield Finding(
        r"Share of the variance of $\alpha_2$ that is within orbits of the rotations about $w$",
        "all points on the same orbit are collapsed",
        span(rotated),
        max(rotated) <= COLLAPSED,
    )
    circles = [run.measured["circle_share"] for run in runs]
    yield Finding(
        r"Share of the variance of $\|\alpha_2(x) - \alpha_2(x_0)\|$ that is within circles",
        "constant on circles",
        span(circles),
        max(circles) <= 2 * COLLAPSED,
    )
