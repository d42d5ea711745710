r"""The Hessian of the mean squared loss by difference quotients that are exact.

For points x_1..x_N with residuals e_i, the loss of the parameters θ' near θ is

.. math:: \mathcal L(\theta') = \frac1{2N} \sum_i \|f_{\theta'}(x_i) - f_\theta(x_i) + e_i\|^2 .

While the activation pattern at the points stays, f is affine in each single parameter. With
$a = \partial_j f$, $b = \partial_k f$ and $c = \partial_j \partial_k f$, a step of sh in θ_j and th
in θ_k, $s, t = \pm 1$, moves f by $h(sa + tb) + st\,h^2 c$. Hence

.. math::
    \frac{\mathcal L_{++} - \mathcal L_{+-} - \mathcal L_{-+} + \mathcal L_{--}}{4h^2}
    = \frac1N \sum_i \langle a, b\rangle + \langle c, e_i\rangle

at every step h: the entry of the Hessian, without automatic differentiation and without the
tangent kernel.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import torch
from torch import Tensor

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar

#: The step h.
HESSIAN_STEP = Fraction(1, 2**12)
#: The signs s, t of the four losses, whose product is the sign of the loss.
CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def number_of_parameters(net: Network) -> int:
    """The number P of the weights and biases of a network."""
    return sum(n * (m + 1) for n, m in zip(net.widths[1:], net.widths[:-1], strict=True))


def loss_hessian(net: Network, X: Array, residuals: Array) -> tuple[Array, Tensor]:
    """The Hessian (*B, P, P) of the loss, and bools (*B): where it is that of the network.

    It is where no step changes the activation pattern at the points.

    Args:
        X: N points, (*B, N, n_0).
        residuals: f(x_i) minus the target, (*B, N, n_L).
    """
    P = number_of_parameters(net)
    pairs = list(combinations_with_replacement(range(P), 2))
    moves = torch.zeros(len(pairs), len(CORNERS), P, dtype=torch.float64)
    for row, (j, k) in enumerate(pairs):
        for column, (s, t) in enumerate(CORNERS):
            moves[row, column, j] += s
            moves[row, column, k] += t
    moved = _moved(net, moves.flatten(0, 1).to(X.device))
    points = X.unsqueeze(-3).expand((*net.batch, len(pairs) * len(CORNERS), *X.shape[-2:]))
    errors = moved(points) - net(X).unsqueeze(-3) + residuals.unsqueeze(-3)
    count = len(net.batch)
    losses = (errors * errors).sum((-2, -1)) / (2 * X.shape[-2])
    losses = losses.reshape((*net.batch, len(pairs), len(CORNERS)))
    signs = torch.tensor([s * t for s, t in CORNERS], dtype=torch.float64, device=X.device)
    entries = (losses * signs).sum(-1) * scalar(1 / (4 * HESSIAN_STEP * HESSIAN_STEP), losses)
    place = torch.zeros(P, P, dtype=torch.int64)
    for row, (j, k) in enumerate(pairs):
        place[j, k] = place[k, j] = row
    same = torch.ones(net.batch, dtype=torch.bool, device=X.device)
    for here, there in zip(net.pattern(X), moved.pattern(points), strict=True):
        same = same & (here.unsqueeze(-3) == there).flatten(count).all(-1)
    return entries[..., place], same


def _moved(net: Network, moves: Tensor) -> Network:
    """The networks (*B, M) with the parameters moved by the step times the rows of moves (M, P)."""
    number, start = len(moves), 0
    parts: list[list[Array]] = [[], []]
    for arrays, into in zip((net.weights, net.biases), parts, strict=True):
        for array in arrays:
            shape = array.shape[len(net.batch) :]
            size = shape.numel()
            move = moves[:, start : start + size].reshape(number, *shape)
            start += size
            wide = array.unsqueeze(len(net.batch))
            into.append(wide + move * scalar(HESSIAN_STEP, array))
    slope = net.slope
    if not isinstance(slope, int | float | Fraction):
        slope = slope.unsqueeze(-1).expand((*net.batch, number))
    weights, biases = parts
    return Network(weights, biases, slope)
