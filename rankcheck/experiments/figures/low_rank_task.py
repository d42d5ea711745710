r"""rank.figure-1: a deep network learns a task of low rank, and bends the data at its ends only.

Points x = g(z) in R^50 with z normal in R^15, values y = h(z_1, ..., z_k) in R^50, both functions
random shallow networks. The networks have L = 13 affine maps and width 100, and minimise

.. math:: \frac 1 N \sum_i \|f(x_i) - y_i\|^2 + \frac{0.05}{L} \|\theta\|^2,

for values of mean 0 and mean squared norm 1, so that the network 0 has the error 1. The document
prints neither the scale of the values nor how the error is normalised; two parts have others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from rankcheck.audit.ranks import GAP, TOLERANCE, ranks_and_gaps
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
from rankcheck.experiments.training import History, Schedule, train
from rankcheck.linalg import singular_values
from rankcheck.networks.network import Network

__all__ = [
    "EXPERIMENT",
    "FITTED",
    "PRINTED",
    "LowRankTask",
    "bend_inside",
    "bend_outside",
    "bends",
    "centred_ranks",
    "dimension",
    "middle",
    "near_one",
]

#: λ is so much, divided by the depth.
RIDGE = 0.05
#: So many singular values are kept for the figures, as in the document's.
SHOWN = 10
#: So many runs of a part are drawn.
DRAWN = 2
#: So many of the points are audited, as the theorems take seconds on all of them.
AUDITED = 20
#: Between the seeds of two experiments; a part has fewer runs.
APART = 1000
#: The share of the error of the network 0 up to which a network has fitted its data.
FITTED = 0.1
#: ‖θ‖²/L as printed.
PRINTED = 6.0
#: The gain of the first weights, and that of He for comparison.
GAIN, HE = 1.1, math.sqrt(2)
#: The mean squared norm of the values, and what the mean of |f(x) − y|² is multiplied by: as the
#: experiment has them; with entries of mean square 1, the mean over entries or their sum.
UNIT, ENTRIES, SUM = "unit norm", "unit entries, mean", "unit entries, sum"


def middle(depth: int) -> range:
    """The layers ℓ with L/4 ≤ ℓ ≤ 3L/4, from 1.

    >>> list(middle(13)), list(middle(3)), list(middle(2))
    ([4, 5, 6, 7, 8, 9], [1, 2], [1])
    """
    return range(math.ceil(depth / 4), 3 * depth // 4 + 1)


def bends(net: Network, X: Tensor) -> list[float]:
    r"""‖Z̃_ℓ − σ(Z̃_ℓ)‖_F / ‖Z̃_ℓ‖_F of the hidden layers, Z̃_ℓ their pre-activations at X (N, n_0).

    It is 0 where the activation changes nothing, and 1 where it cuts off everything.
    """
    at = net.at(X)
    found = []
    for before, after in zip(at.preactivations[:-1], at.activations[1:], strict=True):
        size = float(before.norm())
        found.append(float((before - after).norm()) / size if size else 1.0)
    return found


def centred_ranks(net: Network, X: Tensor) -> tuple[list[int], list[float]]:
    """Of the hidden layers, the dimensions in which α_ℓ(x_i) − mean lie, and s_k / s_{k+1} there.

    A singular value counts if it is above the share `TOLERANCE` of the largest one, as in audits.
    A quotient is 0 for rank 0, and at most 10⁹.
    """
    ranks, gaps = [], []
    for values in net.activations(X)[1:]:
        centred = values - values.mean(0)
        s = singular_values(centred)
        rank, gap, _ = ranks_and_gaps(centred, s, TOLERANCE)
        ranks.append(int(rank))
        gaps.append(min(float(gap), 1e9) if int(rank) else 0.0)
    return ranks, gaps


class LowRankTask(Experiment):
    """Deep and shallow networks on tasks of rank 4 and 5."""

    name = "rank.figure-1"
    title = "Trained networks of depth 13 carry a task of rank 4 in four or five dimensions"
    place = "Figure 1 and Appendix F of `rank`"
    question = r"""
The theory is about global minima at infinite depth: there $\|\theta\|^2/L$ tends to a rank $k$ of
the function, so that $\lambda \|\theta\|^2$ charges for every dimension that a network carries
through its layers, and for nothing else. The question is whether Adam, at depth 13, finds such a
network: one whose middle layers keep the $k$ dimensions of the task, out of 15 in the data and 100
neurons, and pass them on unchanged.

Had this been false, the representations in the middle would have lain in more dimensions than $k$
(15 or so, as the data do), or would have had no gap behind the $k$-th singular value; the
activations would have changed the middle layers as much as the first and the last one; the weights
would have had many singular values that are neither 0 nor 1; and the same numbers would have come
out for tasks of rank 4 and 5, and at depth 3. The networks of depth 3 look like that.
"""
    differences = (
        "The caption says rank 4 and the appendix lets the values depend on five coordinates of z; "
        "both tasks are trained, five networks each.",
        "The scale of the data is not printed. Here the points have entries of mean square 1, and "
        "the values mean 0 and mean squared norm 1; the error is the mean of |f(x) − y|², so that "
        "the network 0 has the error 1.",
        "How the random functions and the first weights are drawn is not printed. Here the biases "
        "start at 0 and the weights are normal, with He's gain √2 and a last layer as small as the "
        "values in the part large-start, and with the gain 1.1 in the parts rank-4 and rank-5. "
        "From 1.1 the ranks are smaller, and some trainings end without fitting the data; the "
        "claim is about √2.",
        "The number of steps is not printed; the document stopped before the norm of the "
        "parameters had settled. Here there are 2500 steps of Adam on all points at once, and the "
        "learning rate falls like a cosine.",
        "The audits, and the ranks of Jacobians among them, take the first 20 of the 500 points.",
    )

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        first = APART * seed
        full = {"points": 500, "latent": 15, "size": 50, "width": 100}
        settings: dict[str, Any] = {
            "tiny": {"points": 20, "latent": 3, "size": 4, "width": 16, "rate": 5e-3, "steps": 30},
            "small": full | {"rate": 4e-3, "steps": 2500},
            "paper": full | {"rate": 2e-3, "steps": 20_000},
        }[scale]
        low, high, deep = (1, 2, 4) if scale == "tiny" else (4, 5, 13)
        many = {"tiny": 1, "small": 5, "paper": 8}[scale]
        few = {"tiny": 1, "small": 5, "paper": 4}[scale]

        def part(name: str, runs: int, **other: Any) -> Part:
            said = {"used": low, "depth": deep, "values": UNIT, "gain": GAIN, "last": 1.0}
            return Part(name, said | settings | other, tuple(range(first, first + runs)))

        return (
            part(f"rank-{low}", many),
            part(f"rank-{high}", many, used=high),
            part("shallow", many, depth=3),
            part("large-start", few, gain=HE, last=round(settings["size"] ** -0.5, 6)),
            part("entries", 1, gain=HE, values=ENTRIES),
            part("sum", 1, gain=HE, values=SUM),
        )

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        said = part.settings
        depth, size, width = said["depth"], said["size"], said["width"]
        draws = generators(part.seeds)
        x, y = latent_task(
            draws,
            said["points"],
            latent=said["latent"],
            inputs=size,
            used=said["used"],
            outputs=size,
        )
        stack = Stack.random([size, *[width] * (depth - 1), size], draws, gain=said["gain"])
        factor = 1.0 if said["values"] == ENTRIES else float(size)
        if said["values"] == UNIT:
            y = y / size**0.5
        stack.weights[-1] = stack.weights[-1] * said["last"]
        stack.weights = [W.to(place.device) for W in stack.weights]
        stack.biases = [b if b is None else b.to(place.device) for b in stack.biases]
        points, values = x.to(place.device), y.to(place.device)

        def error(outputs: Tensor) -> Tensor:
            return factor * (outputs - values).square().mean((-2, -1))

        history = train(
            stack,
            error,
            points,
            RIDGE / depth,
            Schedule(said["steps"], said["rate"]),
            checkpoint=place.checkpoint(part),
            told=place.steps(said["steps"], 0.0, 0.8),
        )
        errors = [float(e) / factor for e in error(stack(points)).detach()]
        zero = [float(e) for e in y.square().mean((-2, -1))]
        exact = x.double()

        def measure_run(number: int, net: Network, found: Audit) -> Measured:
            X = exact[number]
            ranks, gaps = centred_ranks(net, X)
            measured = {
                "error": errors[number] / zero[number],
                "steps": said["steps"],
                "ranks": ranks,
                "gaps": gaps,
                "bends": bends(net, X),
            }
            return measured, _drawn(found, net, X, history, number) if number < DRAWN else {}

        return measured_runs(part, place, stack, exact[:, :AUDITED], measure_run, begin=0.8)

    def findings(self, result: Result) -> Sequence[Finding]:
        parts: dict[str, list[Run]] = {}
        for run in result.runs:
            parts.setdefault(run.part, []).append(run)
        tasks = [parts[name] for name in parts if name.startswith("rank-")]
        low = tasks[0]
        deep = [run for runs in (*tasks, parts["large-start"]) for run in runs]
        shallow, large = parts["shallow"], parts["large-start"]
        cost = [_per_layer(run) for run in low]
        other = {name: parts[name][0] for name in ("entries", "sum")}
        k = low[0].settings["used"]
        return (
            Finding(
                r"the dimension of the representations $Z_\ell$ in the middle layers",
                "approximately 4",
                "; ".join(
                    f"{_shares(runs)} (k = {runs[0].settings['used']}, layers {_named(runs[0])})"
                    for runs in tasks
                )
                + f"; from larger first weights {_shares(large)} (k = {k})",
                all(dimension(run) == k for run in (*low, *large)),
                f"A singular value of the centred $Z_\\ell$ counts above {TOLERANCE:g} of the "
                f"largest, and the next one has to be smaller by the factor {GAP:g}. The "
                "Jacobian has the rank of the task at most points, where there is a dimension more "
                f"as well, {_ranks(deep)}. {_unfitted(deep)} not fit the data.",
            ),
            Finding(
                r"the impact of the nonlinearity, "
                r"$\|\tilde Z_\ell - \sigma(\tilde Z_\ell)\|_F / \|\tilde Z_\ell\|_F$",
                "vanishes in the middle layers",
                f"at most {_range([bend_inside(run) for run in deep])} in the middle, at least "
                f"{_range([bend_outside(run) for run in deep])} in the first and the last hidden "
                "layer",
                all(10 * bend_inside(run) <= bend_outside(run) for run in low),
            ),
            Finding(
                r"the singular values of the middle $W_\ell$ that are within 0.25 of 1",
                "about 4 that are not small",
                "; ".join(f"{_counts(runs)} (k = {runs[0].settings['used']})" for runs in tasks),
                all(set(near_one(run)) == {dimension(run)} for run in low),
                "As many as the representations have dimensions, "
                f"in {sum(set(near_one(run)) == {dimension(run)} for run in deep)} of {len(deep)} "
                "networks.",
            ),
            Finding(
                r"$\|\theta\|^2/L$ at the end of training",
                "approximately 6",
                f"{_range(cost)}, and {_range([_per_layer(run) for run in large])} from larger "
                "first weights",
                all(abs(_per_layer(run) - PRINTED) <= 1 for run in (*low, *large)),
                "The number depends on the scale of the values, which is not printed: with entries "
                "of mean square 1 and the mean over all entries as the error it is "
                f"{_per_layer(other['entries']):.3g}, and with the sum over the outputs, where the "
                f"ridge weighs less by the factor 50, {_per_layer(other['sum']):.3g} after as many "
                "steps, and falling (both from larger first weights).",
            ),
            Finding(
                "the start of training",
                "not said",
                f"from the gain √2 the middle layers have {_dimensions(large)} dimensions, and the "
                f"objective ends at {_range([objective(run) for run in large], 3)}; from the gain "
                f"1.1 they have {_dimensions(low)}, and it ends at "
                f"{_range([objective(run) for run in low], 3)}",
                None,
                "Trainings end at local minima of one dimension more or less; the smaller start "
                "finds the smaller rank more often. The document's sequel describes minima that "
                "overestimate the rank.",
            ),
            Finding(
                "depth 3",
                "not shown",
                f"{_dimensions(shallow)} dimensions in the hidden layers, "
                f"$\\|\\theta\\|^2/L$ {_range([_per_layer(run) for run in shallow])}",
                None,
                "The control group: a shallow network has no bottleneck.",
            ),
        )


def _middle(run: Run, values: Sequence[Any]) -> list[Any]:
    """Of values for the layers 1, 2, ..., those of the middle ones."""
    return [values[number - 1] for number in middle(run.settings["depth"])]


def dimension(run: Run) -> int | None:
    """The dimension of the representations, if all middle layers have the same, with a gap."""
    ranks, gaps = _middle(run, run.measured["ranks"]), _middle(run, run.measured["gaps"])
    return ranks[0] if len(set(ranks)) == 1 and min(gaps) >= GAP else None


def near_one(run: Run) -> list[int]:
    """The numbers of singular values near 1 of the middle W_ℓ."""
    return [] if run.audit is None else _middle(run, run.audit.near_one)


def bend_inside(run: Run) -> float:
    """The largest of `bends` in the middle layers."""
    return float(max(_middle(run, run.measured["bends"])))


def bend_outside(run: Run) -> float:
    """The smaller one of `bends` in the first and in the last hidden layer."""
    return float(min(run.measured["bends"][0], run.measured["bends"][-1]))


def objective(run: Run) -> float:
    """The error plus λ‖θ‖² at the end."""
    return float(run.measured["error"]) + RIDGE * _per_layer(run)


def _per_layer(run: Run) -> float:
    return 0.0 if run.audit is None else run.audit.per_layer


def _shares(runs: Sequence[Run]) -> str:
    """How many networks have which dimension in the middle."""
    counts = Counter(dimension(run) for run in runs)
    return ", ".join(
        f"{'no one dimension' if each is None else each} in {count} of {len(runs)}"
        for each, count in sorted(counts.items(), key=lambda pair: pair[0] or 0)
    )


def _ranks(runs: Sequence[Run]) -> str:
    """In how many networks Jf has the rank of the task at most points."""
    count = sum(run.audit is not None and run.audit.rank == run.settings["used"] for run in runs)
    return f"in {count} of {len(runs)} networks"


def _unfitted(runs: Sequence[Run]) -> str:
    worst = [run for run in runs if run.measured["error"] > FITTED]
    if not worst:
        return "There is none that does"
    return ", ".join(
        f"One of k = {run.settings['used']} (error {run.measured['error']:.2g}) does"
        for run in worst
    )


def _named(run: Run) -> str:
    inner = middle(run.settings["depth"])
    return f"{inner[0]} to {inner[-1]}"


def _range(values: Sequence[float], digits: int = 2) -> str:
    low, high = f"{min(values):.{digits}g}", f"{max(values):.{digits}g}"
    return low if low == high else f"{low} to {high}"


def _counts(runs: Sequence[Run]) -> str:
    return _range([count for run in runs for count in near_one(run)])


def _dimensions(runs: Sequence[Run]) -> str:
    return _range([rank for run in runs for rank in _middle(run, run.measured["ranks"])])


def _drawn(found: Audit, net: Network, X: Tensor, history: History, number: int) -> dict[str, Any]:
    """The first singular values of the Z_ℓ / √N and of the W_ℓ, by layer, and the training."""
    root = len(X) ** 0.5
    return {
        "representations": [
            (singular_values(Z)[:SHOWN] / root).tolist() for Z in net.activations(X)[1:]
        ],
        "weights": [list(layer.singular_values[:SHOWN]) for layer in found.layers],
        "steps": history.steps.tolist(),
        "errors": history.errors[:, number].tolist(),
        "per_layer": (history.costs[:, number] / net.depth).tolist(),
    }


EXPERIMENT = LowRankTask()
