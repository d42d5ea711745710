r"""The maximum of n numbers in ⌈log₃(n − 2)⌉ + 1 hidden layers, for n up to 72.

A maximum of two numbers takes one hidden layer, and one of five or of six numbers takes two
(:func:`rankcheck.witnesses.maximum_by_pairs`). Blocks, one behind another, give the maximum of
$2^a 5^b 6^c$ numbers, or fewer, in a + 2b + 2c hidden layers: first all pairs, then all fives, then
all sixes, with the last number repeated where a level does not come out even. With fives alone,
which are much smaller, the printed number of layers is reached for n = 4, ..., 10, 12, ..., 25 and
30, ..., 50; with sixes for all n up to 72. From n = 73 on these blocks take more layers for some n.

All weights are whole, as the value is $60^b 180^c$ times the maximum.

Used by field.max-in-printed-depth and field.piecewise-linear-in-printed-depth. Source of the
number: E. Bakaev, F. Brunck, C. Hertrich, J. Stade, A. Yehudayoff, *Better neural network
expressivity: subdividing the simplex*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from rankcheck.theory.witnesses.maxima import MaxIdentity
from rankcheck.theory.witnesses.maxima_by_pairs import maximum_by_pairs
from rankcheck.theory.witnesses.piecewise_linear import Maximum, binary_tree


def least_hidden_layers(n: int) -> int:
    """⌈log₃(n − 2)⌉ + 1, the printed number of hidden layers for the maximum of n ≥ 4 numbers.

    Two are enough for every n (docs/proofs/two-hidden-layers.md). Below four it is ⌈log₂ n⌉.

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
    """The maximum of n numbers in ``least_hidden_layers(n)`` hidden layers, times a whole number.

    >>> maximum_of(10).network().widths
    (10, 15, 22, 109, 1)

    Raises ValueError if n < 1, or where maxima of two, five and six numbers take more layers.
    """
    layers = least_hidden_layers(n)
    for sixes in range(layers // 2 + 1):
        for fives in range(layers // 2 - sixes + 1):
            pairs = layers - 2 * (fives + sixes)
            if 2**pairs * 5**fives * 6**sixes >= n:
                blocks = [maximum_by_pairs(5)] * fives + [maximum_by_pairs(6)] * sixes
                return _blocks(n, pairs, blocks)
    most = 6 ** (layers // 2) * 2 ** (layers % 2)
    raise ValueError(
        f"received n = {n}; with {layers} hidden layers, maxima of two, five and six numbers reach "
        f"n = {most}, and what the paper takes beyond is not constructed here"
    )


def _blocks(n: int, pairs: int, identities: Sequence[MaxIdentity]) -> Maximum:
    """Levels of pairs and then levels of larger maxima, merged into one network."""
    blocks = [binary_tree(2).matrices] * pairs
    blocks += [identity.network().weights for identity in identities]
    matrices, left = [torch.eye(n, dtype=torch.float64)], n
    for block in blocks:
        size = block[0].shape[-1]
        count = math.ceil(left / size)
        padded = torch.zeros(count * size, left, dtype=torch.float64)
        for k in range(count * size):
            padded[k, min(k, left - 1)] = 1
        one = torch.eye(count, dtype=torch.float64)
        first, *rest = (torch.kron(one, W) for W in block)
        matrices[-1:] = [first @ padded @ matrices[-1], *rest]
        left = count
    return Maximum(tuple(matrices), math.prod(one.denominator for one in identities))
