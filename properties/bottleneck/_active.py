"""Networks built from their pre-activations at a point, so that the Jacobian has a rank that is given."""

import torch

from rankcheck import Network, networks
from rankcheck.instances import Source, away_from_zero, positive

#: The largest weight of a drawn layer.
BOUND = 2.0


def with_ones(W, rank, row, column):
    """W, plus one at the places (row + i, column + i) for i < rank."""
    rows, columns = torch.arange(W.shape[0])[:, None], torch.arange(W.shape[1])
    at = (columns - column == rows - row) & (rows >= row) & (rows < row + rank)
    return torch.where(at, W + 1, W)


def active_network(
    source: Source, x, *, rank, depth, outputs, slope, extra=(0, 1), start=0, value=None
):
    """A network of this depth in whose hidden layers the first `rank` units are active at x.

    The weights are drawn around a matrix of rank `rank`, then the pre-activations at x; the biases
    are what is left. So x lies inside a linear region, and for almost all weights the rank of Jf(x)
    is the least of n_0, n_L and the number of units of a layer that are active or have a non-zero
    slope.

    Args:
        extra: the range of the number of units beside the first ones; these have any sign.
        start: the first input and the first output of the matrix of rank `rank`.
        value: f(x); by default the last bias is drawn.
    """
    weights, biases, alpha = [], [], x
    for layer in range(depth):
        last = layer == depth - 1
        more = 0 if last else source.integer(*extra)
        n = outputs if last else rank + more
        W = source.tensor(n, len(alpha), low=-BOUND, high=BOUND)
        W = with_ones(W, rank, start if last else 0, 0 if layer else start)
        weights.append(W)
        if last:
            break
        z = positive(source, rank)
        if more:
            z = torch.hstack((z, away_from_zero(source, more)))
        biases.append(z - W @ alpha)
        alpha = networks.leaky(z, slope)
    drawn = value is None
    biases.append(source.tensor(outputs, low=-BOUND, high=BOUND) if drawn else value - W @ alpha)
    return Network(weights, biases, slope)
