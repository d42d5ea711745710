"""Networks built from their pre-activations at a point, so that the Jacobian has a rank that is given."""

import torch

from rankcheck import Network, networks
from rankcheck.instances import Source, away_from_zero, positive

#: The largest weight of a drawn layer.
BOUND = 2.0


def column(slope):
    """The slope, as it broadcasts against a vector."""
    return slope if isinstance(slope, float | int) else slope.unsqueeze(-1)


def ones_at(like, n, m, rank, *, row=0, column=0):
    """The n × m matrix with ones at (row + i, column + i) for i < rank, of the kind of `like`."""
    rows, columns = torch.arange(n)[:, None], torch.arange(m)
    at = (columns - column == rows - row) & (rows >= row) & (rows < row + rank)
    return torch.where(at, like.new_ones(()), like.new_zeros(()))


def active_network(
    source: Source, x, *, rank, depth, outputs, slope, extra=(0, 1), start=0, value=None
):
    """A network of this depth in whose hidden layers the first `rank` units are active at x.

    The weights are drawn around a matrix of rank `rank`, then the pre-activations at x; the biases
    are what is left. So x lies inside a linear region, and for almost all weights the rank of Jf(x)
    is the least of n_0, n_L and the number of units of a layer that are active or have a non-zero
    slope.

    Args:
        x: (*B, n_0).
        extra: the range of the number of units beside the first ones; these have any sign.
        start: the first input and the first output of the matrix of rank `rank`.
        value: f(x); by default the last bias is drawn.
    """
    weights, biases, alpha = [], [], x
    for layer in range(depth):
        last, inputs = layer == depth - 1, alpha.shape[-1]
        more = 0 if last else source.integer(*extra)
        n = outputs if last else rank + more
        W = source.tensor(n, inputs, low=-BOUND, high=BOUND)
        row, first = (start if last else 0), (0 if layer else start)
        W = W + ones_at(W, n, inputs, rank, row=row, column=first)
        weights.append(W)
        if last:
            break
        z = positive(source, rank)
        if more:
            z = torch.cat((z, away_from_zero(source, more)), -1)
        biases.append(z - (W @ alpha.unsqueeze(-1)).squeeze(-1))
        alpha = networks.leaky(z, column(slope))
    if value is None:
        biases.append(source.tensor(outputs, low=-BOUND, high=BOUND))
    else:
        biases.append(value - (weights[-1] @ alpha.unsqueeze(-1)).squeeze(-1))
    return Network(weights, biases, slope)
