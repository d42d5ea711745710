"""Rounding in the squared distances of weights to projections, for the claims of Theorem 6/15."""


def size(net, at):
    """‖θ‖² + kL, what cancels in the sum of the squared distances; shape (*B)."""
    return net.cost() + at.count * net.depth


def rounding(net, at):
    """How far a sum of squared distances can be off, as rounding turns the subspaces; shape (*B)."""
    return 2**8 * at.error * size(net, at)
