r"""Numerical example of slides B of `linear`: linear layers before one layer of ReLUs, L = 2 and 4.

The function that is learnt is that of the notebooks behind the slides: a two-layer network
f(x) = aᵀ[U Σ Vᵀ x + b]_+ with 21 units, which depends on r directions of the 20, those of V.
Networks aᵀ[W_{L−1} ··· W_1 x + b]_+ + c learn it from points uniform on [−1/2, 1/2]^20. Only the
last linear layer and the output have biases. The width is 64 in place of 1000, the ridge that of
the notebooks (λ = 10⁻³, of which half is before ‖θ‖²), and all points are taken at once; a last
stretch of training is without ridge, as there.

Source: github.com/suzannastep/linearlayers, `teacher_networks_linear_layers.ipynb` and
`teacher_networks_plotting_results.ipynb`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from statistics import median
from typing import Any

import _training as lab
import numpy as np
import torch
from torch import Tensor

from rankcheck.costs import effective_index_rank, egop, egop_root, linear_layers_cost
from rankcheck.linalg import operator_norm, schatten_power, singular_values, spectral_projection
from rankcheck.networks import Network

#: (index rank, points) of the cases, and the depths.
CASES, DEPTHS = ((1, 64), (2, 64), (2, 128), (2, 256)), (2, 4)
#: The dimension of the points, the units of the target, and points for C_f and the errors.
INPUTS, UNITS, FRESH = 20, 21, 2048
#: The target is drawn by numpy's `RandomState` from this seed, and the entries of Σ below LARGEST.
SEED, LARGEST = 42, 100
SIZES = {"width": 64, "ridge": 5e-4, "steps": 20_000, "finish": 500, "rate": 0.01}
QUICK = {"width": 24, "steps": 40, "finish": 10}
#: Effective index ranks count the singular values of C_f^{1/2} above this share of the largest.
SHARE = 0.01
#: By (index rank, points, L), the singular values of C_f^{1/2} of one network of width 1000 in print.
# fmt: off
PRINTED = {
    (1, 64, 2): "19.693 0.42494 0.29704 0.25343 0.19491 0.086296 0.078714 0.03358 0.021807 0.016153 0.011333 0.0092979 0.0067985 0.0055514 0.003705 0.0032736 0.0026586 0.0016984 0.0013561 0.00079295",
    (1, 64, 4): "20.375 7.6574e-07 5.6829e-07 4.6863e-07 4.486e-07 3.0197e-07 2.1925e-07 1.8496e-07 1.383e-07 1.1918e-07 9.3951e-08 6.0973e-08 5.411e-08 5.2308e-08 4.6668e-08 2.9639e-08 1.6709e-08 9.2852e-09 6.5174e-09 6.2718e-09",
    (2, 64, 2): "8.7166 4.7239 2.6327 1.7828 1.695 1.0593 0.51525 0.49664 0.45223 0.21381 0.17073 0.16955 0.14753 0.13535 0.11168 0.090571 0.080531 0.058304 0.045046 0.03551",
    (2, 64, 4): "11.277 7.8808 4.8542 2.9326 4.8861e-07 4.5947e-07 4.3509e-07 3.7429e-07 3.5238e-07 3.3857e-07 3.3037e-07 2.9879e-07 2.8032e-07 2.5492e-07 2.3946e-07 2.295e-07 2.1843e-07 1.9767e-07 1.7918e-07 1.5513e-07",
    (2, 128, 2): "11.419 6.6413 2.9423 2.2119 2.0313 1.5948 1.3342 1.2241 0.65382 0.60408 0.57002 0.38827 0.36221 0.26487 0.25379 0.20808 0.18397 0.16573 0.12689 0.11206",
    (2, 128, 4): "13.319 7.1658 5.5173 4.6315 3.4314 1.9654 1.5008 0.44818 3.7177e-06 9.3875e-07 6.0372e-07 4.9032e-07 4.7345e-07 4.4643e-07 3.744e-07 3.5429e-07 3.3942e-07 2.8679e-07 2.4292e-07 1.9785e-07",
    (2, 256, 2): "14.127 7.4634 3.1114 2.531 2.1085 1.8969 1.7787 1.6652 1.4199 1.018 0.83706 0.76997 0.64968 0.61129 0.52732 0.45711 0.43574 0.40043 0.32917 0.29505",
    (2, 256, 4): "19.664 12.987 0.29292 0.1511 0.074851 0.015548 0.0023254 0.00036514 5.3828e-05 8.1790e-06 4.4103e-06 2.9659e-06 1.0974e-06 7.5222e-07 7.2747e-07 5.6174e-07 5.0732e-07 3.7632e-07 3.221e-07 2.8166e-07",
}
# fmt: on


def parts(seed: int) -> list[lab.Part]:
    """Both depths of a case have the same seeds, and so the same points."""
    return [
        lab.Part(
            f"rank-{r}-points-{points}-depth-{L}",
            {"rank": r, "points": points, "depth": L} | SIZES,
            tuple(range(1000 * seed + 100 * case, 1000 * seed + 100 * case + 12)),
        )
        for case, (r, points) in enumerate(CASES)
        for L in DEPTHS
    ]


def run(part: lab.Part) -> Iterator[lab.Measured]:
    """`cost` is (‖a‖² + Σ‖W_j‖_F²)/L, and `mixed_variation` its lower bound MV(f; 2/L)^{2/L}."""
    settings, draws = part.settings, lab.generators(part.seeds)
    r, L = settings["rank"], settings["depth"]
    points, fresh = (uniform(count, draws) for count in (settings["points"], FRESH))
    values = torch.stack([target(r)(each) for each in points])
    x, y = points.float(), values.float()
    stack = first_stack(L, settings["width"], draws)

    def error(outputs: Tensor) -> Tensor:
        return (outputs - y).square().mean((-2, -1))

    lab.train(stack, error, x, settings["ridge"], settings["steps"], settings["rate"])
    finish = settings["finish"], settings["rate"] / 100
    lab.train(stack, error, x, 0.0, *finish, warm=0, last=0.1)
    for number, net in enumerate(stack.networks()):
        *factors, a = (W[number].detach().double() for W in stack.weights)
        measured = measure(net, r, fresh[number])
        spectrum = torch.diag(torch.tensor(measured["sigma"], dtype=torch.float64))
        measured["cost"] = float(linear_layers_cost(factors, a[0]))
        measured["mixed_variation"] = float(schatten_power(spectrum, Fraction(2, L)))
        measured["error"] = float((net(points[number]) - values[number]).square().mean())
        measured["variance"] = float(values[number].var(correction=0))
        yield measured, {}


@cache
def target(r: int) -> Network:
    """The function of index rank r, 1 or 2, that is learnt."""
    hidden, directions, heights, offsets = drawn(r)
    weights = torch.as_tensor(hidden @ directions.T), torch.as_tensor(heights[None])
    return Network(weights, (torch.as_tensor(offsets), torch.zeros(1, dtype=torch.float64)))


@cache
def drawn(r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """UΣ (21, r), V (20, r), a (21) and b (21)."""
    draw = np.random.RandomState(SEED)
    U = orthogonal(draw, UNITS)[:, :r]
    sigma = LARGEST * draw.rand(r)
    V = orthogonal(draw, INPUTS)[:, :r]
    return U * sigma, V, draw.randn(UNITS), draw.randn(UNITS)


def orthogonal(draw: np.random.RandomState, n: int) -> np.ndarray:
    """An orthogonal n × n matrix, uniformly distributed, as scipy's `ortho_group` makes it."""
    Q, R = np.linalg.qr(draw.normal(size=(n, n)))
    return np.asarray(Q * np.sign(np.diag(R)))


def uniform(count: int, draws: Sequence[torch.Generator]) -> Tensor:
    """Points uniform on [−1/2, 1/2]^20, (R, count, 20), in float64; run i draws from `draws[i]`."""
    shape = count, INPUTS
    return torch.stack([torch.rand(shape, generator=d, dtype=torch.float64) for d in draws]) - 0.5


def first_stack(depth: int, width: int, draws: Sequence[torch.Generator]) -> lab.Stack:
    """L − 1 linear layers and one of ReLUs, of one width, with first weights.

    Weights are normal with the variance 1/(3n), n the inputs of the layer, of torch's own uniform
    ones, and biases are 0.
    """
    widths = [INPUTS, *[width] * (depth - 1), 1]
    full = lab.Stack.random(widths, draws, gain=1 / math.sqrt(3))
    linear = depth - 2
    return lab.Stack(full.weights, [None] * linear + full.biases[linear:], linear=linear)


def measure(net: Network, r: int, fresh: Tensor) -> dict[str, Any]:
    """What a network with scalar values learnt of the target, at fresh points (N, 20) of its law.

    `outside` is the error at twice the points. `effective_rank` counts the singular values of
    C_f^{1/2} above `SHARE` of the largest one, and `distance` is the sine of the largest angle
    between the first r principal directions and the true ones.
    """

    def error(x: Tensor) -> float:
        return float((net(x) - target(r)(x)).square().mean())

    gradients = net.jacobian(fresh).squeeze(-2)
    sigma = singular_values(egop_root(gradients))
    C, V = egop(gradients), torch.as_tensor(drawn(r)[1])
    return {
        "generalisation": error(fresh),
        "outside": error(2 * fresh),
        "sigma": sigma.tolist(),
        "effective_rank": int(effective_index_rank(C, SHARE * sigma[0])),
        "distance": float(operator_norm(spectral_projection(C, r) - V @ V.mT)),
    }


def draw(runs: Sequence[lab.Run]) -> dict[str, lab.Figure]:
    """The singular values as on the slides: medians, and all between the least and the largest."""
    figure, axes = lab.panels(2, 2, sharex=True, sharey=True)
    for panel, (r, points) in zip(axes, CASES, strict=True):
        for colour, L in zip(lab.COLOURS, DEPTHS, strict=False):
            some = lab.where(runs, rank=r, points=points, depth=L)
            columns = [*zip(*(one["measured"]["sigma"] for one in some), strict=True)]
            low, middle, high = ([max(f(s), 1e-8) for s in columns] for f in (min, median, max))
            numbers = range(1, INPUTS + 1)
            panel.fill_between(numbers, low, high, color=colour, alpha=0.2, linewidth=0)
            panel.plot(numbers, middle, color=colour, label=f"L = {L}")
            printed = [max(float(s), 1e-8) for s in PRINTED[r, points, L].split()]
            panel.plot(numbers, printed, "--", color=colour, label=f"L = {L}, printed")
        panel.set(title=f"r = {r}, {points} points", yscale="log", xlabel="$i$")
        panel.set(xticks=(1, 5, 10, 15, 20), ylabel=r"$\sigma_i$ of $C_f^{1/2}$")
        panel.label_outer()
    axes[0].legend(loc="center right")
    return {"spectra": figure}


if __name__ == "__main__":
    lab.make("linear.trained-singular-values", parts, run, draw, QUICK)
