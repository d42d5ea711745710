"""What the claims about Jacobian ranks share: ranks over a box, and boxes around images."""

from rankcheck import balls, networks, regions


def rank_over(net, box):
    """rank_J over all linear regions in a box: proved on balls, by a threshold in floats."""
    return regions.region_arrays(net, *box).ranks.amax()


def proved_rank(net, box):
    """rank_J of one network of floats over all linear regions in a box, in rational arithmetic."""
    return regions.jacobian_rank(net, *box, exact=True).rank


def around(net, box):
    """A box with integer corners that contains the image of a box."""
    low, high = networks.interval_bounds(net, *box)
    return low.floor() - 1, high.ceil() + 1


def exact(net):
    """The network with exactly its float parameters, as balls."""
    return net.map_arrays(balls.BallArray.exact)
