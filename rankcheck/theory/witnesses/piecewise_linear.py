r"""A piecewise-linear function of n variables as a ReLU network of depth ⌈log2(n+1)⌉ + 1.

Every function with finitely many linear pieces has the form (Wang & Sun 2005)

$$f(x) = \sum_j s_j \max_{i \in S_j} \ell_i(x), \qquad \ell_i(x) = \langle c_i, x\rangle + d_i,\quad
  |S_j| \le n + 1,\ s_j = \pm 1,$$

and a maximum of K affine functions is one of K numbers, computed by any ReLU network without biases
(:class:`Maximum`) behind the affine functions. Here it is a tree of maxima of two,

$$\max(p, q) = [p - q]_+ + [q]_+ - [-q]_+ ,$$

one hidden layer for each of its ⌈log2 K⌉ levels; at a level with an odd number of values the last
one is copied as $[p]_+ - [-p]_+$. All weights after the first layer are 0, ±1 or ±2, so on integers
(and on dyadics, while they fit) the network equals f to the last bit.

Used by rank.piecewise-linear-depth and, with other maxima, by
field.piecewise-linear-in-printed-depth. Source: A. Jacot, *Implicit bias of large depth networks*,
Corollary 1, after R. Arora, A. Basu, P. Mianjy, A. Mukherjee, *Understanding deep neural networks
with rectified linear units*, Theorem 2.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network
from rankcheck.theory.witnesses.deepen import deepen


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


@dataclass(frozen=True, eq=False)
class Maximum:
    """A ReLU network without biases whose value at K numbers is ``times`` · their maximum.

    Args:
        matrices: W_1, ..., W_L, without batch axes: from K numbers to one.
        times: an integer factor, by which the weights are whole.
    """

    matrices: tuple[torch.Tensor, ...]
    times: int = 1

    @property
    def hidden_layers(self) -> int:
        """L − 1."""
        return len(self.matrices) - 1

    def network(self) -> Network:
        """It as a network K → ... → 1."""
        return Network.linear(self.matrices)


def binary_tree(pieces: int) -> Maximum:
    """The maximum of K numbers as a tree of maxima of two: ⌈log2 K⌉ hidden layers.

    Raises ValueError if K < 1.

    >>> binary_tree(5).network().widths
    (5, 8, 5, 3, 1)
    """
    least_depth(pieces)  # raises
    values, matrices, left = torch.eye(pieces, dtype=torch.float64), [], pieces
    while left > 1:
        units, read = _level(left)
        matrices.append(units @ values)
        values, left = read, math.ceil(left / 2)
    return Maximum((*matrices, values))


def max_network(
    form: MaxForm, depth: int | None = None, *, maximum: Maximum | None = None
) -> Network:
    """Sums of maxima of K pieces as a ReLU network, by a network for the maximum of K numbers.

    Its depth is that of the maximum, by default of a tree, ⌈log2 K⌉ + 1, or a given larger one.

    Raises ValueError if ``depth`` is smaller than that, or the maximum is not one of K numbers.
    """
    *batch, terms, pieces, n = form.gradients.shape
    maximum = binary_tree(pieces) if maximum is None else maximum
    first, *rest = maximum.matrices
    if first.shape[-1] != pieces:
        raise ValueError(
            f"received a maximum of {first.shape[-1]} numbers for terms of {pieces} pieces"
        )
    if depth is not None and depth < len(maximum.matrices):
        raise ValueError(
            f"received depth {depth}; maxima of {pieces} pieces take depth {len(maximum.matrices)}"
        )
    first = form.signs.new_zeros(first.shape) + first.to(form.signs.device)
    weights = [(first @ form.gradients).reshape(*batch, terms * first.shape[0], n)]
    bias = (first @ form.offsets.unsqueeze(-1)).reshape(*batch, -1)
    weights += [_for_each_term(W, form) for W in rest]
    signs = form.signs if maximum.times == 1 else form.signs / maximum.times
    weights[-1] = signs @ weights[-1]
    if not rest:
        bias = (signs @ bias.unsqueeze(-1)).squeeze(-1)
    zeros = [w.new_zeros(w.shape[:-1]) for w in weights[1:]]
    net = Network(tuple(weights), (bias, *zeros))
    return net if depth is None else deepen(net, depth)


def _level(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrices of one level of the tree, from ``count`` values to ⌈count/2⌉ maxima.

    The first, (units, count), gives the units p − q, q, −q of each pair and r, −r of the value left
    over; the second, (⌈count/2⌉, units), reads the maxima from the activated units.
    """
    pairs, odd = divmod(count, 2)
    units = torch.zeros(3 * pairs + 2 * odd, count, dtype=torch.float64)
    read = torch.zeros(pairs + odd, len(units), dtype=torch.float64)
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
    blocks = torch.kron(torch.eye(terms, dtype=matrix.dtype), matrix).to(form.signs.device)
    return form.signs.new_zeros((*batch, *blocks.shape)) + blocks
