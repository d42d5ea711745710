r"""bottleneck.figure-1: the parameter norm against the depth, and the rank in the middle.

Points x = g(z) in R^20 with z normal in R^8, values y = h(z_1, z_2) in R^20, both functions random
shallow networks. Networks of many depths learn the same task and minimise

.. math:: \frac 1 N \sum_i \|f(x_i) - y_i\|^2 + 0.001 \|\theta\|^2,

for values of mean 0 and mean squared norm 1. A run is one depth on one task; the runs of one seed
are the curve ‖θ‖² against L on that task, which is affine where the rank is constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import linear_regression
from typing import Any

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
from rankcheck.experiments.figures.tasks import latent_task
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.training import Schedule, train
from rankcheck.networks.network import Network

__all__ = [
    "EXPERIMENT",
    "FITTED",
    "HALF",
    "NormAgainstDepth",
    "Range",
    "curves",
    "falling",
    "ranges",
    "slope_of",
]

#: The gain of the first weights.
GAIN = 1.1
#: λ, and the rank of the task.
RIDGE, USED = 0.001, 2
#: A singular value of W_{L/2} counts for the rank if it is nearer to 1 than to 0.
COUNTED = 0.5
#: The document's threshold.
PRINTED = 0.1
#: A network has fitted its data if the error is below, as in the document; that of 0 is 1.
FITTED = 0.1
#: So many singular values are kept, and drawn.
SHOWN = 8
#: So many of the points are audited, as the theorems take seconds on all of them.
AUDITED = 20
#: Networks of a smaller depth are trained three times as long.
SHALLOW = 10
#: Between the seeds of two experiments; a part has fewer runs.
APART = 1000
#: A slope that is nearer to the rank than this is nearest to it among the whole numbers.
HALF = 0.5
#: A range of depths has at least so many, so that a line through them can fail to fit.
LEAST = 3


@dataclass(frozen=True)
class Range:
    """Successive depths at which the networks of one task have one rank, and the line of ‖θ‖².

    Attributes:
        rank: of W_{L/2}.
        depths: at all of which the networks fit the data.
        slope, start: ‖θ‖² ≈ slope · L + start, by least squares.
        off: the largest distance of a network to the line, in ‖θ‖².
    """

    rank: int
    depths: tuple[int, ...]
    slope: float
    start: float
    off: float


def curves(runs: Iterable[Run]) -> list[list[Run]]:
    """The runs of each seed in the order of their depths."""
    found: dict[int, list[Run]] = {}
    for run in runs:
        found.setdefault(run.seed, []).append(run)
    return [sorted(curve, key=lambda run: run.settings["depth"]) for curve in found.values()]


def ranges(curve: Sequence[Run], *, least: int = LEAST) -> list[Range]:
    """The ranges of at least so many successive depths of a curve, from the smallest depth on.

    A network that does not fit the data ends a range.
    """
    found = []
    for (rank, fits), group in groupby(curve, key=_kind):
        runs = list(group)
        if not fits or len(runs) < least:
            continue
        depths = [run.settings["depth"] for run in runs]
        norms = [run.measured["norm"] for run in runs]
        slope, start = linear_regression(depths, norms)
        off = max(abs(n - slope * d - start) for d, n in zip(depths, norms, strict=True))
        found.append(Range(rank, tuple(depths), slope, start, off))
    return found


def _kind(run: Run) -> tuple[int, bool]:
    return run.measured["rank"], run.measured["error"] <= FITTED


class NormAgainstDepth(Experiment):
    """Networks of many depths on tasks of rank 2."""

    name = "bottleneck.figure-1"
    title = "Over ranges of depths the parameter norm is affine, with the rank as its slope"
    place = "Figure 1 and Appendix E of `bottleneck`"
    question = r"""
Of a function $f$ of rank $k$ the theory says that the least norm of parameters is
$\|\theta\|^2 = kL + R^{(1)}(f) + o(1)$: one for each layer and each dimension that is carried
through it, and a number that does not depend on the depth. Whether training finds such networks is
a question of its own. If it does, networks of all depths that learn one task, and have the same
number of dimensions in their middle, lie on a line of $\|\theta\|^2$ against $L$ whose slope is
that number.

Had this been false, the slope would not have been the number of dimensions: it would have been
smaller if every layer of a deeper network had smaller singular values, and larger if a further
layer did more than to pass $k$ dimensions on, as it does without ridge, where a layer costs what
its first weights cost. Or there would have been no line, or more dimensions at larger depths.
"""
    differences = (
        "Width, number of points, steps, first weights and the scale of the data are not printed. "
        "Here the width is 40, N = 150, there are 3000 steps of Adam with all points (9000 for the "
        "depths 5, 7 and 9), and normal first weights of the gain 1.1; the points have entries of "
        "mean square 1, and the values mean 0 and mean squared norm 1, so that the network 0 has "
        "the error 1.",
        "The document trains at about every depth to 30, most likely on one data set. Here there "
        "are eight depths to 25, and five data sets, each of them learnt at every depth.",
        "The rank is the number of singular values of W in the middle above 0.5, in the document "
        "above 0.1: after so few steps weights that nothing needs are still at 0.1 to 0.3 in deep "
        "networks. Both numbers are kept.",
        "The audits take the first 20 of the 150 points.",
    )

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        first = APART * seed
        settings: dict[str, Any] = {
            "tiny": {"points": 20, "latent": 3, "size": 4, "width": 16, "rate": 1e-2, "steps": 30},
            "small": {"points": 150, "latent": 8, "size": 20, "width": 40, "rate": 8e-3}
            | {"steps": 3000},
            "paper": {"points": 500, "latent": 8, "size": 20, "width": 100, "rate": 2e-3}
            | {"steps": 40_000},
        }[scale]
        depths: Sequence[int] = {
            "tiny": (3, 4, 5),
            "small": (5, 7, 9, 11, 13, 16, 20, 25),
            "paper": range(3, 31),
        }[scale]
        without: Sequence[int] = (3, 4, 5) if scale == "tiny" else (7, 9, 11)
        seeds = tuple(range(first, first + {"tiny": 1, "small": 5, "paper": 8}[scale]))
        short = max(settings["steps"] // 4, 20)

        def part(name: str, depth: int, ridge: float, steps: int) -> Part:
            said = settings | {"depth": depth, "ridge": ridge, "steps": steps}
            return Part(f"{name}-{depth}", said, seeds)

        def steps(depth: int) -> int:
            """In shallow networks weights that nothing needs take longer to decay."""
            return int(settings["steps"]) * (3 if scale == "small" and depth < SHALLOW else 1)

        return (
            *(part("depth", L, RIDGE, steps(L)) for L in depths),
            *(part("no-ridge", L, 0.0, short) for L in without),
        )

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        said = part.settings
        depth, size = said["depth"], said["size"]
        draws = generators(part.seeds)
        x, y = latent_task(
            draws, said["points"], latent=said["latent"], inputs=size, used=USED, outputs=size
        )
        y = y / size**0.5
        stack = Stack.random([size, *[said["width"]] * (depth - 1), size], draws, gain=GAIN)
        stack.weights = [W.to(place.device) for W in stack.weights]
        stack.biases = [b if b is None else b.to(place.device) for b in stack.biases]
        points, values = x.to(place.device), y.to(place.device)

        def error(outputs: Tensor) -> Tensor:
            return (outputs - values).square().sum(-1).mean(-1)

        train(
            stack,
            error,
            points,
            said["ridge"],
            Schedule(said["steps"], said["rate"]),
            checkpoint=place.checkpoint(part),
            told=place.steps(said["steps"], 0.0, 0.8),
        )
        errors = error(stack(points)).detach().tolist()

        def measure_run(number: int, net: Network, found: Audit) -> Measured:
            middle = found.layers[(depth + 1) // 2 - 1].singular_values
            measured = {
                "error": errors[number],
                "steps": said["steps"],
                "norm": found.model.cost,
                "rank": sum(s > COUNTED for s in middle),
                "above_tenth": sum(s > PRINTED for s in middle),
                "middle": list(middle[:SHOWN]),
            }
            return measured, _drawn(found) if number == 0 and said["ridge"] else {}

        audited = x[:, :AUDITED].double()
        return measured_runs(part, place, stack, audited, measure_run, begin=0.8)

    def findings(self, result: Result) -> Sequence[Finding]:
        trained = curves(run for run in result.runs if run.settings["ridge"])
        without = curves(run for run in result.runs if not run.settings["ridge"])
        found = [one for curve in trained for one in ranges(curve)]
        near = [abs(one.slope - one.rank) < HALF for one in found]
        falls = [falling(curve) for curve in trained]
        all_ = [run for curve in trained for run in curve]
        same = sum(run.measured["rank"] == run.measured["above_tenth"] for run in all_)
        total = len(all_)
        failed = [run for run in all_ if run.measured["error"] > FITTED]
        return (
            Finding(
                r"the slope of $\|\theta\|^2$ against $L$ in a range of depths with one rank",
                "the rank",
                "; ".join(
                    f"rank {rank}: {_several(one.slope for one in found if one.rank == rank)}"
                    for rank in sorted({one.rank for one in found})
                ),
                bool(near) and all(near),
                f"Lines by least squares through at least {LEAST} successive depths; "
                f"{sum(near)} of {len(near)} slopes are nearer to the rank than to any other "
                f"whole number. {sum(one.rank > USED for one in found)} of {len(found)} ranges "
                f"have a larger rank than the task, which is {USED}, and that as their slope. "
                "In deep networks some weights that nothing needs have not decayed yet, which "
                "raises the slopes a little.",
            ),
            Finding(
                r"the distance of $\|\theta\|^2$ to that line",
                "well approximated",
                f"at most {max((one.off for one in found), default=0.0):.2g}, of a norm between "
                f"{min(run.measured['norm'] for run in all_):.0f} and "
                f"{max(run.measured['norm'] for run in all_):.0f}",
                None,
            ),
            Finding(
                "the rank against the depth",
                "larger depths lead to smaller rank",
                "; ".join(_ranks(curve) for curve in trained),
                sum(falls) > len(falls) / 2,
                f"A row of ranks for each data set, at the depths {_depths(trained)}; it "
                f"never rises in {sum(map(_never_rises, trained))} of {len(trained)}. Counted "
                f"above {PRINTED:g} as in the document, it is the same in {same} of {total} "
                "networks.",
            ),
            Finding(
                "depths at which training fails",
                "L > 25, at the parameters 0",
                f"{len(failed)} of {total} networks"
                + "".join(f"; {_failure(run)}" for run in failed),
                None,
                f"The error of the network 0 is 1, and an error above {FITTED:g} has failed, as in "
                "the document.",
            ),
            Finding(
                "without ridge",
                "not shown",
                f"slopes {_several(slope_of(curve) for curve in without)} at the depths "
                f"{_depths(without)}",
                None,
                "The control group.",
            ),
        )


def slope_of(curve: Sequence[Run]) -> float:
    """The slope of ‖θ‖² against L over all depths of a curve, whatever the ranks."""
    depths = [run.settings["depth"] for run in curve]
    return linear_regression(depths, [run.measured["norm"] for run in curve])[0]


def falling(curve: Sequence[Run]) -> bool:
    """Whether the rank is least at the largest depth, and smaller than at the smallest depth."""
    found = [run.measured["rank"] for run in curve]
    return found[-1] == min(found) < found[0]


def _never_rises(curve: Sequence[Run]) -> bool:
    found = [run.measured["rank"] for run in curve]
    return found == sorted(found, reverse=True)


def _several(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def _ranks(curve: Sequence[Run]) -> str:
    return " ".join(str(run.measured["rank"]) for run in curve)


def _depths(some: Sequence[Sequence[Run]]) -> str:
    return ", ".join(str(run.settings["depth"]) for run in some[0])


def _failure(run: Run) -> str:
    said = run.settings["depth"], run.measured["error"]
    return f"L = {said[0]} with the error {said[1]:.2g} and rank {run.measured['rank']}"


def _drawn(found: Audit) -> dict[str, Any]:
    return {"weights": [list(layer.singular_values[:SHOWN]) for layer in found.layers]}


EXPERIMENT = NormAgainstDepth()
