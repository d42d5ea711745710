"""Instances that several statements of the benchmark share."""

from __future__ import annotations

import torch

from rankcheck.instances.kinks import clear_of_boundaries
from rankcheck.instances.matrices import low_rank
from rankcheck.instances.networks import network
from rankcheck.instances.source import instances


@instances
def square(source, *, size=(3, 3), bound=8.0, count=1):
    """Square matrices of one size, with any entries."""
    n = source.integer(*size)
    return tuple(source.tensor(n, n, low=-bound, high=bound) for _ in range(count))


@instances
def shifted(source, *, size=3, count=1):
    """Square matrices in coordinates in which no simple point is simple."""
    shift = torch.sin(7 + 3 * torch.arange(size * size, dtype=torch.float64)).reshape(size, size)
    made = [source.tensor(size, size, low=-4.0, high=4.0) for _ in range(count)]
    return tuple(A + (A.new_zeros((size, size)) + shift) for A in made)


@instances
def small_integers(source, *, size=(2, 4), count=3):
    """Square matrices of small integers, of a rank that is drawn."""
    n = source.integer(*size)
    made = []
    for _ in range(count):
        rank = source.integer(1, n)
        left = torch.round(source.tensor(n, rank, low=-2.0, high=2.0))
        made.append(left @ torch.round(source.tensor(rank, n, low=-2.0, high=2.0)))
    return tuple(made)


@instances
def low_rank_matrices(source, *, size=(2, 5)):
    """A matrix of a rank that is drawn, and the rank of its factors."""
    m, n = source.integer(*size), source.integer(*size)
    return low_rank(source, m, n, source.integer(1, min(m, n)))


@instances
def points(source, *, dimension=(4, 4), bound=8.0):
    """A point."""
    return source.tensor(source.integer(*dimension), low=-bound, high=bound)


@instances
def lines_and_points(source, *, lines=3, number=7):
    """Lines ⟨w_i, x⟩ = b_i of the plane, and points."""
    w, b = source.tensor(lines, 2, low=-4.0, high=4.0), source.tensor(lines, low=-4.0, high=4.0)
    return w, b, source.tensor(number, 2, low=-4.0, high=4.0)


@instances
def samples(source, *, size=(2, 4), number=(2, 5)):
    """N points Z (N × n), a matrix W (m × n), a vector b, and a slope."""
    n, m = source.integer(*size), source.integer(*size)
    z = source.tensor(source.integer(*number), n, low=-4.0, high=4.0)
    w, b = source.tensor(m, n, low=-4.0, high=4.0), source.tensor(m, low=-4.0, high=4.0)
    return z, w, b, source.tensor(low=-0.875, high=0.875)


@instances
def networks_at_two_points(source, *, depth=(3, 3), width=(2, 4), slopes="relu"):
    """A network and two points, at each of which it is differentiable."""
    net = network(source, depth=depth, width=width, slopes=slopes)
    x = source.tensor(2, net.widths[0], low=-4.0, high=4.0)
    return clear_of_boundaries(source, net, x), x


@instances
def whole_numbers(source, *, low=0, high=60):
    """A whole number."""
    return source.integer(low, high)
