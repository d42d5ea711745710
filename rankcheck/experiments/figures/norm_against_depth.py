r"""bottleneck.figure-1: the parameter norm against the depth, and the rank in the middle.

Points x = g(z) in R^20 with z normal in R^8, values y = h(z_1, z_2) in R^20, both functions random
shallow networks. Networks of many depths learn the same task and minimise

.. math:: \frac 1 N \sum_i \|f(x_i) - y_i\|^2 + 0.001 \|\theta\|^2,

for values of mean 0 and mean squared norm 1. A run is one depth on one task; the runs of one seed
are the curve ‖θ‖² against L on that task, which in print is affine where the rank is constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import linear_regression
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.result import Audit
from rankcheck.experiments.audited import Measured, measured_runs, short
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.figures.tasks import learners
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.statistics import span
from rankcheck.experiments.training import Schedule
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
    "shallow_range",
    "worse_fit",
]

#: The gain of the first weights.
GAIN = 1.1
#: λ, and the rank of the task.
RIDGE, USED = 0.001, 2
#: A singular value of W_{L/2} counts for the rank if it is nearer to 1 than to 0.
COUNTED = 0.5
#: In the document it counts if it is above.
PRINTED = 0.1
#: A network has fitted its data if the error is below, as in the document; that of 0 is 1.
FITTED = 0.1
#: So many singular values are kept, and drawn.
SHOWN = 8
#: So many of the points are audited, as the theorems take seconds on all of them.
AUDITED = 20
#: The shallow depths, at which the networks of a task have one rank.
SHALLOW = (5, 7, 9)
#: Between the seeds of two experiments; a part has fewer runs.
APART = 1000
#: A slope that is nearer to the rank than this is nearest to it among the whole numbers.
HALF = 0.5
#: Up to this depth training succeeds in the document.
LARGEST = 25
#: A range of depths has at least so many, so that a line through them can fail to fit.
LEAST = 3


@dataclass(frozen=True)
class Range:
    """Successive depths at which the networks of one task have one rank, and the line of ‖θ‖².

    Attributes:
        rank: of W_{L/2}.
        depths: at all of which the networks fit the data.
        slope, start: ‖θ‖² ≈ slope · L + start, by least squares.
    """

    rank: int
    depths: tuple[int, ...]
    slope: float
    start: float


def curves(runs: Iterable[Run]) -> list[list[Run]]:
    """The runs of each seed in the order of their depths."""
    curves: dict[int, list[Run]] = {}
    for run in runs:
        curves.setdefault(run.seed, []).append(run)
    return [sorted(curve, key=lambda run: run.settings["depth"]) for curve in curves.values()]


def ranges(curve: Sequence[Run], *, least: int = LEAST) -> list[Range]:
    """The ranges of at least so many successive depths of a curve, from the smallest depth on.

    A network that does not fit the data ends a range.
    """
    plateaus = []
    for (rank, fits), group in groupby(curve, key=_kind):
        runs = list(group)
        if not fits or len(runs) < least:
            continue
        depths = [run.settings["depth"] for run in runs]
        norms = [run.measured["norm"] for run in runs]
        slope, start = linear_regression(depths, norms)
        plateaus.append(Range(rank, tuple(depths), slope, start))
    return plateaus


def shallow_range(curve: Sequence[Run]) -> Range | None:
    """The range of the depths `SHALLOW`, if networks of one rank fit the data at all of them."""
    found = ranges([run for run in curve if run.settings["depth"] in SHALLOW])
    return found[0] if found and found[0].depths == SHALLOW else None


def worse_fit(curve: Sequence[Run]) -> float:
    """The error at the largest depth, as a multiple of that at the largest shallow one."""
    errors = {run.settings["depth"]: run.measured["error"] for run in curve}
    return float(errors[max(errors)] / errors[max(SHALLOW)])


def _kind(run: Run) -> tuple[int, bool]:
    return run.measured["rank"], run.measured["error"] <= FITTED


class NormAgainstDepth(Experiment):
    """Networks of many depths on tasks of rank 2."""

    name = "bottleneck.figure-1"
    title = "The parameter norm grows with the depth by less than the rank of the weights"
    place = "Figure 1 and Appendix E of `bottleneck`"

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        first = APART * seed
        settings: dict[str, Any] = {
            "tiny": {"points": 20, "latent": 3, "size": 4, "width": 16, "rate": 1e-2, "steps": 30},
            "small": {"points": 150, "latent": 8, "size": 20, "width": 40, "rate": 8e-3}
            | {"steps": 9000},
            "paper": {"points": 500, "latent": 8, "size": 20, "width": 100, "rate": 2e-3}
            | {"steps": 40_000},
        }[scale]
        depths: Sequence[int] = {
            "tiny": (3, 4, 5),
            "small": (5, 7, 9, 11, 13, 16, 20, 25),
            "paper": range(3, 31),
        }[scale]
        without: Sequence[int] = (3, 4, 5) if scale == "tiny" else SHALLOW
        small = 5 if seed < self.pilots else 8
        seeds = tuple(range(first, first + {"tiny": 1, "small": small, "paper": 8}[scale]))
        short = max(settings["steps"] // 4, 20)

        def part(name: str, depth: int, ridge: float, steps: int) -> Part:
            own = settings | {"depth": depth, "ridge": ridge, "steps": steps}
            return Part(f"{name}-{depth}", own, seeds)

        return (
            *(part("depth", L, RIDGE, settings["steps"]) for L in depths),
            *(part("no-ridge", L, 0.0, short) for L in without),
        )

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        settings = part.settings
        depth = settings["depth"]
        x, y, stack = learners(part, used=USED, gain=GAIN)
        stack = stack.to(place.device)
        points, values = x.to(place.device), y.to(place.device)

        def error(outputs: Tensor) -> Tensor:
            return (outputs - values).square().sum(-1).mean(-1)

        schedule = Schedule(settings["steps"], settings["rate"])
        place.train(stack, error, points, settings["ridge"], schedule)
        errors = error(stack(points)).detach().tolist()

        def measure_run(number: int, net: Network, audit: Audit) -> Measured:
            spectra = [layer.singular_values for layer in audit.layers]
            inside = spectra[(depth + 1) // 2 - 1]
            measured = {
                "error": errors[number],
                "norm": audit.model.cost,
                "rank": sum(s > COUNTED for s in inside),
                "above": sum(s > PRINTED for s in inside),
            }
            if number or not settings["ridge"]:
                return measured, {}
            return measured, {"weights": [short(torch.tensor(s[:SHOWN])) for s in spectra]}

        audited = x[:, :AUDITED].double()
        return measured_runs(part, place, stack, audited, measure_run)

    def findings(self, result: Result) -> Sequence[Finding]:
        trained = curves(run for run in result.runs if run.settings["ridge"])
        plateaus = [one for curve in trained for one in ranges(curve)]
        near = [abs(one.slope - one.rank) < HALF for one in plateaus]
        falls = [falling(curve) for curve in trained]
        deepest = [curve[-1] for curve in trained]
        last = deepest[0].settings["depth"]
        above = max(run.measured["error"] for run in deepest) > FITTED
        return (
            Finding(
                r"the slope of $\|\theta\|^2$ against $L$ in a range of depths with one rank",
                "the rank",
                "; ".join(
                    f"rank {rank}: {_several(one.slope for one in plateaus if one.rank == rank)}"
                    for rank in sorted({one.rank for one in plateaus})
                )
                + f"; nearest to the rank in {sum(near)} of {len(near)}"
                if plateaus
                else "no such range",
                bool(near) and all(near),
            ),
            Finding(
                f"the rank at the depths {_depths(trained)}, a row for each data set",
                "larger depths lead to smaller rank",
                _rows(trained, lambda run: run.measured["rank"]),
                sum(falls) > len(falls) / 2,
            ),
            Finding(
                "the rank of $Jf$ at most points, of the same networks",
                "",
                _rows(trained, lambda run: run.audit.rank if run.audit else 0),
                None,
            ),
            Finding(
                f"the error at the depth {last}",
                "above 0.1 beyond the depth 25, where the parameters become 0",
                f"{_range(run.measured['error'] for run in deepest)}, and "
                f"{_range(run.measured['error'] for curve in trained for run in curve[:1])} at the "
                f"depth {trained[0][0].settings['depth']}",
                above if last > LARGEST else None,
            ),
        )


def falling(curve: Sequence[Run]) -> bool:
    """Whether the rank is least at the largest depth, and smaller than at the smallest depth."""
    ranks = _curve_ranks(curve)
    return ranks[-1] == min(ranks) < ranks[0]


def _curve_ranks(curve: Sequence[Run]) -> list[int]:
    return [run.measured["rank"] for run in curve]


def _rows(curves: Sequence[Sequence[Run]], of: Callable[[Run], int]) -> str:
    return "; ".join(" ".join(str(of(run)) for run in curve) for curve in curves)


def _range(values: Iterable[float]) -> str:
    return span([float(value) for value in values])


def _several(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.2f}" for value in values)


def _depths(some: Sequence[Sequence[Run]]) -> str:
    return ", ".join(str(run.settings["depth"]) for run in some[0])


EXPERIMENT = NormAgainstDepth()
