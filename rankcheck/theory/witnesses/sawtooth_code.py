r"""The identity of [0, 1] through two units a layer, on which the function hardly depends.

The point $t$ is carried beside a sawtooth of itself, $p = \Lambda^n(t)$ with
$\Lambda(u) = 2u - 4[u - \frac12]_+$ on [0, 1]: a wave with the slopes ±M, M = 2ⁿ. From $(q, p)$ the
function is read as

$$f = q + \tfrac1{2M} \bigl( |D + h| - |D - h| \bigr), \qquad D = \tfrac12 - |U| - |z|, \quad
  h = \tfrac12 (|U + z| - |U - z|),$$

with $U = p - \frac12$ and $z = \frac12 - \Lambda^n(q + \frac1{2M})$, the same wave a quarter of a
period later, continued beyond 1 by reflection. On the path q = t, p = Λⁿ(t) the point (U, z) runs
around the square $|U| + |z| = \frac12$, so that D = 0 and f = q = t. But there the second term is
±D/M, which depends on q with the slope −1: f has the derivatives 0 by q and ±1/M by p. So layers of
the identity, which keep (q, p), see a function that is nearly constant.

Used by bottleneck.ntk-with-two-units. Proof: docs/proofs/ntk-with-two-units.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import torch

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network
from rankcheck.theory.scalars import scalar

Row = Sequence[int | Fraction]
Layer = tuple[list[Row], Row]

HALF = Fraction(1, 2)


def outer_layers(n: int) -> int:
    """How many layers write the code and read it: 2n + 5."""
    return 2 * n + 5


def sawtooth_code(n: int, depth: int, like: Array) -> Network:
    """The network with 2ⁿ teeth and depth − 2n − 5 identity layers in the middle.

    Args:
        like: an array of the kind of number and the device of the network.

    Raises:
        ValueError: if n < 0 or the depth is less than 2n + 5.
    """
    if n < 0 or depth < outer_layers(n):
        raise ValueError(
            f"received n = {n} and depth {depth}; n is at least 0, the depth at least 2n + 5"
        )
    same: Layer = ([[1, 0], [0, 1]], [0, 0])
    layers = [*_written(n), *[same] * (depth - outer_layers(n)), *_read(n)]
    weights, biases = [], []
    for rows, shifts in layers:
        weights.append(
            torch.stack([torch.stack([scalar(entry, like) for entry in row]) for row in rows])
        )
        biases.append(torch.stack([scalar(entry, like) for entry in shifts]))
    return Network(weights, biases)


def _written(n: int) -> list[Layer]:
    """From t to (t, Λⁿ(t)): units t, u_j and [u_j − ½]_+ with u_j = Λʲ(t), j < n, in between."""
    if n == 0:
        return [([[1], [1]], [0, 0])]
    first: Layer = ([[1], [1], [1]], [0, 0, -HALF])
    fold: Layer = ([[1, 0, 0], [0, 2, -4], [0, 2, -4]], [0, 0, -HALF])
    return [first, *[fold] * (n - 1), ([[1, 0, 0], [0, 2, -4]], [0, 0])]


def _read(n: int) -> list[Layer]:
    """From (q, p) to f. The units are q, p, then those of the wave that gives z."""
    quarter = Fraction(1, 2 ** (n + 1))
    # The wave is u = along·(the last two units); at first q + quarter and [q + quarter − 1]_+.
    layers: list[Layer] = [([[1, 0], [0, 1], [1, 0], [1, 0]], [0, 0, quarter, quarter - 1])]
    along: Row = (1, -2)
    for _ in range(n):
        fold: list[Row] = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, *along), (0, 0, *along)]
        layers.append((fold, [0, 0, 0, -HALF]))
        along = (2, -4)
    # U = p − ½ and z = ½ − u, as rows with biases.
    U: Row = (0, 1, 0, 0, -HALF)
    z: Row = (0, 0, *(-w for w in along), HALF)
    pairs = list(zip(U, z, strict=True))
    sides: list[Row] = [U, z, [a + b for a, b in pairs], [a - b for a, b in pairs]]
    signed = [[sign * entry for entry in row] for row in sides for sign in (1, -1)]
    rows: list[Row] = [(1, 0, 0, 0), *(row[:-1] for row in signed)]
    layers.append((rows, [0, *(row[-1] for row in signed)]))
    plus: Row = (0, -1, -1, -1, -1, HALF, HALF, -HALF, -HALF)
    minus: Row = (0, -1, -1, -1, -1, -HALF, -HALF, HALF, HALF)
    ends = [[sign * entry for entry in row] for row in (plus, minus) for sign in (1, -1)]
    layers.append(([(1, *[0] * 8), *ends], [0, HALF, -HALF, HALF, -HALF]))
    layers.append(([(1, quarter, quarter, -quarter, -quarter)], [0]))
    return layers
