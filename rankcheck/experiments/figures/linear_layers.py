r"""linear.trained-singular-values: linear layers before one layer of ReLUs, at L = 2 and 4.

The function that is learnt is that of the notebooks behind the slides: a two-layer network
$f(x) = a^\top [U \Sigma V^\top x + b]_+$ with 21 units, which depends on r directions of the 20.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import itemgetter
from statistics import median
from typing import Any, TypeAlias

import torch
from torch import Tensor

from rankcheck.audit.result import Audit
from rankcheck.costs import effective_index_rank, egop, egop_root, linear_layers_cost
from rankcheck.experiments.audited import Measured, measured_runs
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.figures.linear_notebooks import (
    CASES,
    DEPTHS,
    INPUTS,
    PRINTED,
    target,
    true_directions,
)
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.statistics import span
from rankcheck.experiments.training import Schedule
from rankcheck.linalg import (
    operator_norm,
    schatten_power,
    singular_values,
    spectral_projection,
)
from rankcheck.networks.network import Network

__all__ = ["EXPERIMENT", "SHARE", "fits", "next_ratio", "pairs"]

#: Points for C_f and the errors.
FRESH = 2048
#: Effective index ranks count the singular values of C_f^{1/2} above this share of the largest.
SHARE = 0.01
#: A network fits if its training error is at most this share of the variance of the values.
FITTED = 1e-3
#: A median agrees with what is printed of one network if it is within this factor of it.
NEAR = 10

Pair: TypeAlias = tuple[Run, Run]


def points_and_values(
    r: int, points: int, draws: Sequence[torch.Generator]
) -> tuple[Tensor, Tensor, Tensor]:
    """Points x, the values y there, and fresh points of the same law, uniform on [−1/2, 1/2]^20.

    Run i draws from `draws[i]` alone; the shapes are (R, N, 20), (R, N, 1) and (R, `FRESH`, 20), in
    float64.
    """

    def uniform(count: int) -> Tensor:
        shape = count, INPUTS
        drawn = [torch.rand(shape, generator=each, dtype=torch.float64) for each in draws]
        return torch.stack(drawn) - 0.5

    x, fresh = uniform(points), uniform(FRESH)
    return x, torch.stack([target(r)(each) for each in x]), fresh


def first_stack(
    settings: Mapping[str, Any], draws: Sequence[torch.Generator], device: str = "cpu"
) -> Stack:
    """L − 1 linear layers and one of ReLUs, of one width, with first weights.

    Weights are normal with the variance 1/(3n), n the inputs of the layer, of torch's own uniform
    ones, and biases are 0. Only the last linear layer and the output have biases.
    """
    depth = settings["depth"]
    widths = [INPUTS, *[settings["width"]] * (depth - 1), 1]
    full = Stack.random(widths, draws, gain=1 / math.sqrt(3), device=device)
    linear = depth - 2
    return Stack(full.weights, [None] * linear + full.biases[linear:], linear=linear)


def measure(net: Network, r: int, fresh: Tensor) -> dict[str, Any]:
    """What a network with scalar values learnt of the target, at fresh points (N, 20) of its law.

    `outside` is the error at twice the points. `effective_rank` counts the singular values of
    C_f^{1/2} above `SHARE` of the largest one, and `distance` is the sine of the largest angle
    between the first r principal directions and the true ones.
    """
    gradients = net.jacobian(fresh).squeeze(-2)
    sigma = singular_values(egop_root(gradients))
    C, V = egop(gradients), true_directions(r)
    return {
        "generalisation": _error(net, r, fresh),
        "outside": _error(net, r, 2 * fresh),
        "sigma": sigma.tolist(),
        "effective_rank": int(effective_index_rank(C, SHARE * sigma[0])),
        "distance": float(operator_norm(spectral_projection(C, r) - V @ V.mT)),
    }


def _error(net: Network, r: int, x: Tensor) -> float:
    return float((net(x) - target(r)(x)).square().mean())


def bound_of_cost(stack: Stack, run: int, sigma: Sequence[float]) -> dict[str, float]:
    """The cost (‖a‖² + Σ‖W_j‖_F²)/L of a run, and a lower bound of it, MV(f; 2/L)^{2/L}."""
    *factors, a = (W[run].detach().to("cpu", torch.float64) for W in stack.weights)
    spectrum = torch.diag(torch.tensor(sigma, dtype=torch.float64))
    return {
        "cost": float(linear_layers_cost(factors, a[0])),
        "mixed_variation": float(schatten_power(spectrum, Fraction(2, stack.depth))),
    }


class LinearLayers(Experiment):
    """Networks aᵀ[W_{L−1} ··· W_1 x + b]_+ + c, trained for targets of index rank 1 and 2."""

    name = "linear.trained-singular-values"
    title = "The singular values of networks with linear layers"
    place = "slides B, Numerical Example"

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        sizes: Mapping[str, Any] = {
            "tiny": {"width": 24, "steps": 40, "finish": 10, "rate": 0.01, "runs": 1},
            "small": {"width": 64, "steps": 20_000, "finish": 500, "rate": 0.01, "runs": 12},
            "paper": {"width": 1000, "steps": 30_000, "finish": 100, "rate": 1e-4, "runs": 8},
        }[scale]
        parts = []
        for case, (r, points) in enumerate(CASES):
            # The notebooks take their steps on batches of 64 points, so many in each epoch.
            batches = points // 64 if scale == "paper" else 1
            # Both depths have the same seeds, and so the same points.
            first = 1000 * seed + 100 * case
            for depth in DEPTHS:
                settings = {
                    "rank": r,
                    "points": points,
                    "depth": depth,
                    "width": sizes["width"],
                    "ridge": 5e-4,
                    "steps": sizes["steps"] * batches,
                    "finish": sizes["finish"] * batches,
                    "rate": sizes["rate"],
                }
                seeds = tuple(range(first, first + sizes["runs"]))
                parts.append(Part(f"rank-{r}-points-{points}-depth-{depth}", settings, seeds))
        return parts

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        settings = part.settings
        draws = generators(part.seeds)
        exact = points_and_values(settings["rank"], settings["points"], draws)
        x, y, _ = (each.to(place.device, torch.float32) for each in exact)
        stack = first_stack(settings, draws, place.device)

        def error(outputs: Tensor) -> Tensor:
            return (outputs - y).square().mean((-2, -1))

        schedule = Schedule(settings["steps"], settings["rate"])
        place.train(stack, error, x, settings["ridge"], schedule)
        without = Schedule(settings["finish"], settings["rate"] / 100, warm=0, last=0.1)
        place.train(stack, error, x, 0.0, without, shares=(0.8, 0.85))

        def measure_run(number: int, net: Network, audit: Audit) -> Measured:
            at, values, fresh = (each[number] for each in exact)
            measured = measure(net, settings["rank"], fresh)
            measured |= bound_of_cost(stack, number, measured["sigma"])
            measured["error"] = float((net(at) - values).square().mean())
            measured["variance"] = float(values.var(correction=0))
            return measured, {}

        return measured_runs(part, place, stack, exact[0], measure_run)

    def findings(self, result: Result) -> Sequence[Finding]:
        findings = [
            finding
            for r, points in CASES
            for finding in _compared(r, points, result.where(rank=r, points=points))
        ]
        return (*findings, _fitted(result.runs), _bounded(result.runs))


def pairs(runs: Sequence[Run], deep: int = DEPTHS[1], shallow: int = DEPTHS[0]) -> list[Pair]:
    """Runs of two depths on the same points, the shallow one first."""
    by_seed = {run.seed: run for run in runs if run.settings["depth"] == shallow}
    return [(by_seed[run.seed], run) for run in runs if run.settings["depth"] == deep]


def next_ratio(run: Run) -> float:
    """σ_{r+1}/σ_1 of C_f^{1/2}, for a target of index rank r."""
    return _next_ratio(run.measured["sigma"], run.settings["rank"])


def _next_ratio(sigma: Sequence[float], r: int) -> float:
    return sigma[r] / sigma[0]


def fits(run: Run) -> bool:
    """Whether the training error is at most `FITTED` of the variance of the values."""
    fitted: bool = run.measured["error"] <= FITTED * run.measured["variance"]
    return fitted


def _compared(r: int, points: int, runs: Sequence[Run]) -> list[Finding]:
    """The rows of one case: each quantity at L = 2 and at L = 4.

    One agrees if most pairs change as printed, and both medians are within `NEAR` of the printed.
    """
    quantities: dict[str, Callable[[Mapping[str, Any]], float]] = {
        rf"$\sigma_{r + 1}/\sigma_1$ of $C_f^{{1/2}}$": lambda one: _next_ratio(one["sigma"], r),
        rf"singular values of $C_f^{{1/2}}$ above ${SHARE}\,\sigma_1$": lambda one: sum(
            s > SHARE * one["sigma"][0] for s in one["sigma"]
        ),
        "generalisation error": itemgetter("generalisation"),
        "error outside, in $[-1, 1]^{20}$": itemgetter("outside"),
        "distance of the first $r$ principal directions to the true ones": itemgetter("distance"),
    }
    findings = []
    for words, of in quantities.items():
        printed = [of(PRINTED[r, points, L]) for L in DEPTHS]
        each = [(of(shallow.measured), of(deep.measured)) for shallow, deep in pairs(runs)]
        ours = list(zip(*each, strict=True))
        falls = sum(deep < shallow for shallow, deep in each)
        as_printed = falls if printed[1] < printed[0] else len(each) - falls
        times = [median(values) / theirs for values, theirs in zip(ours, printed, strict=True)]
        findings.append(
            Finding(
                quantity=f"r = {r}, {points} points: {words}",
                printed=" → ".join(f"{value:.3g}" for value in printed),
                ours=f"{' → '.join(map(_middle, ours))}; falls in {falls} of {len(each)} pairs",
                agrees=2 * as_printed > len(each) and all(1 / NEAR <= t <= NEAR for t in times),
            )
        )
    return findings


def _fitted(runs: Sequence[Run]) -> Finding:
    """Whether the networks fit their data."""
    shares = [run.measured["error"] / run.measured["variance"] for run in runs]
    count = sum(map(fits, runs))
    return Finding(
        quantity="training error, as a share of the variance of the values",
        printed=f"mean squared errors up to {max(one['error'] for one in PRINTED.values()):.2g}",
        ours=f"up to {max(shares):.2g}; {count} of {len(runs)} networks are below {FITTED:g}",
        agrees=count == len(runs),
    )


def _bounded(runs: Sequence[Run]) -> Finding:
    """Whether the mixed variation bounds the cost of the trained weights, as it has to."""
    ratios = [run.measured["mixed_variation"] / run.measured["cost"] for run in runs]
    count = sum(ratio <= 1 for ratio in ratios)
    return Finding(
        quantity=r"$\mathcal{MV}(f; \frac2L)^{2/L}$, at most "
        r"$\frac1L(\|a\|^2 + \sum_j \|W_j\|_F^2)$ by the theory",
        printed="a theorem",
        ours=f"{min(ratios):.2f} to {max(ratios):.2f} of the cost; {count} of {len(runs)} networks",
        agrees=count == len(runs),
    )


def _middle(values: Sequence[float]) -> str:
    """The median, and the smallest and the largest."""
    return f"{median(values):.3g} ({span(values, 3)})"


EXPERIMENT = LinearLayers()
