"""Finite sets of witnesses along an axis: all permutations, all signs, all orders of the units.

That one of them does something is said of the largest, or the least, along the axis.
"""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor

from rankcheck.theory.linalg import Array, Number
from rankcheck.theory.networks.network import Network

#: So many witnesses at most; each is a whole copy of what it permutes.
MOST = 720


def all_permutations(n: int) -> Tensor:
    """The permutations of 0, ..., n − 1, integers of shape (n!, n); the identity comes first.

    ``A[..., all_permutations(n), :]`` has the rows of A (*B, n, m) in all orders: (*B, n!, n, m).

    Raises ValueError unless 1 <= n <= 6.
    """
    if n < 1:
        raise ValueError(f"received n = {n}; permutations are of one thing or more")
    _check_number(math.factorial(n))
    return torch.tensor(list(itertools.permutations(range(n))))


def all_signs(n: int, *, like: Array) -> Array:
    """The vectors of signs ±1, of the kind and on the device of `like`: (2ⁿ, n), all 1 first.

    Raises ValueError unless 1 <= n <= 9.
    """
    if n < 1:
        raise ValueError(f"received n = {n}; a vector of signs has one entry or more")
    _check_number(2**n)
    minus = torch.tensor(list(itertools.product((False, True), repeat=n)), device=like.device)
    one = like.new_ones(minus.shape)
    return torch.where(minus, -one, one)


def permuted_units(net: Network) -> Network:
    """The network with its hidden units in all orders, all of which compute the same function.

    The orders are the last batch axis of the result, (*B, Π n_ℓ!) over the hidden layers; the first
    one is the network as it is.

    >>> from rankcheck.linalg import frobenius_squared
    >>> net = Network.of([[[1.0], [2.0], [4.0]], [[0.0, 1.0, 0.0]]])
    >>> [w.shape for w in permuted_units(net).weights]
    [torch.Size([6, 3, 1]), torch.Size([6, 1, 3])]

    Raises ValueError if there are more than 720 orders.
    """
    hidden = net.widths[1:-1]
    _check_number(math.prod(map(math.factorial, hidden)))
    orders = list(itertools.product(*(itertools.permutations(range(n)) for n in hidden)))
    inputs, outputs = ([range(n)] * len(orders) for n in (net.widths[0], net.widths[-1]))
    layers = [inputs, *zip(*orders, strict=True), outputs]
    places = [torch.tensor([list(order) for order in layer]) for layer in layers]
    weights = [
        w[..., rows[:, :, None], columns[:, None, :]]
        for w, (columns, rows) in zip(net.weights, itertools.pairwise(places), strict=True)
    ]
    biases = [b[..., rows] for b, rows in zip(net.biases, places[1:], strict=True)]
    slope = net.slope
    if not isinstance(slope, Number):
        slope = slope[..., None].expand((*net.batch, len(orders)))
    return Network.unchecked_slope(weights, biases, slope)


def _check_number(number: int) -> None:
    if number > MOST:
        raise ValueError(f"received a set of {number} witnesses; a body takes at most {MOST}")
