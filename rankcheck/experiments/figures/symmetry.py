"""bottleneck.figure-2: a network that predicts the losses of descent learns their symmetry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.result import Audit
from rankcheck.experiments.audited import Measured, measured_runs
from rankcheck.experiments.base import (
    Experiment,
    Finding,
    Part,
    Place,
    Scale,
)
from rankcheck.experiments.figures.symmetry_measures import COLLAPSED, few_crossings, measure
from rankcheck.experiments.figures.symmetry_task import Task
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.training import Schedule, train
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


_QUESTION = r"""
Gradient descent on $C(v) = \|vv^T - (ww^T + E)\|_F^2$ moves a vector $v \in \mathbb R^d$. For
small $E$ the losses along its path depend on the start through two numbers alone, $(w^T v)^2$
and $\|(1 - ww^T) v\|^2$: they are invariant under rotations about $w$ and under $w \mapsto -w$.
A network is trained to predict the next $T$ losses from $v(0)$, and is told nothing of $w$. The
conjecture says that a deep network with a ridge finds the two numbers, because a function
through $\mathbb R^2$ costs two per layer and any other one more.

Had it been false, more than two singular values would stand out in the middle layers; the
points of an orbit would be as far apart in $\alpha_2$ as in the inputs, where half of the
variance is within orbits; and the paths of the descent, drawn in two coordinates of $\alpha_6$,
would cross as they do in two numbers that are not the right ones. Three groups of controls show
what this looks like: networks for entries of $E$ of standard deviation 0.3, where the symmetry
is broken; networks of depth 3; and networks without a ridge.

A *crossing* is one at more than 30 degrees. Discrete paths that run beside each other cross at
small angles even in the exact statistics, as $E$ is not 0 and steps are not short, so these
count for nothing; all of them are given as well.
"""

_DIFFERENCES = (
    "The document gives the depth 25, the width 200 and the ridge 0.0002. At scale small the "
    "width is 50; at scale paper it is 200.",
    "The ridge is 0.001 at scale small. The document does not say how its error and its outputs "
    "are scaled, on which the meaning of a ridge depends: here the error is the mean square "
    "over points and outputs, and the outputs have mean 0 and mean square 1. In a trial with "
    "0.0002 (d = 10, width 60, 6 000 steps, two runs) the rank of the Jacobian was two, the "
    "orbits collapsed in later layers, and layers had 2 to 7 singular values near 1.",
    "The document does not say d, T, the step size, the number of points, E, or how v(0) is "
    "drawn: here d = 8 (20 at scale paper), T = 12, 0.03, 400 (500), and normal entries of "
    "standard deviation 0.005. Of v(0), the part along w is uniform in [−1.3, 1.3] and the "
    "distance to the axis uniform in [0, 1.3]; for normal v(0) of many entries both statistics "
    "would hardly vary.",
    "Adam on all points at once, from weights of He and biases 0, with half a cosine of "
    "learning rates; the document names no optimiser. The controls are trained for fewer steps, "
    "and those for E of order one have not converged.",
    "Scale paper has not been run to its end: on one core it takes about three hours a group.",
    "Orbits, paths and distances are those of new points, which the network was not trained on.",
)


class Symmetry(Experiment):
    """Deep networks, deep ones for a task without the symmetry, and shallow ones."""

    name = "bottleneck.figure-2"
    title = "A deep network learns the rotation symmetry of its task"
    place = "bottleneck, Figure 2 and Section 5"
    question = _QUESTION
    differences = _DIFFERENCES

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
        said = part.settings
        draws = generators(part.seeds)
        made = [Task.drawn(said, draw) for draw in draws]
        hidden_widths = [said["width"]] * (said["depth"] - 1)
        widths = [said["inputs"], *hidden_widths, said["descent_steps"]]
        stack = Stack.random(widths, draws, device=place.device)
        x = torch.stack([points for _, points, _ in made]).to(place.device, torch.float32)
        y = torch.stack([values for _, _, values in made]).to(place.device, torch.float32)

        def error(out: Tensor) -> Tensor:
            return (out - y).square().mean((-1, -2))

        before = [stack.network(number) for number in range(stack.runs)]
        schedule = Schedule(said["steps"], said["rate"], said["warm"])
        train(
            stack,
            error,
            x,
            said["ridge"],
            schedule,
            checkpoint=place.checkpoint(part),
            told=place.steps(schedule.steps, 0.0, 0.9),
        )

        def measure_run(number: int, net: Network, found: Audit) -> Measured:
            task, points, values = made[number]
            seed, data = part.seeds[number], (points, values)
            measured, drawn = measure(before[number], net, task, data, said["paths"], seed)
            shown = number == 0 and said["group"] in _DRAWN
            return measured | {"steps": schedule.steps}, drawn if shown else {}

        points = [points for _, points, _ in made]
        return measured_runs(part, place, stack, points, measure_run, begin=0.9)

    def findings(self, result: Result) -> Sequence[Finding]:
        """The three panels, then the controls, which the document does not have."""
        return (*_panels(result.where(group="deep")), *_controls(result))


def _panels(runs: Sequence[Run]) -> tuple[Finding, ...]:
    """What the deep networks show."""
    first = runs[0]
    middle = [run.audit.near_one[1:-1] for run in runs if run.audit is not None]
    twos = [sum(count == 2 for count in counts) for counts in middle]
    above = [sum(count == 2 for count in run.measured["outliers"][1:-1]) for run in runs]
    most = [max(counts) for counts in zip(*(r.measured["outliers"] for r in runs), strict=True)]
    ranks = [run.audit.rank for run in runs if run.audit is not None]
    layers = first.settings["depth"] - 2
    pairs = first.settings["paths"] * (first.settings["paths"] - 1) // 2
    crossing = {key: [run.measured["crossing"][key] for run in runs] for key in _PLANES}
    at_all = {key: [run.measured["crossing_at_all"][key] for run in runs] for key in _PLANES}
    layer = first.measured["crossing_layer"]
    flat = [sum(run.measured["plane_shares_inputs"][:2]) for run in runs]
    rotated = _at("rotation_shares", runs, 2)
    return (
        Finding(
            r"Layers $W_2, \dots, W_{L-1}$ with two outliers",
            "two outliers in the bottleneck",
            f"two singular values within 1/4 of 1 in {_span(twos)} of {layers} layers; two above "
            f"1/2 in {_span(above)}",
            2 * min(twos) > layers,
            r"Above 1/2, by layer from $W_1$ to $W_L$, the most of all runs: "
            f"{', '.join(map(str, most))}.",
        ),
        Finding(
            "Rank of the Jacobian at most points of the data",
            "2, the true rank",
            _counts(ranks),
            all(rank == 2 for rank in ranks),
        ),
        Finding(
            rf"Pairs of descent paths that cross in two principal components of $\alpha_{layer}$",
            "images of the paths do not cross",
            f"at more than 30°, {_span(crossing['layer'])} of {pairs} pairs; at any angle, "
            f"{_span(at_all['layer'])}",
            max(crossing["layer"]) == 0,
            f"In $(|w^T v|, |u^T v|)$, which are no summary statistics, "
            f"{_span(crossing['others'])} pairs cross at more than 30°, {_span(at_all['others'])} "
            f"at any angle; in the exact statistics {_span(crossing['statistics'])} and "
            f"{_span(at_all['statistics'])}; in the layer before the training "
            f"{_span(crossing['before'])} and {_span(at_all['before'])}. The claim asks for "
            "at most half as many as in the first of these, which is so in "
            f"{sum(few_crossings(run) for run in runs)} of {len(runs)} runs.",
        ),
        Finding(
            rf"Share of the variance of $\alpha_{layer}$ in two principal components",
            "",
            _span([sum(run.measured["plane_shares"][:2]) for run in runs], 4),
            None,
            f"Of the inputs it is {_span(flat)}.",
        ),
        Finding(
            r"Share of the variance of $\alpha_2$ that is within orbits of the rotations about $w$",
            "all points on the same orbit are collapsed",
            _span(rotated),
            max(rotated) <= COLLAPSED,
            f"Of the inputs it is {_span(_at('rotation_shares', runs, 0))}; of $\\alpha_2$ before "
            f"the training, {_span(_at('rotation_shares_before', runs, 2))}; of $f$, "
            f"{_span(_at('rotation_shares', runs, -1))}.",
        ),
        Finding(
            r"Share of the variance of $\|\alpha_2(x) - \alpha_2(x_0)\|$ that is within circles",
            "constant on circles",
            _span([run.measured["circle_share"] for run in runs]),
            max(run.measured["circle_share"] for run in runs) <= 2 * COLLAPSED,
            "Circles about the axis, in one plane orthogonal to $w$.",
        ),
        Finding(
            r"The same share for the pairs $\{v, v - 2 (w^T v) w\}$, in $\alpha_2$ and in $f$",
            "",
            f"{_span(_at('reflection_shares', runs, 2))} and "
            f"{_span(_at('reflection_shares', runs, -1))}",
            None,
            rf"In $\alpha_{layer}$ it is {_span(_at('reflection_shares', runs, layer))}. The task "
            "is invariant under $w \\mapsto -w$ as well, of which the figure does not speak.",
        ),
        Finding(
            "Error on the data, and on new points",
            "",
            f"{_span([run.measured['error'] for run in runs])} and "
            f"{_span([run.measured['test_error'] for run in runs])}",
            None,
            "The error of the best constant is 1.",
        ),
    )


def _controls(result: Result) -> tuple[Finding, ...]:
    """What the other groups show."""
    found = []
    for group, words in _WORDS.items():
        runs = result.where(group=group)
        near = [count for run in runs if run.audit for count in run.audit.near_one[1:-1]]
        above = [count for run in runs for count in run.measured["outliers"][1:-1]]
        ranks = [run.audit.rank for run in runs if run.audit is not None]
        pairs = [run.measured["crossing"] for run in runs]
        task = _span([run.measured["rotation_share_of_the_task"] for run in runs])
        found.append(
            Finding(
                f"Control: {words}",
                "",
                f"singular values near 1: {_span(near)}, above 1/2: {_span(above)}; rank of the "
                f"Jacobian: {_counts(ranks)}; within orbits, of $\\alpha_2$ "
                f"{_span(_at('rotation_shares', runs, 2))}, of $f$ "
                f"{_span(_at('rotation_shares', runs, -1))}; crossings "
                f"{_span([each['layer'] for each in pairs])}, against "
                f"{_span([each['others'] for each in pairs])}",
                None,
                f"Errors on the data are {_span([run.measured['error'] for run in runs])}. Within "
                f"orbits, the function that is learnt has {task} of its variance.",
            )
        )
    return tuple(found)


#: The planes in which crossings are counted, for the findings.
_PLANES = ("layer", "before", "statistics", "others")
_WORDS = {
    "noisy": "entries of $E$ of standard deviation 0.3, so that the task has no symmetry",
    "shallow": "depth 3",
    "no-ridge": "no ridge",
}


def _at(name: str, runs: Sequence[Run], layer: int) -> list[float]:
    """What was measured in one layer, of each run."""
    return [run.measured[name][layer] for run in runs]


def _span(values: Sequence[float], digits: int = 2) -> str:
    """The smallest and the largest of several numbers.

    >>> _span([3, 2, 4]), _span([0.123456])
    ('2 to 4', '0.12')
    """
    low, high = (
        f"{value}" if isinstance(value, int) else f"{value:.{digits}g}"
        for value in (min(values), max(values))
    )
    return low if low == high else f"{low} to {high}"


def _counts(values: Sequence[int]) -> str:
    """How often each value occurs.

    >>> _counts([2, 2, 3])
    '2 in 2 of 3 runs, 3 in 1 of 3 runs'
    """
    times = sorted(Counter(values).items())
    return ", ".join(f"{value} in {count} of {len(values)} runs" for value, count in times)


EXPERIMENT = Symmetry()
