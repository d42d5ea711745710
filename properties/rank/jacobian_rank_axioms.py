"""Prop. 1 of `rank`: the Jacobian rank of compositions, sums and affine maps."""

import operator
from functools import partial

import torch

from rankcheck import Network, bound, eq, identity, leq, linalg, paper, witnesses
from rankcheck.instances import Source, instances, integer_box, integer_factors, integer_network

from ._regions import around, rank_over


@instances
def three_networks(source: Source):
    """g: R^n → R^m, and f, e: R^m → R^p of one depth; a box, and one that contains g of it.

    Half of the time f reads only the first p coordinates and g moves only the last q: then the
    composition has at most rank p + q − m.
    """
    m = source.integer(1, 3)
    n = source.integer(max(1, m - 1), 3)
    width = (source.choice((1, m)), 3)
    box = integer_box(source, n)
    centre = (box[0] + box[1]) / 2
    g = integer_network(source, depth=(1, 2), width=width, inputs=n, outputs=m, at=centre)
    reads, moves = m, m
    if m > 1 and source.integer(0, 1) == 1:
        reads, moves = source.integer(1, m), source.integer(1, m)
    coordinate = torch.arange(m)
    moved = g.weights[-1] * (coordinate >= m - moves).unsqueeze(-1)
    g = g.with_parameters((*g.weights[:-1], moved), g.biases)
    there = g(centre)
    pair = partial(
        integer_network, source, depth=(2, 2), width=width, inputs=m, slope=g.slope, at=there
    )
    f = reading(pair(), reads)
    e = pair(outputs=f.widths[-1])
    return f, g, e, box, around(g, box)


def reading(f, count):
    """The network with its first `count` inputs alone."""
    first = f.weights[0] * (torch.arange(f.widths[0]) < count)
    return f.with_parameters((first, *f.weights[1:]), f.biases)


def ranks(f, g, e, box, image):
    """The rank of the composition, and how far it is below the smaller of the two."""
    both = rank_over(f.merged_after(g), box)
    least = torch.minimum(rank_over(f, image), rank_over(g, box))
    return {"rank f∘g": both, "below the least": least - both}


@instances
def elsewhere(source: Source):
    """f = [y − 8]_+ and g = wx + 16 > 8; the box for f is one where f vanishes."""
    w = source.tensor(1, 1, low=1.0, high=3.0).round()
    one, zero = torch.ones_like(w), torch.zeros_like(w[..., 0])
    f = Network((one, one), (zero - 8, zero))
    g = Network((w,), (zero + 16,))
    return f, g, f, (zero - 2, zero + 2), (zero - 2, zero + 2)


@instances
def independent_networks(source: Source):
    """f is the first coordinate of R^2, e the second, each through a hidden unit.

    g is id + b on R^2, or y ↦ y·(1, 1) + b from R.
    """
    b = source.tensor(2, low=-1.0, high=1.0).round()
    unit = linalg.eye(2, like=b).expand(*source.batch, 2, 2)
    f, e = (Network.linear((row, row.mT)) for row in (unit[..., :1, :], unit[..., 1:, :]))
    line = source.integer(0, 1) == 1
    g = Network((unit.sum(-1, keepdim=True) if line else unit,), (b,))
    box = (b - 2, b + 2) if not line else (b[..., :1] - 2, b[..., :1] + 2)
    return f, g, e, box, around(g, box)


def lower_half(box):
    """The half of a box where the first coordinate is small."""
    low, high = box
    first = torch.arange(low.shape[-1]) == 0
    return low, torch.where(first, (low + high) / 2, high)


@bound(
    "rank.jacobian-rank-axioms",
    paper("rank", "Prop. 1, properties 1-3"),
    instances=three_networks(),
    tight=independent_networks(),
    needs={"the domain of f contains g(Ω)": elsewhere()},
    mutants={
        "the larger of two ranks for a sum": {"total": torch.maximum},
        "the rank of f on half of the image": {"domain": lower_half},
    },
    reach=ranks,
    effort=0.25,
)
def test_jacobian_rank_axioms(f, g, e, box, image, *, total=operator.add, domain=lambda box: box):
    r"""The Jacobian rank of a composition is at most either rank, that of a sum their sum.

    For $g(\Omega) \subset \Omega'$:
    $\operatorname{rank}_J(f \circ g; \Omega) \le \min\{\operatorname{rank}_J(f; \Omega'),
    \operatorname{rank}_J(g; \Omega)\}$, and
    $\operatorname{rank}_J(f + e; \Omega') \le \operatorname{rank}_J(f; \Omega') +
    \operatorname{rank}_J(e; \Omega')$. All ranks are integers.

    Checked over *all* linear regions of integer networks in boxes. Property 4 is
    rank.jacobian-rank-of-affine-maps.
    """
    rank_f, rank_e = rank_over(f, domain(image)), rank_over(e, image)
    whole = rank_over(f.merged_after(g), box)
    return (
        leq(whole, rank_f, label="a composition, its outer part"),
        leq(whole, rank_over(g, box), label="a composition, its inner part"),
        leq(rank_over(f.add(e), image), total(rank_f, rank_e), label="a sum"),
    )


@instances
def affine_maps(source: Source):
    """x ↦ Ax + b with A of a known rank, the depth of a network for it, and a box."""
    m, n = source.integer(1, 3), source.integer(1, 3)
    k = source.integer(0, min(m, n))
    U, V = integer_factors(source, m, n, max(k, 1))
    A = U @ V if k else torch.zeros_like(U @ V)
    net = Network((A,), (source.tensor(m, low=-3.0, high=3.0).round(),), source.choice((0.0, -0.5)))
    return net, k, source.integer(2, 3), integer_box(source, n)


def first_input_fixed(net, box):
    """The rank with the first input held fixed."""
    W, *rest = net.weights
    free = torch.arange(W.shape[-1]) > 0
    return rank_over(net.with_parameters((W * free, *rest), net.biases), box)


@identity(
    "rank.jacobian-rank-of-affine-maps",
    paper("rank", "Prop. 1, property 4"),
    instances=affine_maps(),
    mutants={"one input held fixed": {"rank": first_input_fixed}},
    witness=witnesses.deepen,
    effort=0.5,
    audit="left out: it is about networks for affine maps",
)
def test_jacobian_rank_of_affine_maps(net, k, depth, box, *, rank=rank_over):
    r"""An affine map has the Jacobian rank of its matrix, whatever network computes it.

    $\operatorname{rank}_J(x \mapsto Ax + b) = \operatorname{rank} A$, also for a network of several
    layers and many linear regions that computes the map.

    $A$ is a product of integer factors, which fix its rank.
    """
    return (
        eq(rank(net, box), k, label="one layer"),
        eq(rank(witnesses.deepen(net, depth), box), k, label="a network with kinks"),
    )
