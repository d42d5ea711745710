"""After Def. 1 of `rank`: the Jacobian rank is the dimension of the output set."""

from rankcheck import eq, identity, paper, regions
from rankcheck.instances import Source, instances, integer_box, integer_network

from ._regions import proved_rank


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
