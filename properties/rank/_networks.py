"""Networks that several files of claims take, and those of their controls."""

from rankcheck import Network, witnesses
from rankcheck.instances import Source, orthogonal, positive


def bijection(source: Source, n: int, depth: int, *, bound: float, low: float):
    """A bijection of R^n whose layers are orthogonal matrices times positive scales.

    Its biases lie in [-bound, bound], its slope in [low, 7/8].
    """
    weights = [orthogonal(source, n) * positive(source, n, low=0.5, high=2.0) for _ in range(depth)]
    biases = [source.tensor(n, low=-bound, high=bound) for _ in weights]
    return Network(weights, biases, source.tensor(low=low, high=0.875))


def relabelled(net, slope):
    """The weights and biases as they are, with another slope: another function."""
    return Network(net.weights, net.biases, slope)


def untranslated(h, g, depth, lower):
    """The identity layers between g and h without the shift into the positive orthant."""
    return witnesses.identity_layers(h, g, depth, 0 * lower)
