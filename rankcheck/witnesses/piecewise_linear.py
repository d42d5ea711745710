r"""A piecewise-linear function of n variables as a ReLU network of depth ⌈log2(n+1)⌉ + 1.

Every function with finitely many linear pieces has the form (Wang & Sun 2005)

$$f(x) = \sum_j s_j \max_{i \in S_j} \ell_i(x), \qquad \ell_i(x) = \langle c_i, x\rangle + d_i,\quad
  |S_j| \le n + 1,\ s_j = \pm 1,$$

and a maximum of K affine functions is a tree of maxima of two,

$$\max(p, q) = [p - q]_+ + [q]_+ - [-q]_+ ,$$

one hidden layer for each of its ⌈log2 K⌉ levels; at a level with an odd number of values the last
one is copied as $[p]_+ - [-p]_+$. All weights after the first layer are 0, ±1 or ±2, so on integers
(and on dyadics, while they fit) the network equals f to the last bit.

Used by rank.piecewise-linear-depth. Source: A. Jacot, *Implicit bias of large depth networks*,
Corollary 1, after R. Arora, A. Basu, P. Mianjy, A. Mukherjee, *Understanding deep neural networks
with rectified linear units*, Theorem 2.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from rankcheck.linalg import Array
from rankcheck.networks.network import Network
from rankcheck.witnesses.deepen import deepen


@dataclass(frozen=True, eq=False)
class MaxForm:
    """f(x) = Σ_j signs_j max_i (gradients_ji·x + offsets_ji), into R^m.

    Args:
        gradients: (*B, J, K, n): J terms of K pieces each. A term of fewer pieces repeats one.
        offsets: (*B, J, K).
        signs: (*B, m, J), any numbers.

    Raises:
        ValueError: the shapes do not fit, or J or K is zero.
    """

    gradients: Array
    offsets: Array
    signs: Array

    def __post_init__(self) -> None:
        *batch, terms, pieces, _ = self.gradients.shape
        if (
            terms * pieces == 0
            or tuple(self.offsets.shape) != (*batch, terms, pieces)
            or self.signs.ndim != len(batch) + 2
            or tuple(self.signs.shape) != (*batch, self.signs.shape[-2], terms)
        ):
            raise ValueError(
                f"received gradients, offsets and signs of shapes {tuple(self.gradients.shape)}, "
                f"{tuple(self.offsets.shape)} and {tuple(self.signs.shape)}; they have shapes "
                "(*B, J, K, n), (*B, J, K) and (*B, m, J) with J, K >= 1"
            )

    def __call__(self, x: Array) -> Array:
        """f at points (*B, n) or (*B, N, n): (*B, m) or (*B, N, m)."""
        many = x.ndim == self.gradients.ndim - 1
        points = x if many else x.unsqueeze(-2)
        # (*B, J, K, N)
        pieces = self.gradients @ points.mT.unsqueeze(-3) + self.offsets.unsqueeze(-1)
        values = (self.signs @ pieces.amax(-2)).mT
        return values if many else values.squeeze(-2)


def least_depth(pieces: int) -> int:
    """⌈log2 K⌉ + 1, the depth that :func:`max_network` needs for maxima of K pieces.

    Raises ValueError if K < 1.

    >>> [least_depth(pieces) for pieces in (1, 2, 3, 5)]
    [1, 2, 3, 4]
    """
    if pieces < 1:
        raise ValueError(f"received {pieces} pieces; a maximum is over one piece or more")
    return (pieces - 1).bit_length() + 1  # log2 of floats would be rounded for large K


def max_network(form: MaxForm, depth: int | None = None) -> Network:
    """Sums of maxima of K pieces as a ReLU network of depth ⌈log2 K⌉ + 1, or a given larger one.

    Raises ValueError if depth < least_depth(K).
    """
    *batch, terms, pieces, n = form.gradients.shape
    if depth is not None and depth < least_depth(pieces):
        raise ValueError(
            f"received depth {depth}; maxima of {pieces} pieces take depth {least_depth(pieces)}"
        )
    weights: list[Array] = []
    values = None
    left = pieces
    while left > 1:
        units, read = _level(left, form.signs)
        if values is None:
            first = units @ form.gradients
            weights.append(first.reshape(*batch, terms * units.shape[0], n))
            first_bias = (units @ form.offsets.unsqueeze(-1)).reshape(*batch, -1)
        else:
            weights.append(_for_each_term(units @ values, form))
        values, left = read, math.ceil(left / 2)
    if values is None:
        W = form.signs @ form.gradients.squeeze(-2)
        net = Network((W,), ((form.signs @ form.offsets).squeeze(-1),))
    else:
        weights.append(form.signs @ _for_each_term(values, form))
        zeros = [w.new_zeros(w.shape[:-1]) for w in weights[1:]]
        net = Network(tuple(weights), (first_bias, *zeros))
    return net if depth is None else deepen(net, depth)


def _level(count: int, like: Array) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrices of one level of the tree, from ``count`` values to ⌈count/2⌉ maxima.

    The first, (units, count), gives the units p − q, q, −q of each pair and r, −r of the value left
    over; the second, (⌈count/2⌉, units), reads the maxima from the activated units.
    """
    pairs, odd = divmod(count, 2)
    units = torch.zeros(3 * pairs + 2 * odd, count, dtype=torch.float64, device=like.device)
    read = torch.zeros(pairs + odd, len(units), dtype=torch.float64, device=like.device)
    for i in range(pairs):
        units[3 * i : 3 * i + 3, 2 * i : 2 * i + 2] = units.new_tensor([[1, -1], [0, 1], [0, -1]])
        read[i, 3 * i : 3 * i + 3] = read.new_tensor([1, 1, -1])
    if odd:
        units[-2:, -1] = units.new_tensor([1, -1])
        read[-1, -2:] = read.new_tensor([1, -1])
    return units, read


def _for_each_term(matrix: torch.Tensor, form: MaxForm) -> Array:
    """Block-diagonal, one copy of the matrix for each term, on the batch of the form."""
    *batch, _, terms = form.signs.shape
    one = torch.eye(terms, dtype=matrix.dtype, device=matrix.device)
    blocks = torch.kron(one, matrix)
    return form.signs.new_zeros((*batch, *blocks.shape)) + blocks
