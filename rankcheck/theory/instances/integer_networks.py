"""Networks of integers, for ranks over all linear regions that are exact.

Sums and products of small integers and dyadic slopes are not rounded. So two hyperplanes that
coincide in a construction (a composition, a parallel sum) coincide in floats, and a product of
factors has the rank of its factors.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch

from rankcheck.theory import linalg
from rankcheck.theory.instances.kinks import active_units, clear_of_boundaries
from rankcheck.theory.instances.matrices import signs
from rankcheck.theory.instances.networks import Range, draw_widths, nonzero_diagonal, with_dead_unit
from rankcheck.theory.instances.source import Source
from rankcheck.theory.networks.evaluation import Slope
from rankcheck.theory.networks.network import Network

#: Slopes that keep integers dyadic, the simplest first. Half of them are ReLU, which can lose rank.
DYADIC_SLOPES = (0.0, 0.5, -0.5, 0.25, 0.0, 0.0)


def whole(entries: Any) -> Any:
    """The entries rounded away from zero, so that only zeros become zero."""
    return entries.sign() * entries.abs().ceil()


#: The structures of a drawn layer, the simplest first. Most are dense, because one zero layer makes
#: the whole network constant.
LAYERS = ("dense", "dense", "dense", "dense", "dense", "without biases", "rank one", "a dead unit")
#: The weights of these structures where the signal is to be kept.
ALIVE = (12, 1, 1, 1, 1, 3, 2, 1)


def integer_network(
    source: Source,
    *,
    depth: Range = (1, 3),
    width: Range = (1, 4),
    inputs: int | None = None,
    outputs: int | None = None,
    slope: Slope | None = None,
    at: Any = None,
) -> Network:
    """A network with integer weights and biases; its slope is drawn from `DYADIC_SLOPES`.

    Args:
        inputs, outputs: fix the outer widths.
        slope: fixes the slope.
        at: a point of integers (n_0) at which most Jacobians are not zero: dense layers have no
            zeros on their diagonals, and units are turned by `active_units`.
    """
    widths = draw_widths(source, depth, width, inputs, outputs)
    weights, biases = [], []
    for n, m in pairwise(widths[::-1]):
        kind = source.choice(LAYERS, None if at is None else ALIVE)
        if kind == "rank one":
            W = whole(source.tensor(n, 1, low=-2.0, high=2.0))
            W = W @ whole(source.tensor(1, m, low=-2.0, high=2.0))
        else:
            W = whole(source.tensor(n, m, low=-3.0, high=3.0))
            W = W if at is None else nonzero_diagonal(W)
        b = whole(source.tensor(n, low=-3.0, high=3.0))
        if kind == "without biases":
            b = 0 * b
        if kind == "a dead unit":
            W, b = with_dead_unit(W, b)
        weights.append(W)
        biases.append(b)
    a = source.choice(DYADIC_SLOPES) if slope is None else slope
    net = Network(weights[::-1], biases[::-1], a)
    return net if at is None else clear_of_boundaries(source, net, at, active_units(source, widths))


def integer_box(source: Source, dimension: int) -> tuple[Any, Any]:
    """The corners low < high of a box whose corners are integers in [-4, 4]."""
    centre = source.tensor(dimension, low=-2.0, high=2.0).round()
    radius = source.tensor(dimension, low=1.0, high=2.0).round()
    return centre - radius, centre + radius


def unimodular(source: Source, n: int) -> Any:
    """An n × n matrix of integers with determinant ±1; its inverse has integer entries too.

    It is a product of a unit lower triangular, a diagonal and a unit upper triangular matrix; the
    diagonal entries are ±1.
    """
    entries = whole(source.tensor(2, n, n, low=-2.0, high=2.0))
    diagonal = torch.diag_embed(signs(source, n))
    identity = linalg.eye(n, like=entries)
    lower = entries[0].tril(-1) + identity
    upper = entries[1].triu(1) + identity
    return lower @ diagonal @ upper


def integer_factors(source: Source, m: int, n: int, rank: int) -> tuple[Any, Any]:
    """Factors U (m × rank) and V (rank × n) of an integer matrix of exactly that rank ≥ 1.

    The last rows of U and the first columns of V are the identity; rank ≤ min(m, n).
    """
    left = whole(source.tensor(m - rank, rank, low=-3.0, high=3.0))
    right = whole(source.tensor(rank, n - rank, low=-3.0, high=3.0))
    block = linalg.eye(rank, like=left)
    return torch.cat((left, block), -2), torch.cat((block, right), -1)


def integer_bijection(
    source: Source, n: int, *, depth: Range = (1, 3), slope: float = 0.5
) -> Network:
    """A piecewise-linear bijection of R^n: unimodular layers and a slope that is not zero."""
    layers = source.integer(*depth)
    weights = [unimodular(source, n) for _ in range(layers)]
    biases = [whole(source.tensor(n, low=-3.0, high=3.0)) for _ in weights]
    return Network(weights, biases, slope)
