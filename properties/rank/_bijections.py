"""Piecewise-linear bijections at points, for two files of claims."""

from rankcheck import Network
from rankcheck.instances import Source, orthogonal, positive


def bijection(source: Source, n: int, depth: int, *, bound: float, low: float):
    """A bijection of R^n whose layers are orthogonal matrices times positive scales.

    Its biases lie in [-bound, bound], its slope in [low, 7/8].
    """
    weights = [
        orthogonal(source, n) * positive(source, n, low=0.5, high=2.0).unsqueeze(-2)
        for _ in range(depth)
    ]
    biases = [source.tensor(n, low=-bound, high=bound) for _ in weights]
    return Network(weights, biases, source.tensor(low=low, high=0.875))
