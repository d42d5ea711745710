"""After Def. 1 and §5 of `rank`: the dimension of the output set, and how many classes meet."""

from operator import attrgetter

import torch

from rankcheck import Need, Network, bound, eq, identity, leq, networks, paper, regions
from rankcheck.instances import Source, instances, integer_box, integer_network, unimodular

from ._regions import around, proved_rank


@instances
def networks_on_boxes(source: Source):
    """An integer network with one to three inputs and outputs, and a box."""
    inputs = source.integer(1, 3)
    depth = source.integer(1, 3) if inputs < 3 else source.integer(1, 2)
    net = integer_network(source, depth=(depth, depth), width=(2, 3), inputs=inputs)
    return net, integer_box(source, inputs)


def dimension_of_edges(cells):
    """The largest dimension of the image of an edge: of two vertices of each region."""
    return regions.image_dimension(cells, corners=2)


@identity(
    "rank.output-dimension",
    paper("rank", "after Def. 1"),
    instances=networks_on_boxes(),
    mutants={"Ω without interior points": {"dimension": dimension_of_edges}},
    witness=regions.image_dimension,
    no_ball="linear regions are listed for float weights; dimensions are proved in rationals",
    effort=0.5,
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_output_dimension(net, box, *, dimension=regions.image_dimension):
    r"""The Jacobian rank is the dimension of the output set.

    $\operatorname{rank}_J(f; \Omega) = \dim f(\Omega)$ for an open bounded $\Omega$: $f(\Omega)$ is
    the union of the images of finitely many linear regions, and that of one region is a polytope of
    dimension $\operatorname{rank} Jf$. The paper says that the rank "measures the intrinsic
    dimension", after Feng et al. (2022).

    Checked over all regions of integer networks in boxes, in rational arithmetic: the dimension from
    the values at the vertices, the rank from the Jacobians. $\Omega$ needs interior points: on a
    segment in the plane the identity has $\operatorname{rank}_J = 2$ and an output set of dimension 1.
    """
    cells = regions.regions(net, *box)
    return eq(dimension(cells), proved_rank(net, box))


def without_zeros(net):
    """The network with ones for the weights that are zero, so that its outputs vary."""
    return net.with_parameters([torch.where(w == 0, 1.0, w) for w in net.weights], net.biases)


def centred(net, low, high):
    """The network shifted so that its value at the centre of a box is nearly zero."""
    *shifts, last = net.biases
    return net.with_parameters(net.weights, (*shifts, last - net((low + high) / 2).round()))


#: The box [−1, 1]².
SQUARE = -torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)


@instances
def classifiers_through_a_line(source: Source):
    """f = h ∘ g through R^1, three or four classes, and a box in the plane."""
    g = integer_network(source, depth=(1, 3), width=(2, 4), inputs=2, outputs=1, slope=0.0)
    box = integer_box(source, 2)
    # The classes change near the centre; the outputs of h are spread in slope.
    g = centred(without_zeros(g), *box)
    m = source.integer(3, 4)
    h = integer_network(source, depth=(1, 2), width=(2, 4), inputs=1, outputs=m, slope=0.0)
    *inner, read = without_zeros(h).weights
    *shifts, last = h.biases
    order = torch.arange(m, dtype=torch.float64)
    read = read + (order - 1)[:, None] * source.integer(0, 2)
    apart = torch.tensor([0.0, 0.1875, 0.4375, 0.8125], dtype=torch.float64)[:m]
    return Network((*inner, read), (*shifts, (last / 4).round() + apart)), g, box


@instances
def classifiers_of_the_plane(source: Source):
    """The larger of x, y, −x − y after an invertible matrix: f has rank 2 and a tripoint."""
    g = Network((unimodular(source, 2),), (0 * source.tensor(2),))
    return Network.of([[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]]), g, SQUARE


@instances
def touching_classes(source: Source):
    """h = (−z, z, 0), whose three outputs are equal at 0, and g = 0 on the sector |x_0| ≤ |x_1|."""
    scale = source.tensor(low=1.0, high=3.0).round()
    ends = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], dtype=torch.float64)
    fold = torch.tensor([[1.0, -1.0, -1.0, -1.0], [-1.0, 1.0, -1.0, -1.0]], dtype=torch.float64)
    read = torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    h = Network.of([[[-1.0], [1.0], [0.0]]])
    return h, Network.linear((scale * ends, fold, read)), SQUARE


#: A third output that comes nearer than this to the largest counts as equal to it.
CLEAR = 2.0**-10


def is_generic(h, g, box):
    """Whether no three outputs of h are equal and largest at one point of g(Ω) ⊂ R.

    On a cell the order of the outputs does not change, so the lead of the largest over the third
    is affine there, and least at a vertex. In more than one dimension the answer is True.
    """
    if h.widths[0] > 1 or h.widths[-1] < 3:
        return True
    low, high = networks.interval_bounds(g, *box)
    points = regions.decision(h, low - 1, high + 1).cells.cells.points
    ordered = h(torch.from_numpy(points.copy())).sort(-1, descending=True).values
    return (ordered[:, 0] - ordered[:, 2] > CLEAR).all()


@bound(
    "rank.no-tripoints",
    paper("rank", "§5"),
    instances=classifiers_through_a_line(),
    needs={
        "f factors through R^1": classifiers_of_the_plane(),
        "h is generic": Need(touching_classes(), {"generic": lambda h, g, box: True}),
    },
    mutants={"one class": {"most": 1}},
    witness=regions.decision,
    no_ball="cells are listed for float weights, for which they are exact",
    effort=0.3,
)
def test_no_tripoints(h, g, box, *, generic=is_generic, most=2):
    r"""No three classes of a classifier of rank one meet in a point.

    For $f = h \circ g$ through $\mathbb R^1$ every point of $\Omega$ has a neighbourhood that meets at
    most two classes, where class $i$ is the set on which $f_i$ is strictly larger than all other
    outputs. No hypothesis on $h$ is needed: on either side of $z = g(x)$, near $z$, at most one
    output of $h$ is strictly the largest.

    The same holds for the classes of $\arg\max f$, where a tie goes to one of the classes, if no
    three outputs of $h$ are equal and largest at one $z \in g(\Omega)$. This is needed there: if
    three are, and $g = z$ on a sector, three classes meet at its tip (the control).

    Checked at all points of a box in the plane at once: classes that meet in a point also meet in a
    vertex of the cells, and the finitely many vertices of an integer network are found exactly.
    """
    found = regions.decision(h.merged_after(g), *box)
    return (
        leq(found.most_strictly, most, label="strict classes"),
        leq(found.most, most, where=generic(h, g, box), label="classes with ties"),
    )


@instances
def classifiers_through_the_plane(source: Source):
    """f = h ∘ g through R^1 or R^2, three or four classes, and a box in the plane."""
    if source.integer(0, 2, weights=(1, 1, 1)) == 0:
        return classifiers_through_a_line()(source)
    g = integer_network(source, depth=(1, 2), width=(2, 3), inputs=2, outputs=2, slope=0.0)
    box = integer_box(source, 2)
    h = integer_network(source, depth=(1, 2), width=(2, 3), inputs=2, outputs=3, slope=0.0)
    return without_zeros(h), centred(without_zeros(g), *box), box


#: How many classes meet in a point, where one output is strictly the largest; and with ties.
strictly, with_ties = attrgetter("most_strictly"), attrgetter("most")


@bound(
    "rank.classes-of-a-composition",
    paper("rank", "§5"),
    instances=classifiers_through_the_plane(),
    tight=classifiers_of_the_plane(),
    needs={"one output is strictly the largest": Need(touching_classes(), {"count": with_ties})},
    mutants={"one class less": {"less": 1}},
    witness=regions.decision,
    no_ball="cells are listed for float weights, for which they are exact",
    effort=0.2,
)
def test_classes_of_a_composition(h, g, box, *, count=strictly, less=0):
    r"""Where classes of a classifier through k dimensions meet, those of its outer part meet.

    Let $f = h \circ g$ through $\mathbb R^k$, and let class $i$ of $f$ and of $h$ be where output $i$ is
    strictly the largest. If classes $i_1, \dots, i_r$ of $f$ meet in $x \in \Omega$ (each neighbourhood of
    $x$ meets all of them), then the same classes of $h$ meet in $g(x) \in \mathbb R^k$: class $i$ of $f$ is the
    inverse image of class $i$ of $h$ under the continuous $g$. So which classes of $f$ touch, and how many
    meet in one point, is bounded by a partition of $\mathbb R^k$.

    Checked for $k = 1, 2$ and boxes in the plane, as far as the largest number of classes that meet goes; on
    the right $h$ is taken on a box around $g(\Omega)$. For $k = 1$ this number is at most two
    (rank.no-tripoints), for $k \ge 2$ it may be any. Print says "topological properties typical of a
    partition on a $k$-dimensional space"; no more than this is claimed here.
    """
    outer = regions.decision(h, *around(g, box))
    return leq(count(regions.decision(h.merged_after(g), *box)), count(outer) - less)
