r"""The notebooks behind the numerical example of `linear`: their target, and what they print.

The target is a two-layer network $f(x) = a^\top [U \Sigma V^\top x + b]_+$ from $\mathbb R^{20}$ to
$\mathbb R$ with 21 units, which depends on the r directions in the columns of V alone.

Source: github.com/suzannastep/linearlayers, `teacher_networks_linear_layers.ipynb` and
`teacher_networks_plotting_results.ipynb`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.networks.network import Network

__all__ = ["CASES", "DEPTHS", "INPUTS", "PRINTED", "target", "true_directions"]

#: (index rank, points) of the cases, and the depths.
CASES = ((1, 64), (2, 64), (2, 128), (2, 256))
DEPTHS = (2, 4)
#: The dimension of the points, and the units of the target.
INPUTS, UNITS = 20, 21
#: The target is drawn by numpy's `RandomState` from this seed, and the entries of Σ below LARGEST.
SEED, LARGEST = 42, 100


@cache
def target(r: int) -> Network:
    """The function of index rank r, 1 or 2, that is learnt."""
    hidden, directions, heights, offsets = _drawn(r)
    weights = torch.as_tensor(hidden @ directions.T), torch.as_tensor(heights[None])
    return Network(weights, (torch.as_tensor(offsets), torch.zeros(1, dtype=torch.float64)))


def true_directions(r: int) -> Tensor:
    """V, an orthonormal basis (20, r) of the directions that the target depends on."""
    return torch.as_tensor(_drawn(r)[1])


@cache
def _drawn(r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """UΣ (21, r), V (20, r), a (21) and b (21)."""
    draw = np.random.RandomState(SEED)
    U = _orthogonal(draw, UNITS)[:, :r]
    sigma = LARGEST * draw.rand(r)
    V = _orthogonal(draw, INPUTS)[:, :r]
    return U * sigma, V, draw.randn(UNITS), draw.randn(UNITS)


def _orthogonal(draw: np.random.RandomState, n: int) -> np.ndarray:
    """An orthogonal n × n matrix, uniformly distributed, as scipy's `ortho_group` makes it."""
    Q, R = np.linalg.qr(draw.normal(size=(n, n)))
    return np.asarray(Q * np.sign(np.diag(R)))


def _printed(errors: str, sigma: str) -> dict[str, Any]:
    """By the names of what is measured here; `error` is that of training."""
    names = ("error", "generalisation", "outside", "distance")
    numbers = dict(zip(names, map(float, errors.split()), strict=True))
    return {**numbers, "sigma": [float(each) for each in sigma.split()]}


#: By (index rank, points, L): one network of width 1000 each, trained with λ = 10⁻³.
PRINTED = {
    (1, 64, 2): _printed(
        "3.38387e-6 0.123922 1.08597 0.039473",
        "19.693 0.42494 0.29704 0.25343 0.19491 0.086296 0.078714 0.03358 0.021807 0.016153 "
        "0.011333 0.0092979 0.0067985 0.0055514 0.003705 0.0032736 0.0026586 0.0016984 0.0013561 "
        "0.00079295",
    ),
    (1, 64, 4): _printed(
        "8.18879e-5 0.000886 0.005394 0.002485",
        "20.375 7.6574e-07 5.6829e-07 4.6863e-07 4.486e-07 3.0197e-07 2.1925e-07 1.8496e-07 "
        "1.383e-07 1.1918e-07 9.3951e-08 6.0973e-08 5.411e-08 5.2308e-08 4.6668e-08 2.9639e-08 "
        "1.6709e-08 9.2852e-09 6.5174e-09 6.2718e-09",
    ),
    (2, 64, 2): _printed(
        "2.69405e-7 10.363419 42.304131 0.75882",
        "8.7166 4.7239 2.6327 1.7828 1.695 1.0593 0.51525 0.49664 0.45223 0.21381 0.17073 0.16955 "
        "0.14753 0.13535 0.11168 0.090571 0.080531 0.058304 0.045046 0.03551",
    ),
    (2, 64, 4): _printed(
        "4.94503e-7 12.52868 50.188057 0.956562",
        "11.277 7.8808 4.8542 2.9326 4.8861e-07 4.5947e-07 4.3509e-07 3.7429e-07 3.5238e-07 "
        "3.3857e-07 3.3037e-07 2.9879e-07 2.8032e-07 2.5492e-07 2.3946e-07 2.295e-07 2.1843e-07 "
        "1.9767e-07 1.7918e-07 1.5513e-07",
    ),
    (2, 128, 2): _printed(
        "7.78395e-5 5.970307 26.774363 0.497017",
        "11.419 6.6413 2.9423 2.2119 2.0313 1.5948 1.3342 1.2241 0.65382 0.60408 0.57002 0.38827 "
        "0.36221 0.26487 0.25379 0.20808 0.18397 0.16573 0.12689 0.11206",
    ),
    (2, 128, 4): _printed(
        "1.7427e-5 8.041153 39.235748 0.588165",
        "13.319 7.1658 5.5173 4.6315 3.4314 1.9654 1.5008 0.44818 3.7177e-06 9.3875e-07 6.0372e-07 "
        "4.9032e-07 4.7345e-07 4.4643e-07 3.744e-07 3.5429e-07 3.3942e-07 2.8679e-07 2.4292e-07 "
        "1.9785e-07",
    ),
    (2, 256, 2): _printed(
        "4.35537e-4 4.050545 18.744333 0.272722",
        "14.127 7.4634 3.1114 2.531 2.1085 1.8969 1.7787 1.6652 1.4199 1.018 0.83706 0.76997 "
        "0.64968 0.61129 0.52732 0.45711 0.43574 0.40043 0.32917 0.29505",
    ),
    (2, 256, 4): _printed(
        "9.97163e-4 0.02354 0.238946 0.011034",
        "19.664 12.987 0.29292 0.1511 0.074851 0.015548 0.0023254 0.00036514 5.3828e-05 8.1790e-06 "
        "4.4103e-06 2.9659e-06 1.0974e-06 7.5222e-07 7.2747e-07 5.6174e-07 5.0732e-07 3.7632e-07 "
        "3.221e-07 2.8166e-07",
    ),
}
