"""“Separable functions” of `separation`: a neuron sees two inner products and nothing else."""

import torch

from rankcheck import Network, eq, identity, paper, tolerances
from rankcheck.instances import Source, instances, unit_vectors


def neuron(source: Source, d: int):
    """One hidden neuron on (x, x'): widths 2d, 1, 1."""
    weights = (source.tensor(1, 2 * d), source.tensor(1, 1))
    return Network(weights, (source.tensor(1), source.tensor(1)))


def reflected(x, normal):
    """x reflected along the vector `normal`, and x itself where that vanishes."""
    square = (normal * normal).sum(-1, keepdim=True)
    along = (x * normal).sum(-1, keepdim=True) / torch.where(
        square == 0, torch.ones_like(square), square
    )
    return x - 2 * along * normal


def orthogonal_part(u, v):
    """|v|² times the part of u orthogonal to v; 0 where they are nearly parallel and it cancels."""
    length = (v * v).sum(-1, keepdim=True)
    part = u * length - v * (u * v).sum(-1, keepdim=True)
    lost = (part * part).sum(-1, keepdim=True) <= 2**-8 * (u * u).sum(-1, keepdim=True) * length**2
    return torch.where(lost, torch.zeros_like(part), part)


@instances
def neurons_at_reflected_points(source: Source):
    """A neuron, a pair of points, and the pair reflected along vectors orthogonal to v and v'."""
    d = source.integer(2, 6)
    net = neuron(source, d)
    v, w = net.weights[0][..., 0, :d], net.weights[0][..., 0, d:]
    first, second = source.tensor(d), source.tensor(d)
    x, other = unit_vectors(source, d), unit_vectors(source, d)
    moved = reflected(x, orthogonal_part(first, v)), reflected(other, orthogonal_part(second, w))
    return net, x, other, *moved


@instances
def neurons_at_other_points(source: Source):
    """A neuron and two independent pairs of points."""
    d = source.integer(2, 6)
    return neuron(source, d), *(unit_vectors(source, d) for _ in range(4))


@identity(
    "separation.neuron-is-separable",
    paper("separation", "slide: Separable functions"),
    instances=neurons_at_reflected_points(),
    needs={"the inner products with v and v′ are the same": neurons_at_other_points()},
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_neuron_is_separable(net, x, other, moved, other_moved):
    r"""A neuron is a separable function.

    $\sigma(\langle v, x \rangle + \langle v', x' \rangle + b)$ depends on
    $(\langle v, x \rangle, \langle v', x' \rangle)$ only.

    Checked: it takes the same value at a point of $S \times S$ and at its image under reflections
    that fix $v$ and $v'$.
    """
    before, after = torch.cat((x, other), -1), torch.cat((moved, other_moved), -1)
    # A reflection mixes the entries of x: what cancels is of the size of v, not of v·|x|.
    scale = tolerances.network_scale(net, torch.ones_like(before))
    return eq(net(before), net(after), scale=scale)
