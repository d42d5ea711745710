r"""The maximum of n numbers in ⌈log₃(n − 2)⌉ + 1 hidden layers, for the n that two blocks reach.

A maximum of two numbers takes one hidden layer and one of five numbers two
(:data:`rankcheck.witnesses.maxima.MAX_OF_FIVE`). Blocks of both, one behind another, give the
maximum of $2^a 5^b$ numbers, or fewer, in a + 2b hidden layers: first all pairs, then all fives,
with the last number repeated where a level does not come out even. That is the printed number of
layers for n = 4, ..., 10, 12, ..., 25, 30, ..., 50 and some larger n. Other n, from n = 11 on, take
more than these blocks.

All weights are whole, as the value is $60^b$ times the maximum.

Used by field.max-in-printed-depth and field.piecewise-linear-in-printed-depth. Source of the
number: E. Bakaev, F. Brunck, C. Hertrich, J. Stade, A. Yehudayoff, *Better neural network
expressivity: subdividing the simplex*.
"""

from __future__ import annotations

import math

import torch

from rankcheck.witnesses.maxima import MAX_OF_FIVE
from rankcheck.witnesses.piecewise_linear import Maximum, binary_tree

__all__ = ["least_hidden_layers", "maximum_of"]


def least_hidden_layers(n: int) -> int:
    """⌈log₃(n − 2)⌉ + 1, the printed number of hidden layers for the maximum of n ≥ 4 numbers.

    That fewer do not suffice is not known. Below four numbers it is ⌈log₂ n⌉.

    >>> [least_hidden_layers(n) for n in (2, 3, 4, 5, 6, 11, 12, 29, 30)]
    [1, 2, 2, 2, 3, 3, 4, 4, 5]

    Raises ValueError if n < 1.
    """
    if n < 1:
        raise ValueError(f"received n = {n}; a maximum is one of one number or more")
    if n < 4:
        return (n - 1).bit_length()
    layers = 1
    while 3 ** (layers - 1) < n - 2:
        layers += 1
    return layers


def maximum_of(n: int) -> Maximum:
    """The maximum of n numbers in ``least_hidden_layers(n)`` hidden layers, times a power of 60.

    >>> maximum_of(10).network().widths
    (10, 15, 22, 109, 1)

    Raises ValueError if n < 1, or where maxima of two and of five numbers take more layers.
    """
    layers = least_hidden_layers(n)
    for fives in range(layers // 2 + 1):
        pairs = layers - 2 * fives
        if 2**pairs * 5**fives >= n:
            return _blocks(n, pairs, fives)
    most = max(2 ** (layers - 2 * fives) * 5**fives for fives in range(layers // 2 + 1))
    raise ValueError(
        f"received n = {n}; with {layers} hidden layers, maxima of two and of five numbers reach "
        f"n = {most}, and what the paper takes beyond is not constructed here"
    )


def _blocks(n: int, pairs: int, fives: int) -> Maximum:
    """Levels of pairs and then levels of fives, merged into one network."""
    pair, five = binary_tree(2).matrices, MAX_OF_FIVE.network().weights
    matrices, left = [torch.eye(n, dtype=torch.float64)], n
    for block in (*[pair] * pairs, *[five] * fives):
        size = block[0].shape[-1]
        count = math.ceil(left / size)
        padded = torch.zeros(count * size, left, dtype=torch.float64)
        for k in range(count * size):
            padded[k, min(k, left - 1)] = 1
        one = torch.eye(count, dtype=torch.float64)
        first, *rest = (torch.kron(one, W) for W in block)
        matrices[-1:] = [first @ padded @ matrices[-1], *rest]
        left = count
    return Maximum(tuple(matrices), MAX_OF_FIVE.denominator**fives)
