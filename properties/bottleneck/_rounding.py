"""The two sides of Theorem 6/15 in floats: what cancels, how rounding turns the subspaces, the slack."""

from rankcheck import linalg


def size(net, at):
    """‖θ‖² + kL, what cancels in the sum of the squared distances."""
    return net.cost() + at.count * net.depth


def rounding(net, at):
    """How far a sum of squared distances can be off, as rounding turns the subspaces."""
    return 2**8 * at.error * size(net, at)


def slack(net, at, logs=2, ranks=1):
    """‖θ‖² − ranks·kL − logs·log |Jf(x)|_+, which is c_1 − 2 log |Jf(x)|_+ by default."""
    rank = at.rank * net.depth * linalg.scalar(ranks, at.excess)
    return net.cost() - rank - at.log_determinant * linalg.scalar(logs, at.excess)


def tolerated(net, at, factor=1):
    """The options of a relation whose sides are such sums, times a factor; asserted for k ≥ 1."""
    bands = {"scale": factor * size(net, at), "error": factor * rounding(net, at)}
    return {"where": at.rank > 0, **bands}
