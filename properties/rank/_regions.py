"""What the claims about Jacobian ranks share: ranks over a box, and boxes around images."""

import torch

from rankcheck.balls import BallArray
from rankcheck.linalg import rank
from rankcheck.networks.bounds import interval_bounds
from rankcheck.regions import jacobian_rank, regions


def proved_rank(net, box):
    """rank_J over all linear regions in a box, in rational arithmetic."""
    return jacobian_rank(net, *box, exact=True).rank


def around(net, box):
    """A box with integer corners that contains the image of a box."""
    low, high = interval_bounds(net, *box)
    return low.floor() - 1, high.ceil() + 1


def ranks_by_region(net, box):
    """Per region of the network in a box: the rank of its Jacobian, and a point inside it.

    The ranks are proved; the points are exact rationals, as balls of shape (R, n_0).
    """
    cells = regions(net, *box)
    ranks = [cells.exact_jacobian(region).rank() for region in range(len(cells))]
    points = [cells.exact_interior(region) for region in range(len(cells))]
    return torch.tensor(ranks), BallArray.exact(points)


def exact(net):
    """The network with exactly its float parameters, as balls."""
    return net.map_arrays(BallArray.exact)


def ranks_at(net, points):
    """The ranks of the Jacobians of a network of balls at exact points, proved: integers (R)."""
    return rank(net.jacobian(points))
