r"""Figure 1 of `bottleneck`: the parameter norm against the depth, and the rank in the middle.

Points x = g(z) in R^20 with z normal in R^8, values y = h(z_1, z_2) in R^20, both functions random
shallow networks. Networks of eight depths learn the same task and minimise

    (1/N) Σ ‖f(x_i) − y_i‖² + 0.001 ‖θ‖²

for values of mean 0 and mean squared norm 1. The runs of one seed are the curve ‖θ‖² against L on
one task, which in print is affine where the rank is constant. That rank is how many singular values
of W_{L/2} are not small: above 1/2 here, above 0.1 in the document. The document prints neither
width nor points, steps, first weights or the scale of the data, and trains up to depth 30.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import _training as lab
from torch import Tensor

from rankcheck.linalg import singular_values

#: The gain of the first weights, λ, and the rank of the task.
GAIN, RIDGE, USED = 1.1, 0.001, 2
#: A singular value of W_{L/2} counts above; in the document above the second one.
COUNTED, PRINTED = 0.5, 0.1
#: A network has fitted its data if the error is at most this; that of the network 0 is 1.
FITTED = 0.1
SIZES: dict[str, Any] = {"points": 150, "latent": 8, "size": 20, "width": 40, "rate": 8e-3}
QUICK = {"points": 20, "latent": 3, "size": 4, "width": 16, "steps": 30}
#: At so many of the points there is the rank of Jf.
AUDITED = 20


def parts(seed: int) -> list[lab.Part]:
    """A part for each depth; and networks without ridge, with a quarter of the steps."""
    seeds = tuple(range(1000 * seed, 1000 * seed + (8 if seed else 5)))
    rows = [("depth", L, RIDGE, 9000) for L in (5, 7, 9, 11, 13, 16, 20, 25)]
    rows += [("no-ridge", L, 0.0, 2250) for L in (5, 7, 9)]
    return [
        lab.Part(f"{name}-{L}", SIZES | {"depth": L, "ridge": ridge, "steps": steps}, seeds)
        for name, L, ridge, steps in rows
    ]


def run(part: lab.Part) -> Iterator[lab.Measured]:
    """`norm` is ‖θ‖²; `rank` and `above` count singular values of the middle weights."""
    settings = part.settings
    x, y, stack = lab.learners(part, USED, GAIN)

    def error(outputs: Tensor) -> Tensor:
        return (outputs - y).square().sum(-1).mean(-1)

    lab.train(stack, error, x, settings["ridge"], settings["steps"], settings["rate"])
    errors = error(stack(x)).tolist()
    for number, (net, X) in enumerate(zip(stack.networks(), x.double(), strict=True)):
        inside = singular_values(net.weights[(net.depth + 1) // 2 - 1])
        measured = {
            "error": errors[number],
            "norm": float(net.cost()),
            "rank": int((inside > COUNTED).sum()),
            "above": int((inside > PRINTED).sum()),
            "jacobian_rank": lab.jacobian_rank(net, X[:AUDITED]),
        }
        yield measured, {}


def draw(runs: Sequence[lab.Run]) -> dict[str, lab.Figure]:
    """‖θ‖² against L: a line for each task, and marks by rank, crosses where the data are not fitted."""
    figure, (panel,) = lab.panels(1, 1, height=3.6)
    runs = lab.where(runs, ridge=RIDGE)
    for seed in sorted({one["seed"] for one in runs}):
        curve = [one for one in runs if one["seed"] == seed]
        points = [(one["settings"]["depth"], one["measured"]["norm"]) for one in curve]
        panel.plot(*zip(*points, strict=True), color=lab.GREY, linewidth=0.6)
        for point, measured in zip(points, (one["measured"] for one in curve), strict=True):
            mark = "o" if measured["error"] <= FITTED else "x"
            colour = lab.COLOURS[min(measured["rank"], 4)]
            panel.plot(*point, mark, color=colour, markersize=4)
    for rank in range(5):
        label = f"rank {rank}{' or more' * (rank == 4)}"
        panel.plot([], [], "o", color=lab.COLOURS[rank], markersize=4, label=label)
    panel.set_xticks(sorted({one["settings"]["depth"] for one in runs}))
    panel.set(xlabel="depth $L$", ylabel=r"$\|\theta\|^2$", ylim=(0, None))
    panel.legend(loc="upper left")
    return {"norms": figure}


if __name__ == "__main__":
    lab.make("bottleneck.figure-1", parts, run, draw, QUICK)
