r"""The scales of the cheapest network, enclosed: the minimiser of `balance_neurons` on balls.

With w, b ≥ 0 the squared weights and biases, the cost is Σ w_{ℓ,ij} e^{2(u_{ℓ,i} − u_{ℓ−1,j})}
+ Σ b_{ℓ,i} e^{2 u_{ℓ,i}}, strictly convex in the log-scales u of the live neurons. Half its
gradient is G = in − out, and a quarter of its Hessian is H: in + out on the diagonal, minus the
rescaled weights between two layers. If N = u − ½ H(U)⁻¹ G(u) lies inside the box U around u, for an
enclosure H(U) over the box, then U has exactly one zero of G, and it lies in N (the interval Newton
method; Neumaier, *Interval Methods for Systems of Equations*, chapter 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch
from torch import Tensor

from rankcheck.balls import BallArray, Undecided, balls
from rankcheck.theory.linalg import Array

NEWTON_STEPS = 4
"""From 13 digits: each step doubles the number of digits."""

BOXES = 40
"""Boxes that are tried; each is 8 times as wide as the one before."""


def proved_log_scales(
    w: Sequence[Array], b: Sequence[Array], alive: Sequence[Tensor], guess: Sequence[Tensor]
) -> list[Array]:
    """Enclosures of the log-scales, (*B, n_ℓ) for each hidden layer, 0 for dead neurons.

    Raises Undecided if no box around the guess is proved to contain the minimiser.
    """
    batch = w[0].shape[:-2]
    if not alive:
        return []
    if not batch:
        return _of_one(w, b, alive, guess)
    if 0 in batch:
        return [balls(torch.zeros(g.shape, dtype=torch.float64)) for g in guess]
    rows = [
        proved_log_scales(*([x[i] for x in arrays] for arrays in (w, b, alive, guess)))
        for i in range(batch[0])
    ]
    return [torch.stack(layer) for layer in zip(*rows, strict=True)]


def _of_one(
    w: Sequence[Array], b: Sequence[Array], alive: Sequence[Tensor], guess: Sequence[Tensor]
) -> list[Array]:
    mask = torch.cat(list(alive))
    widths = [len(a) for a in alive]
    if not bool(mask.any()):
        return [balls(torch.zeros(n, dtype=torch.float64)) for n in widths]
    start = torch.cat(list(guess))
    u = BallArray.exact(torch.where(mask & start.isfinite(), start, 0.0))
    move = u
    for _ in range(NEWTON_STEPS):
        G, H = _gradient_and_hessian(w, b, u, mask, widths)
        move = balls(torch.linalg.solve(H.centres(), G.centres()) / 2)
        u = balls(u - move).centres()
    G, _ = _gradient_and_hessian(w, b, u, mask, widths)
    radius = Fraction(1, 2**124) + max(abs(x) for x in (*move.lower(), *G.lower(), *G.upper()))
    for _ in range(BOXES):
        box = u.enlarged(radius)
        _, H = _gradient_and_hessian(w, b, box, mask, widths)
        try:
            enclosure = balls(u - torch.linalg.solve(H, G) / 2)
            inside = all(
                outer < inner
                for outer, inner in (
                    *zip(box.lower(), enclosure.lower(), strict=True),
                    *zip(enclosure.upper(), box.upper(), strict=True),
                )
            )
        except Undecided:
            inside = False
        if inside:
            return list(torch.where(mask, enclosure, 0.0).split(widths))
        radius *= 8
    raise Undecided("the scales of the cheapest network are not proved to lie near those of floats")


def _gradient_and_hessian(
    w: Sequence[Array], b: Sequence[Array], u: Array, mask: Tensor, widths: list[int]
) -> tuple[BallArray, BallArray]:
    """G and H at u, as if dead neurons had G = 0 and a diagonal of 1."""
    parts = u.split(widths)
    live = mask.split(widths)
    M, bias = list(w), list(b)
    for i, (x, a) in enumerate(zip(parts, live, strict=True)):
        enter, leave = torch.where(a, (2 * x).exp(), 0.0), torch.where(a, (-2 * x).exp(), 0.0)
        M[i], bias[i] = M[i] * enter.unsqueeze(-1), bias[i] * enter
        M[i + 1] = M[i + 1] * leave.unsqueeze(-2)
    enters = torch.cat([M[i].sum(-1) + bias[i] for i in range(len(widths))])
    leaves = torch.cat([M[i + 1].sum(-2) for i in range(len(widths))])
    rows: list[Array] = []
    for i, n in enumerate(widths):
        blocks = [u.new_zeros((n, m)) for m in widths]
        if i > 0:
            blocks[i - 1] = -M[i]
        if i + 1 < len(widths):
            blocks[i + 1] = -M[i + 1].mT
        rows.append(torch.cat(blocks, -1))
    diagonal = torch.where(mask, enters + leaves, 1.0)
    return balls(enters - leaves), balls(torch.cat(rows) + torch.diag(diagonal))
