"""Networks with a bottleneck of rank k ≥ 1 at a point, and what the claims of Theorem 6/15 share."""

import torch

from rankcheck import Network, linalg, networks, separation
from rankcheck.instances import (
    Source,
    clear_of_boundaries,
    instances,
    networks_at_points,
    orthogonal,
    positive,
    semi_orthogonal,
    slope,
)


def with_bias(w, b):
    """(W b)."""
    return torch.hstack((w, b[:, None]))


def following_value(A, k):
    """s_{k+1}(A), and 0 if there are only k singular values."""
    s = linalg.singular_values(A)
    return torch.where(torch.arange(len(s), device=s.device) == k, s, 0).sum()


def active_units(source, weights, biases, steepness, x, k):
    """The network with biases raised so that the first k units of each hidden layer are active."""
    alpha, raised = x, []
    for w, b in zip(weights[:-1], biases, strict=False):
        z = w @ alpha + b
        low = (torch.arange(len(z), device=z.device) < k) & (z < 0.25)
        raised.append(torch.where(low, b - z + 0.25, b))
        alpha = networks.leaky(torch.where(low, 0.25, z), steepness)
    return clear_of_boundaries(source, Network(weights, (*raised, biases[-1]), steepness), x)


def entries(source, *shape, size, like):
    """A tensor with entries in ±size; zero, without a draw, if the size is."""
    if size == 0.0:
        return like.new_zeros(shape)
    return source.tensor(*shape, low=-size, high=size)


@instances
def perturbed_isometries(source: Source, *, depth=(1, 5), rank=(1, 3), slopes="any"):
    """Layers near multiples of isometries of rank k, with k active units, at a point.

    W_ℓ = t_ℓ A_ℓ B_ℓᵀ + N_ℓ, where A_ℓ and B_ℓ have k orthonormal columns, B_ℓ = A_{ℓ−1} half of the
    time, and N_ℓ = 0 in a third. The widths are k to k + 2. rank Jf(x) is k unless the draw is
    degenerate, or min(n_ℓ) at most where N_ℓ does not vanish.
    """
    layers, k = source.integer(*depth), source.integer(*rank)
    widths = [k + source.integer(0, 2) for _ in range(layers + 1)]
    aligned = source.choice((True, False))
    off = source.choice((0.0, 2.0**-5, 0.5))
    shift = source.choice((0.0, 2.0**-5, 1.0))
    steepness = slope(source, slopes)
    x = source.tensor(widths[0], low=-4.0, high=4.0)
    before = semi_orthogonal(source, widths[0], k)
    weights: list[linalg.Array] = []
    biases = []
    for n, m in zip(widths[1:], widths[:-1], strict=True):
        A = semi_orthogonal(source, n, k)
        B = before if aligned or not weights else semi_orthogonal(source, m, k)
        t = source.tensor(1, 1, low=0.5, high=1.5)
        weights.append(t * (A @ B.mT) + entries(source, n, m, size=off, like=x))
        biases.append(entries(source, n, size=shift, like=x))
        before = A
    return active_units(source, weights, biases, steepness, x, k), x


@instances
def networks_with_bottlenecks(source: Source, *, slopes="any"):
    """A network and a point: `perturbed_isometries`, or in one draw of four any network."""
    if source.integer(0, 3) == 3:
        return networks_at_points(slopes=slopes)(source)
    return perturbed_isometries(slopes=slopes)(source)


@instances
def isometries_beside_small_weights(source: Source, *, slopes="any", depth=(1, 6), equal=False):
    """W_ℓ = diag(t, ..., t, δ_ℓ) up to rotations, at a point where all units are active.

    In one layer δ_ℓ = 0 and the last unit has the offset β > 0 instead, so rank Jf(x) = k. Half of
    the t are 1: then each layer is at the distance δ_ℓ or β ≤ 1/2 from its isometry, and the sum of
    the squares is c_1, with |Jf(x)|_+ = 1. The others lie between 1 and 1 + 1/64, near isometries,
    where the bound depends on the logarithm and on k. With `equal`, there is no
    offset, and the other layers of a network are equally far from their isometries.
    """
    layers, k = source.integer(*depth), source.integer(1, 3)
    cut = source.integer(1, layers)
    into, out = orthogonal(source, k + 1), orthogonal(source, k + 1)
    steepness, y = slope(source, slopes), positive(source, k + 1)
    t = 1 + torch.relu(source.tensor(1, low=-(2.0**-6), high=2.0**-6))
    small = positive(source, 1 if equal else layers, low=2.0**-10, high=0.5)
    top = t.expand(k)
    weights, biases = [], []
    for index, last in enumerate(small.expand(layers), 1):
        weight, offset = (0 * last, last) if index == cut else (last, 0 * last)
        weights.append(torch.diag(torch.hstack((top, weight))))
        biases.append(torch.hstack((0 * top, 0 * last if equal else offset)))
    weights[0] = weights[0] @ into.mT
    weights[-1], biases[-1] = out @ weights[-1], out @ biases[-1]
    return Network(weights, biases, steepness), into @ y


@instances
def slightly_tilted(source: Source, *, slopes="any"):
    """W_1 = (cI; −sI), W_2 = (cI  −saI), W_ℓ = I, up to rotations, with c² + s² = 1 and small s.

    At x > 0 the second half of the first layer is inactive, and the first loses (1 − a²)s² of each
    of the k singular values in its mask.
    """
    layers, k = source.integer(2, 5), source.integer(1, 3)
    steepness, y = slope(source, slopes), positive(source, k)
    unit = separation.stereographic(source.tensor(1, low=2.0**-13, high=2.0**-10))
    s, c = unit.abs()
    into, out = orthogonal(source, k), orthogonal(source, k)
    one = linalg.eye(k, like=y)
    first = torch.vstack((c * one, -s * one)) @ into.mT
    weights = [first, torch.hstack((c * one, -s * steepness * one)), *[one] * (layers - 2)]
    weights[-1] = out @ weights[-1]
    return Network.linear(weights, steepness), into @ y


@instances
def sharp_bottlenecks(source: Source, *, slopes="any"):
    """Isometries beside small weights, or slightly tilted ones."""
    family = source.choice((isometries_beside_small_weights, slightly_tilted))
    return family(slopes=slopes)(source)


def dense(source: Source, widths, biased, steepness, *, bound):
    """A dense network with parameters in ±bound, at a point inside a region."""
    x = source.tensor(widths[0])
    weights, biases = [], []
    for n, m in zip(widths[1:], widths[:-1], strict=True):
        weights.append(source.tensor(n, m, low=-bound, high=bound))
        biases.append(entries(source, n, size=bound * biased, like=x))
    return clear_of_boundaries(source, Network(weights, biases, steepness), x), x


@instances
def dense_networks(source: Source, *, depth=(1, 3), width=(1, 3), slopes="any"):
    """Small dense networks, without biases in every second draw, at a point inside a region."""
    layers = source.integer(*depth)
    widths = [source.integer(*width) for _ in range(layers + 1)]
    return dense(source, widths, source.integer(0, 1), slope(source, slopes), bound=4.0)
