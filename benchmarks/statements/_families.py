"""Instances that several statements of the benchmark share."""

from __future__ import annotations

from itertools import pairwise

import torch

from rankcheck.instances import clear_of_boundaries, instances, low_rank, network
from rankcheck.linalg import frobenius_squared
from rankcheck.networks import Network
from rankcheck.theory.instances.matrix_classes import folded


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


@instances
def sizes(source, *, ranges=((1, 4), (1, 4))):
    """Whole numbers, one from each range."""
    return tuple(source.integer(low, high) for low, high in ranges)


@instances
def metrics(source, *, points=(3, 5), longest=4.0):
    """Distances in a complete graph whose edges have lengths up to the longest."""
    n = source.integer(*points)
    D = folded(source.tensor(n * (n - 1) // 2, low=0.0, high=longest), n, -1).abs()
    for k in range(n):
        D = torch.minimum(D, D[..., :, k : k + 1] + D[..., k : k + 1, :])
    return D


@instances
def deep_networks(source, *, inputs=1, width=(1, 3), bound=4.0):
    """A ReLU network with two hidden layers and one output."""
    widths = (inputs, source.integer(*width), source.integer(*width), 1)
    layers = [
        (source.tensor(n, m, low=-bound, high=bound), source.tensor(n, low=-bound, high=bound))
        for m, n in pairwise(widths)
    ]
    weights, biases = zip(*layers, strict=True)
    return Network(weights, biases)


@instances
def pairs_of_shallow_networks(source, *, units=(2, 3), number=(4, 4), bound=2.0):
    """Two networks of one input and one output, as rows (a, w, b), and points with labels."""
    m, N = source.integer(*units), source.integer(*number)
    networks = [source.tensor(3, m, low=-bound, high=bound) for _ in range(2)]
    x, y = (source.tensor(N, low=-bound, high=bound) for _ in range(2))
    return *networks, x, y


def trace(A):
    return A.diagonal(dim1=-2, dim2=-1).sum(-1)


def size(A):
    """The size of what cancels in the spectrum of a matrix."""
    return frobenius_squared(A).sqrt()


@instances
def matrices_of_low_rank(source, *, size=(2, 6), ranks=(1, 3)):
    """A product of two thin factors, and how thin they are."""
    r = source.integer(*ranks)
    return low_rank(source, source.integer(*size), source.integer(*size), r), r


@instances
def factors_target_and_step(source, *, size=(1, 3)):
    """W_1 (k × n), W_2 (m × k), a target (m × n), and a step in [0, 1]."""
    m, k, n = (source.integer(*size) for _ in range(3))
    first, second = (source.tensor(*shape, low=-2.0, high=2.0) for shape in ((k, n), (m, k)))
    return first, second, source.tensor(m, n, low=-4.0, high=4.0), source.tensor(low=0.0, high=1.0)
