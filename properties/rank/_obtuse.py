"""Whether two rays of a loop are never at an obtuse angle, for two files of claims."""

from rankcheck import witnesses


def never_obtuse(loop):
    """Bools (*B): whether some two rays are at no obtuse angle before each layer."""
    u, good = loop.rays, loop.cost() >= 0
    m = u.shape[-1]
    acute = [[good] * m for _ in range(m)]
    for W, kinked in zip(loop.weights, loop.kinked, strict=True):
        gram = u.mT @ u
        acute = [[acute[i][j] & (gram[..., i, j] >= 0) for j in range(m)] for i in range(m)]
        u = witnesses.activate(W @ u, kinked, loop.slope)
    some = ~good
    for i in range(m):
        for j in range(i):
            some = some | acute[i][j]
    return some
