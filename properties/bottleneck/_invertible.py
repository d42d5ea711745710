"""Invertible matrices far from singular ones, for claims on linear maps of a given rank."""

from rankcheck.instances import Source, orthogonal, triangular

#: A bound on the rounding error of the singular values of a product of a few of them.
NOISE = 2.0**-32


def invertible(source: Source, n: int):
    """An invertible n × n matrix."""
    return orthogonal(source, n) @ triangular(source, n, low=0.25, high=4.0, above=2.0)
