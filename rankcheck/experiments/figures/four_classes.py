r"""Figure 2 of `rank`: four classes in the plane, and the points where three of them meet.

Class c = 0, ..., 3 is an inverted S, (x, y) = (c − 3/2 + sin πt, 3t/2) + noise for uniform t in
[−1, 1]. At every height y neighbouring classes are 1 apart, and one S is 2 wide, so that each
reaches over the columns of its neighbours, and no line separates two of them. In the coordinate
x − sin(2πy/3) they are four intervals: there is a classifier through $\mathbb R^1$.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from rankcheck.audit.ranks import TOLERANCE
from rankcheck.audit.result import Audit
from rankcheck.experiments.audited import Measured, measured_runs
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.statistics import LEVEL, sign_test
from rankcheck.experiments.training import Schedule, train
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

    name: ClassVar[str] = "rank.figure-2"
    title: ClassVar[str] = "Four classes in the plane"
    place: ClassVar[str] = "rank, Figure 2"
    question: ClassVar[str] = rf"""
A classifier $f = h \circ g$ through $\mathbb R^1$ orders its classes along a line, so three of them
meet nowhere: this is `rank.no-tripoints`, a theorem. Whether training finds such a classifier is
not. If large depth with the ridge, or with the implicit one of cross-entropy, leads to functions of
bottleneck rank one, then trained deep networks have no *tripoints*, points where three or more
classes meet, and shallow ones, which have no such preference, have some.

Each network is given to `rankcheck.regions.decision`, which lists its linear regions in a box with
the largest output of each, and the vertices where three classes meet: nothing is read off a
picture. The box is that of the data, enlarged by half of its sides on each side.

Had it been false, the networks of depth {DEEP} would have tripoints as often as those of depth
{SHALLOW}, of which most have one to three, and their Jacobians would have a second singular value
that is a fair share of the first, as at depth {SHALLOW}, where it is 0.15 to 0.44. A network
that gives all points one class has no tripoints either, so only those count that fit all their
points.
"""
    differences: ClassVar[tuple[str, ...]] = (
        "Width, number of points, noise, ridge and steps are not printed; nor are the amplitude "
        "and the distance of the S shapes. The figure shows one network of each kind, here "
        "every kind has several seeds, each with its own data.",
        "The box of the figure is not printed. Tripoints lie outside of the data, so their number "
        "depends on it; it is given for four boxes.",
        "Training has a fixed number of steps of Adam on all points at once. Without ridge the "
        "cross-entropy has no minimum, and the norm of the weights still grows at the end.",
        "Weights begin as independent normal numbers with the variance 1/(3n) of the default of "
        "torch.nn.Linear, and biases at 0; the document does not say how. With larger ones the "
        "outcome differs: in a trial with those of He, of variance 2/n (width 20, ridge 1.1e-4, S "
        "shapes of amplitude 3/4), 6 of 8 networks of depth 9 with ridge had tripoints after 6 000 "
        "steps, at a higher norm and rank.",
    )

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
        said = part.settings
        depth, width, steps = said["depth"], said["width"], said["steps"]
        draws = generators(part.seeds)
        x = torch.stack([inverted_s(said["points"], draw) for draw in draws]).flatten(1, 2)
        y = torch.arange(CLASSES).repeat_interleave(said["points"])
        widths = [2, *[width] * (depth - 1), CLASSES]
        stack = Stack.random(widths, draws, gain=GAIN, device=place.device)
        history = train(
            stack,
            entropy_of(y.to(place.device)),
            x.to(place.device),
            said["ridge"],
            Schedule(steps, said["rate"]),
            checkpoint=place.checkpoint(part),
            told=place.steps(steps, 0.0, 0.6),
        )
        points = x.double()

        def measure_run(number: int, net: Network, found: Audit) -> Measured:
            X, values = points[number], found.data.singular_values if found.data else ()
            measured = {
                "error": float(history.errors[-1, number]),
                "steps": steps,
                "accuracy": float((net(X).argmax(-1) == y).double().mean()),
                "singular_values": [value.median for value in values],
            }
            return measured | counts(net, X), drawing(net, X) if number == 0 else {}

        return measured_runs(part, place, stack, points, measure_run, begin=0.6)

    def findings(self, result: Result) -> Sequence[Finding]:
        found = []
        for depth, printed in ((DEEP, "none"), (SHALLOW, "some")):
            for ridge in (True, False):
                runs = group(result, depth, ridge)
                none = [fits(run) and run.measured["tripoints"] == 0 for run in runs]
                some = [fits(run) and run.measured["tripoints"] > 0 for run in runs]
                as_printed = none if depth == DEEP else some
                p = sign_test(sum(as_printed), len(runs))
                found.append(
                    Finding(
                        rf"tripoints at depth {depth}, {_with(ridge)}, in the box of the figure",
                        printed,
                        f"{printed} in {sum(as_printed)} of {len(runs)} runs; "
                        f"by run {_listed(run.measured['tripoints'] for run in runs)}",
                        p < LEVEL,
                        f"More than half of all runs end like this: p = {p:.2g}. {_fitted(runs)}",
                    )
                )
        found += [_boxes(result), _ranks(result), _rank_and_tripoints(result), _ridge(result)]
        return found


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
        `tripoints` in the box of the figure, `tripoints_by_margin` in those of `MARGINS`, and of
        the largest one the number of `regions` and `most`, the most classes that meet in a point.
    """
    found = decision(net, *enlarged(X, max(MARGINS)))
    points = found.junctions()
    by_margin = []
    for margin in MARGINS:
        low, high = (corner.numpy() for corner in enlarged(X, margin))
        by_margin.append(int(((low <= points) & (points <= high)).all(axis=1).sum()))
    return {
        "tripoints": by_margin[MARGINS.index(MARGIN)],
        "tripoints_by_margin": by_margin,
        "regions": len(found.cells),
        "most": found.most,
    }


def drawing(net: Network, X: Tensor) -> dict[str, Any]:
    """What the figure shows: the box, the outlines of the classes, the data, the tripoints."""
    low, high = enlarged(X, MARGIN)
    found = decision(net, low, high)
    return {
        "low": _short(low.numpy()),
        "high": _short(high.numpy()),
        "classes": _classes(found),
        "points": [_short(of_class) for of_class in X.numpy().reshape(CLASSES, -1, 2)],
        "tripoints": _short(found.junctions()),
    }


def _classes(found: Decision) -> list[list[Any]]:
    """The rings around each class, as far as they are to be seen."""
    around = outlines(found.cells, found.classes)
    size = float((found.cells.high - found.cells.low).min())
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


def _groups(result: Result) -> list[tuple[str, tuple[Run, ...]]]:
    return [
        (f"depth {depth} {_with(ridge)}", group(result, depth, ridge))
        for depth in (SHALLOW, DEEP)
        for ridge in (False, True)
    ]


def _with(ridge: bool) -> str:
    return "with ridge" if ridge else "without ridge"


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _fitted(runs: Sequence[Run]) -> str:
    """How many networks fit all their points."""
    count = sum(map(fits, runs))
    return f"{'All' if count == len(runs) else count} of {len(runs)} networks fit all their points."


def _boxes(result: Result) -> Finding:
    """Runs with a tripoint, by the box."""
    lines = []
    for name, runs in _groups(result):
        having = [
            sum(run.measured["tripoints_by_margin"][k] > 0 for run in runs)
            for k in range(len(MARGINS))
        ]
        lines.append(f"{name}: {_listed(having)} of {len(runs)}")
    return Finding(
        "runs with a tripoint in the box of the data, and in this box with a quarter, a half and "
        "all of its sides added on each side",
        "—",
        "; ".join(lines),
        None,
        "Three classes meet beyond the ends of the S shapes and seldom between the data, so the "
        "number depends on the box. The document does not say how large the plotted one is.",
    )


def _ranks(result: Result) -> Finding:
    """How far the Jacobians are from rank one."""
    lines = [
        f"{name}: {min(ratios):.2g} to {max(ratios):.2g}, in the middle {median(ratios):.2g}"
        for name, runs in _groups(result)
        for ratios in [[second(run) for run in runs]]
    ]
    return Finding(
        r"$s_2/s_1$ of $Jf(x)$, by medians over the data",
        "bottleneck rank 1, where it is 0",
        "; ".join(lines),
        None,
        "The document does not give the rank of its networks; it explains the missing tripoints by "
        "bottleneck rank 1.",
    )


def _rank_and_tripoints(result: Result) -> Finding:
    """Whether networks of rank one are those without tripoints, at large depth with ridge."""
    runs = [run for run in group(result, DEEP, True) if fits(run) and run.audit]
    parts = []
    for rank in sorted({run.audit.rank for run in runs if run.audit}):
        chosen = [run for run in runs if run.audit and run.audit.rank == rank]
        having = sum(run.measured["tripoints_by_margin"][-1] > 0 for run in chosen)
        costs = [run.audit.per_layer for run in chosen if run.audit]
        parts.append(
            f"rank {rank}: {len(chosen)} networks, {having} with a tripoint, "
            rf"$\|\theta\|^2/L$ from {min(costs):.2f} to {max(costs):.2f}"
        )
    return Finding(
        f"the numerical rank of the Jacobian at most points of the data, at depth {DEEP} with "
        "ridge, and tripoints in the largest of the four boxes",
        "no tripoints at bottleneck rank 1",
        "; ".join(parts),
        None,
        f"The rank is that of the audit, for which singular values up to {TOLERANCE:g} of the "
        "largest one are zero. Rank 2 goes with a larger norm, so not with the least cost.",
    )


def _ridge(result: Result) -> Finding:
    """Whether the ridge changes the number of tripoints."""
    lines = []
    for depth in (SHALLOW, DEEP):
        means = [
            sum(run.measured["tripoints"] for run in runs) / len(runs)
            for runs in (group(result, depth, ridge) for ridge in (False, True))
        ]
        lines.append(f"depth {depth}: {means[0]:.2g} without ridge, {means[1]:.2g} with it")
    return Finding(
        "the mean number of tripoints, with and without ridge",
        "the ridge has little effect on the final shape",
        "; ".join(lines),
        None,
    )


def second(run: Run) -> float:
    """s_2/s_1 of the Jacobian at the data, by the medians of both."""
    first, other = run.measured["singular_values"][:2]
    return float(other / first) if first else 0.0
