r"""How much two or three rays leave room for: numbers that a layer enlarges at a price.

Rays from one point are the columns of $A$; a layer takes them to $\sigma(WA)$. Each number here is
homogeneous in each ray alone, and a layer that enlarges it has a large $\|W\|_F$: see
docs/proofs/identity-on-the-line.md for two rays and docs/proofs/three-rays.md for three.
"""

from __future__ import annotations

import torch

from rankcheck.theory.linalg import Array


def room_of_two_rays(A: Array) -> Array:
    r"""$|p|^2 |q|^2 - (p \cdot q)_+^2$, the squared area between two rays, shape (*B).

    For an obtuse pair it is the largest area of pairs of that length.

    Args:
        A: (*B, n, 2), the rays as columns.
    """
    p, q = A.unbind(-1)
    inner = torch.relu((p * q).sum(-1))
    return (p * p).sum(-1) * (q * q).sum(-1) - inner * inner


def room_of_three_rays(A: Array, *, obtuse: bool = False) -> Array:
    r"""The least $|p|^2 d(q)^2 d(r)^2$ over the three rays p, shape (*B).

    $d(q)$ is the distance of $q$ from the ray of $p$, so it is $|q|$ where the two are obtuse. In
    other words $|p|^2 |q|^2 |r|^2$ times the two smallest of three numbers: $\sin^2$ of an angle,
    or 1 where it is obtuse. Zero if two rays have the same direction.

    Args:
        A: (*B, n, 3), the rays as columns.
        obtuse: take $\sin^2$ of obtuse angles, too, which is wrong in the theorem.
    """
    gram = A.mT @ A
    rooms = []
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        length = gram[..., i, i]
        there = length > 0
        safe = torch.where(there, length, 1 + 0 * length)
        room = length
        for other in (j, k):
            inner = gram[..., i, other]
            inner = inner if obtuse else torch.relu(inner)
            room = room * (gram[..., other, other] - inner * inner / safe)
        rooms.append(torch.where(there, room, 0 * room))
    return torch.stack(rooms, -1).amin(-1)
