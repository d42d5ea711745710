r"""A network as a wider network of the same function and the same cost.

A hidden unit with zero incoming weights, zero bias and zero outgoing weights is at its kink at
every x and changes nothing: f, the cost and the other activations stay. So every network of widths
$n$ is one of any larger hidden widths $n' \ge n$, and the least cost of a function does not rise
with a hidden width.

Used by rank.padding. Source: A. Jacot, *Implicit bias of large depth networks: a notion of rank for
nonlinear functions*, proof of Theorem 4 and Remark 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network


def pad(net: Network, hidden: Sequence[int]) -> Network:
    """The network with zero units added behind the others, up to these hidden widths.

    Args:
        hidden: (n_1, ..., n_{L−1}), none smaller than that of the network.

    >>> print(pad(Network.of([[[1.0]], [[2.0]]]), (2,)))
    depth 2, slope 0, W_1 = [[1], [0]], b_1 = [0, 0], W_2 = [[2, 0]], b_2 = [0]

    Raises:
        ValueError: if there is not one width for each hidden layer, or one is too small.
    """
    widths = net.widths
    wider = (widths[0], *hidden, widths[-1])
    if len(wider) != len(widths) or any(new < old for new, old in zip(wider, widths, strict=True)):
        raise ValueError(
            f"received the hidden widths {tuple(hidden)} for a network of widths {widths}; there "
            "is one for each hidden layer, none smaller"
        )
    weights, biases = [], []
    for layer, (w, b) in enumerate(zip(net.weights, net.biases, strict=True)):
        rows, columns = wider[layer + 1] - w.shape[-2], wider[layer] - w.shape[-1]
        w = _grown(_grown(w, -1, columns), -2, rows)
        weights.append(w)
        biases.append(_grown(b, -1, rows))
    return net.with_parameters(weights, biases)


def _grown(array: Array, axis: int, count: int) -> Array:
    """The array with so many zeros behind its entries along an axis."""
    if count == 0:
        return array
    shape = list(array.shape)
    shape[axis] = count
    return torch.cat((array, array.new_zeros(shape)), axis)
