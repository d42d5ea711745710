"""Props. 1 and 6 of `rank`: the Jacobian rank of compositions, sums and affine maps, its bound."""

import operator
from functools import partial

import torch

from rankcheck import Network, bound, eq, identity, leq, linalg, paper, witnesses
from rankcheck.instances import (
    Source,
    instances,
    integer_bijection,
    integer_box,
    integer_factors,
    integer_network,
)

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
    moved = g.weights[-1] * (coordinate >= m - moves)[:, None]
    g = g.with_parameters((*g.weights[:-1], moved), g.biases)
    pair = partial(integer_network, source, depth=(2, 2), width=width, inputs=m, slope=g.slope)
    f = reading(pair(at=g(centre)), coordinate < reads)
    return f, g, pair(outputs=f.widths[-1], at=g(centre)), box, around(g, box)


def reading(f, kept):
    """The network with some of its inputs alone."""
    return f.with_parameters((f.weights[0] * kept, *f.weights[1:]), f.biases)


def ranks(f, g, e, box, image):
    """The rank of the composition, and how far it is below the smaller of the two."""
    both = rank_over(f.merged_after(g), box)
    least = torch.minimum(rank_over(f, image), rank_over(g, box))
    return {"rank f∘g": both, "below the least": least - both}


@instances
def elsewhere(source: Source):
    """f = [y − 8]_+ and g = wx + 16 > 8; the box for f is one where f vanishes."""
    w = source.tensor(1, 1, low=1.0, high=3.0).round()
    one, zero = torch.ones_like(w), 0 * w[0]
    f, box = Network((one, one), (zero - 8, zero)), (zero - 2, zero + 2)
    return f, Network((w,), (zero + 16,)), f, box, box


@instances
def independent_networks(source: Source):
    """f is the first coordinate of R^2, e the second, each through a hidden unit.

    g is id + b on R^2, or y ↦ y·(1, 1) + b from R.
    """
    b = source.tensor(2, low=-1.0, high=1.0).round()
    unit, inputs = linalg.eye(2, like=b), 2 - source.integer(0, 1)
    f, e = (Network.linear((row[None], row[:, None])) for row in unit)
    g = Network((unit if inputs == 2 else b.new_ones(2, 1),), (b,))
    box = b[:inputs] - 2, b[:inputs] + 2
    return f, g, e, box, around(g, box)


def lower_half(box):
    """The half of a box where the first coordinate is small."""
    low, high = box
    return low, torch.where(torch.arange(len(low)) == 0, (low + high) / 2, high)


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
    A, b = U @ V * (k > 0), source.tensor(m, low=-3.0, high=3.0).round()
    net = Network((A,), (b,), source.choice((0.0, -0.5)))
    return net, k, source.integer(2, 3), integer_box(source, n)


def first_input_fixed(net, box):
    """The rank with the first input held fixed."""
    return rank_over(reading(net, torch.arange(net.widths[0]) > 0), box)


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


@instances
def functions_through_a_bottleneck(source: Source):
    """f = h ∘ g through R^k, k, and a box, at whose centre most Jacobians are not zero."""
    k = source.integer(1, 3)
    n = source.integer(1, 3) if k == 1 else source.integer(k - 1, 3)
    box = integer_box(source, n)
    centre = (box[0] + box[1]) / 2
    width = (source.choice((1, k), weights=(1, 3)), 4)
    g = integer_network(source, depth=(1, 2), width=width, inputs=n, outputs=k, at=centre)
    h = integer_network(source, depth=(1, 2), width=width, inputs=k, slope=g.slope, at=g(centre))
    return witnesses.Factorisation(h, g), k, box


@instances
def of_full_rank(source: Source):
    """h a bijection of R^k and then an injective linear map, g a linear map onto R^k."""
    k = source.integer(1, 2)
    psi = integer_bijection(source, k, depth=(1, 2))
    U, V = integer_factors(source, k + source.integer(0, 2), k + source.integer(0, 1), k)
    onto, into = Network.linear((V,), psi.slope), Network.linear((U,), psi.slope)
    f = witnesses.Factorisation(into.merged_after(psi), onto)
    return f, k, integer_box(source, V.shape[1])


@instances
def through_one_dimension_more(source: Source):
    """The same functions through R^{k+1}, said to go through R^k."""
    f, k, box = of_full_rank()(source)
    return f, k - 1, box


@bound(
    "rank.jacobian-below-bottleneck",
    paper("rank", "Prop. 1/6"),
    instances=functions_through_a_bottleneck(),
    tight=of_full_rank(),
    needs={"f factors through R^k": through_one_dimension_more()},
    witness=witnesses.Factorisation,
    reach=lambda f, k, box: {"rank f": rank_over(f.network(), box)},
    effort=0.3,
)
def test_jacobian_below_bottleneck(f, k, box):
    r"""The Jacobian rank is at most the inner dimension of every factorisation.

    $\operatorname{rank}_J(f; \Omega) \le k$ for every $f = h \circ g$ through $\mathbb R^k$; so
    $\operatorname{rank}_J \le \operatorname{rank}_{BN}$.

    Checked over *all* linear regions of integer networks in a box $\Omega$.
    That the inequality can be strict is rank.cross-example.
    """
    return leq(rank_over(f.network(), box), k)
