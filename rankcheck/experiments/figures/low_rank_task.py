r"""rank.figure-1: a deep network learns a task of low rank, and bends the data at its ends only.

Points x = g(z) in R^50 with z normal in R^15, values y = h(z_1, ..., z_k) in R^50, both functions
random shallow networks. The networks have L = 13 affine maps and width 100, and minimise

.. math:: \frac 1 N \sum_i \|f(x_i) - y_i\|^2 + \frac{0.05}{L} \|\theta\|^2,

for values of mean 0 and mean squared norm 1, so that the network 0 has the error 1. The document
prints neither the scale of the values nor how the error is normalised, nor how the first weights
are drawn: which dimension the middle layers carry depends on their gain, so two are trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.ranks import GAP, TOLERANCE, ranks_and_gaps
from rankcheck.audit.result import Audit
from rankcheck.experiments.audited import Measured, measured_runs, short
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.figures.tasks import learners
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.statistics import span, tally
from rankcheck.experiments.training import Schedule
from rankcheck.linalg import singular_values
from rankcheck.networks.network import Network

__all__ = [
    "CENTRED",
    "EXPERIMENT",
    "FITTED",
    "GAIN",
    "HE",
    "PLAIN",
    "PRINTED",
    "LowRankTask",
    "bend_inside",
    "bend_outside",
    "bends",
    "dimension",
    "layer_ranks",
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
#: The gain of the first weights: a smaller one, and that of He, as a setting is recorded.
GAIN, HE = 1.1, 1.41421
#: The ranks of the matrices of representations as they are, and of the centred ones.
PLAIN, CENTRED = "", "centred_"


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
    shares = []
    for before, after in zip(at.preactivations[:-1], at.activations[1:], strict=True):
        size = float(before.norm())
        shares.append(float((before - after).norm()) / size if size else 1.0)
    return shares


def layer_ranks(net: Network, X: Tensor, *, centred: bool) -> tuple[list[int], list[float]]:
    """Of the hidden layers, the rank of the matrix of the α_ℓ(x_i), and s_k / s_{k+1} there.

    A singular value counts if it is above the share `TOLERANCE` of the largest one, as in audits.
    A quotient is 0 for rank 0, and at most 10⁹.

    Args:
        centred: whether the mean over the points is subtracted: then the rank is the dimension of
            an affine subspace. The document's Z_ℓ is not centred.
    """
    ranks, gaps = [], []
    for values in net.activations(X)[1:]:
        Z = values - values.mean(0) if centred else values
        rank, gap, _ = ranks_and_gaps(Z, singular_values(Z), TOLERANCE)
        ranks.append(int(rank))
        gaps.append(min(float(gap), 1e9) if int(rank) else 0.0)
    return ranks, gaps


class LowRankTask(Experiment):
    """Deep and shallow networks on tasks of rank 4 and 5."""

    name = "rank.figure-1"
    title = "Deep networks, from He's gain, carry a task of rank 4 in five dimensions"
    place = "Figure 1 and Appendix F of `rank`"
    pilots = 1

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        first = APART * seed
        full = {"points": 500, "latent": 15, "size": 50, "width": 100}
        settings: dict[str, Any] = {
            "tiny": {"points": 20, "latent": 3, "size": 4, "width": 16, "rate": 5e-3, "steps": 30},
            "small": full | {"rate": 4e-3, "steps": 2500},
            "paper": full | {"rate": 2e-3, "steps": 20_000},
        }[scale]
        low, high, deep = (1, 2, 4) if scale == "tiny" else (4, 5, 13)
        few, several, many = (1, 1, 1) if scale == "tiny" else (4, 8, 10)
        shallow = 1 if scale == "tiny" else 5
        if seed < self.pilots:  # the pilot had as many runs of every part
            few = several = many = shallow

        def part(name: str, runs: int, **other: Any) -> Part:
            own = {"used": low, "depth": deep, "gain": GAIN, "last": 1.0}
            return Part(name, own | settings | other, tuple(range(first, first + runs)))

        large = {"gain": HE, "last": round(settings["size"] ** -0.5, 6)}
        return (
            part(f"rank-{low}", several, **large),
            part(f"rank-{low}-shallow", shallow, depth=3, **large),
            part(f"rank-{low}-small-start", many),
            part(f"rank-{low}-small-start-shallow", shallow, depth=3),
            part(f"rank-{high}-small-start", few, used=high),
        )

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        settings = part.settings
        depth, size = settings["depth"], settings["size"]
        x, y, stack = learners(
            part, used=settings["used"], gain=settings["gain"], last=settings["last"]
        )
        stack = stack.to(place.device)
        points, values = x.to(place.device), y.to(place.device)

        def error(outputs: Tensor) -> Tensor:
            return size * (outputs - values).square().mean((-2, -1))

        schedule = Schedule(settings["steps"], settings["rate"])
        history = place.train(stack, error, points, RIDGE / depth, schedule)
        errors = [float(e) / size for e in error(stack(points)).detach()]
        zero = [float(e) for e in y.square().mean((-2, -1))]
        exact = x.double()

        def measure_run(number: int, net: Network, audit: Audit) -> Measured:
            X = exact[number]
            measured = {"error": errors[number] / zero[number]}
            for which in (PLAIN, CENTRED):
                ranks, gaps = layer_ranks(net, X, centred=which == CENTRED)
                measured |= {f"{which}ranks": ranks, f"{which}gaps": short(torch.tensor(gaps), 3)}
            measured |= {"bends": short(torch.tensor(bends(net, X)), 3)}
            drawn: dict[str, Any] = {}
            if depth > 3 and number < DRAWN:
                costs = history.costs[:, number] / depth
                drawn = {"steps": history.steps.tolist(), "per_layer": short(costs, 3)}
                first = number == 0 and settings["gain"] == HE
                drawn |= _spectra(audit, net, X) if first else {}
            return measured, drawn

        return measured_runs(part, place, stack, exact[:, :AUDITED], measure_run)

    def findings(self, result: Result) -> Sequence[Finding]:
        parts: dict[str, list[Run]] = {}
        for run in result.runs:
            parts.setdefault(run.part, []).append(run)
        large, _, small, _, high = parts.values()
        low = [*large, *small]
        k = large[0].settings["used"]
        layers = middle(large[0].settings["depth"])
        deep = [*low, *high]
        equal = sum(set(near_one(run)) == {dimension(run)} for run in deep)

        def each(quantity: Callable[[list[Run]], str]) -> str:
            """Of the parts with deep networks, in words."""
            return (
                f"{quantity(large)} from the gain √2, {quantity(small)} from {GAIN:g}; "
                f"{quantity(high)} (k = {high[0].settings['used']}, from {GAIN:g})"
            )

        def ranks(which: str) -> str:
            return each(lambda runs: tally([dimension(run, which) for run in runs]))

        where = f"in the layers {layers[0]} to {layers[-1]} (k = {k})"
        return (
            Finding(
                rf"the rank of the representations $Z_\ell$ {where}",
                "approximately 4",
                ranks(PLAIN),
                all(dimension(run) == k for run in low),
            ),
            Finding(rf"the rank of the centred representations {where}", "", ranks(CENTRED), None),
            Finding(
                r"the impact of the nonlinearity, "
                r"$\|\tilde Z_\ell - \sigma(\tilde Z_\ell)\|_F / \|\tilde Z_\ell\|_F$",
                "vanishes in the middle layers",
                f"at most {span([bend_inside(run) for run in low])} in the middle, at least "
                f"{span([bend_outside(run) for run in low])} in the first and the last hidden "
                "layer",
                all(10 * bend_inside(run) <= bend_outside(run) for run in low),
            ),
            Finding(
                r"the singular values of the middle $W_\ell$ that are within 0.25 of 1",
                "about 4 that are not small",
                each(lambda runs: span([n for run in runs for n in near_one(run)]))
                + f"; as many as the rank of $Z_\\ell$ in {equal} of {len(deep)} networks",
                all(set(near_one(run)) == {k} for run in low),
            ),
            Finding(
                r"$\|\theta\|^2/L$ at the end of training, which the scale of the values decides",
                "approximately 6",
                each(lambda runs: span([_per_layer(run) for run in runs])),
                None,
            ),
        )


def _middle(run: Run, values: Sequence[Any]) -> list[Any]:
    """Of values for the layers 1, 2, ..., those of the middle ones."""
    return [values[number - 1] for number in middle(run.settings["depth"])]


def dimension(run: Run, which: str = PLAIN) -> int | None:
    """The rank of the Z_ℓ, or of the centred ones, if all middle layers have it, with a gap."""
    ranks, gaps = (_middle(run, run.measured[f"{which}{name}"]) for name in ("ranks", "gaps"))
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


def _per_layer(run: Run) -> float:
    return 0.0 if run.audit is None else run.audit.per_layer


def _spectra(audit: Audit, net: Network, X: Tensor) -> dict[str, Any]:
    """The first singular values of the Z_ℓ / √N and of the W_ℓ, by layer."""
    root = len(X) ** 0.5
    return {
        "representations": [
            short(singular_values(Z)[:SHOWN] / root, 3) for Z in net.activations(X)[1:]
        ],
        "weights": [short(torch.tensor(W.singular_values[:SHOWN]), 3) for W in audit.layers],
    }


EXPERIMENT = LowRankTask()
