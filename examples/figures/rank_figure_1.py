r"""Figure 1 of `rank`: a deep network learns a task of low rank, and bends the data at its ends only.

Points x = g(z) in R^50 with z normal in R^15, values y = h(z_1, ..., z_k) in R^50, both functions
random shallow networks. The networks have L = 13 affine maps and width 100, and minimise

    (1/N) Σ ‖f(x_i) − y_i‖² + (0.05/L) ‖θ‖²

for values of mean 0 and mean squared norm 1, so that the network 0 has the error 1. The document
prints neither the scale of the values nor how the error is normalised, nor how the first weights
are drawn: which dimension the middle layers carry depends on their gain, so two are trained. Nor
does it print the steps: here 2500 of Adam. Its caption has k = 4, its appendix k = 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import _training as lab
import torch
from torch import Tensor

from rankcheck.linalg import singular_values
from rankcheck.networks import Network

#: λ is so much, divided by the depth.
RIDGE = 0.05
#: The gain of the first weights: a smaller one, and that of He, as a setting is recorded.
GAIN, HE = 1.1, 1.41421
SIZES = {"points": 500, "latent": 15, "size": 50, "width": 100, "rate": 4e-3, "steps": 2500}
QUICK = {"points": 20, "latent": 6, "size": 8, "width": 16, "steps": 30}
#: So many singular values are drawn; at so many of the points there is the rank of Jf.
SHOWN, AUDITED = 10, 20


def parts(seed: int) -> list[lab.Part]:
    """Deep and shallow networks from both starts on a task of rank 4; and deep ones at rank 5."""
    few, several, many = (4, 8, 10) if seed else (5, 5, 5)

    def part(name: str, runs: int, **other: Any) -> lab.Part:
        own = {"used": 4, "depth": 13, "gain": GAIN, "last": 1.0}
        return lab.Part(name, own | SIZES | other, tuple(range(1000 * seed, 1000 * seed + runs)))

    large = {"gain": HE, "last": 0.141421}  # 1/√50
    return [
        part("rank-4", several, **large),
        part("rank-4-shallow", 5, depth=3, **large),
        part("rank-4-small-start", many),
        part("rank-4-small-start-shallow", 5, depth=3),
        part("rank-5-small-start", few, used=5),
    ]


def run(part: lab.Part) -> Iterator[lab.Measured]:
    """Errors are shares of that of the network 0."""
    settings = part.settings
    depth, size = settings["depth"], settings["size"]
    x, y, stack = lab.learners(part, settings["used"], settings["gain"])
    stack.weights[-1] = stack.weights[-1] * settings["last"]

    def error(outputs: Tensor) -> Tensor:
        return size * (outputs - y).square().mean((-2, -1))

    steps, _, costs = lab.train(stack, error, x, RIDGE / depth, settings["steps"], settings["rate"])
    errors = error(stack(x)).detach() / size / y.square().mean((-2, -1))
    for number, (net, X) in enumerate(zip(stack.networks(), x.double(), strict=True)):
        measured = {"error": float(errors[number]), "bends": lab.short(torch.tensor(bends(net, X)))}
        for which, centred in (("", False), ("centred_", True)):
            ranks, gaps = layer_ranks(net, X, centred=centred)
            measured |= {f"{which}ranks": ranks, f"{which}gaps": lab.short(torch.tensor(gaps))}
        measured |= {
            "jacobian_rank": lab.jacobian_rank(net, X[:AUDITED]),
            "near_one": lab.near_one(net),
        }
        drawn: dict[str, Any] = {}
        if depth > 3 and number < 2:
            drawn = {"steps": steps, "per_layer": lab.short(costs[:, number] / depth)}
        if depth > 3 and number == 0 and settings["gain"] == HE:
            layers = [singular_values(Z) / len(X) ** 0.5 for Z in net.activations(X)[1:]]
            drawn["representations"] = [lab.short(s[:SHOWN]) for s in layers]
            drawn["weights"] = [lab.short(singular_values(W)[:SHOWN]) for W in net.weights]
        yield measured, drawn


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

    A quotient is 0 for rank 0, and at most 10⁹.

    Args:
        centred: whether the mean over the points is subtracted: then the rank is the dimension of
            an affine subspace. The document's Z_ℓ is not centred.
    """
    ranks, gaps = [], []
    for values in net.activations(X)[1:]:
        Z = values - values.mean(0) if centred else values
        s = singular_values(Z)
        k = int(lab.numerical_ranks(Z, s))
        ranks.append(k)
        rest = float(s[k]) if k < len(s) else 0.0
        gaps.append(min(float(s[k - 1]) / rest if rest else 1e9, 1e9) if k else 0.0)
    return ranks, gaps


def draw(runs: Sequence[lab.Run]) -> dict[str, lab.Figure]:
    """Three panels as in the document, of the first network, and the course of the training."""
    figure, (data, bent, weights, training) = lab.panels(2, 2)
    first = runs[0]
    depth, k = first["settings"]["depth"], first["settings"]["used"]
    carried = first["measured"]["near_one"][depth // 2]
    lab.spectra(
        data, first["drawn"]["representations"], carried, r"singular values of $Z_\ell / \sqrt{N}$"
    )
    data.set(title=f"Representations, the first {carried} in blue")
    lab.spectra(weights, first["drawn"]["weights"], carried, r"singular values of $W_\ell$")
    weights.set(title=f"Weights, the first {carried} in blue")
    for colour, gain, label in zip(
        lab.COLOURS, (HE, GAIN), ("gain √2", f"gain {GAIN}"), strict=False
    ):
        for number, one in enumerate(lab.where(runs, gain=gain, used=k, depth=depth)):
            named = None if number else label
            values = one["measured"]["bends"]
            bent.plot(range(1, len(values) + 1), values, color=colour, label=named)
            if "drawn" in one:
                course = one["drawn"]["steps"], one["drawn"]["per_layer"]
                training.plot(*course, color=colour, label=named)
    change = r"$\|\tilde{Z}_\ell - \sigma(\tilde{Z}_\ell)\|_F \, / \, \|\tilde{Z}_\ell\|_F$"
    bent.set(title="Change by the activation", xlabel="hidden layer", ylabel=change, ylim=(0, 1))
    bent.legend()
    training.axhline(6.0, color="black", linestyle="--", linewidth=0.8, label="printed")
    training.set(title="Training", xlabel="step", ylabel=r"$\|\theta\|^2 / L$", yscale="log")
    training.legend()
    return {"low_rank_task": figure}


if __name__ == "__main__":
    lab.make("rank.figure-1", parts, run, draw, QUICK)
