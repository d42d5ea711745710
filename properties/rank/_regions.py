"""What the claims about Jacobian ranks share: ranks over a box, and boxes around images."""

from rankcheck.networks.bounds import interval_bounds
from rankcheck.regions import jacobian_rank


def proved_rank(net, box):
    """rank_J over all linear regions in a box, in rational arithmetic."""
    return jacobian_rank(net, *box, exact=True).rank


def around(net, box):
    """A box with integer corners that contains the image of a box."""
    low, high = interval_bounds(net, *box)
    return low.floor() - 1, high.ceil() + 1
