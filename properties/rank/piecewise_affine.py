"""§2–3 of `rank`: a network is piecewise affine and continuous, and the dimension of its image."""

import math
from functools import reduce

import torch

from rankcheck import Network, eq, identity, leq, linalg, paper, regions, tolerances
from rankcheck.instances import Source, instances, integer_box, integer_network, network_at_points

from ._regions import proved_rank


@instances
def networks_near_points(source: Source):
    """A network, a point x where it is differentiable, and a second point near x or far from it."""
    net, x = network_at_points(source)
    reach = 2.0 ** -source.choice((10, 3, 0))
    return net, x, x + reach * source.tensor(net.widths[0], low=-1.0, high=1.0)


def without_masks(net, x):
    """W_L ··· W_1, whatever x is."""
    return reduce(lambda A, W: W @ A, net.weights)


@identity(
    "rank.piecewise-affine",
    paper("rank", "§2–3"),
    instances=networks_near_points(),
    mutants={
        "the Jacobian without its masks": {"jacobian": without_masks},
        "whatever the patterns": {"everywhere": True},
    },
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_piecewise_affine(net, x, y, *, jacobian=Network.jacobian, everywhere=False):
    r"""A network is affine where its activation pattern is constant.

    $f(y) = f(x) + Jf(x)(y - x)$ whenever $x$ and $y$ have the same activation pattern, with
    $Jf = W_L D_{L-1} W_{L-1} \cdots D_1 W_1$.

    The tests of `Network` compare the masked product with automatic differentiation.
    """
    same = True
    for here, there in zip(net.pattern(x), net.pattern(y), strict=True):
        same = same & ((here == there).all() | everywhere)
    affine = net(x) + jacobian(net, x) @ (y - x)
    scale = tolerances.network_scale(net, x) + tolerances.network_scale(net, y)
    return eq(net(y), affine, where=same, scale=scale)


@instances
def networks_on_boundaries(source: Source):
    """A network, x where one hidden unit is at its kink, its layer and number, and a step.

    The bias of the unit is moved. So x was clear of all kinks before, and units of later layers may
    be on another side of theirs afterwards.
    """
    net, x = network_at_points(source, depth=(2, 5))
    layer = source.integer(0, net.depth - 2)
    unit = source.integer(0, net.widths[layer + 1] - 1)
    chosen = torch.arange(net.widths[layer + 1], device=x.device) == unit
    z = net.preactivations(x)[layer]
    biases = list(net.biases)
    biases[layer] = torch.where(chosen, biases[layer] - z, biases[layer])
    step = 2.0 ** -source.choice((10, 3)) * source.tensor(net.widths[0], low=-1.0, high=1.0)
    return net.with_parameters(net.weights, biases), x, layer, unit, step


def affine_piece(net, masks):
    """The affine maps x ↦ α̃_ℓ with fixed derivatives of the activation, as networks of depth 1."""
    layers = [net.with_parameters((net.weights[0],), (net.biases[0],))]
    for d, w, b in zip(masks, net.weights[1:], net.biases[1:], strict=True):
        masked = net.with_parameters((w * d,), (b,))
        layers.append(masked.merged_after(layers[-1]))
    return layers


def two_sides(net, x, layer, unit, others=0):
    """The pieces at x with derivative 1, and with derivative a, for the unit (and for others)."""
    above, below = list(net.masks(x)), list(net.masks(x))
    d = above[layer]
    chosen = (torch.arange(len(d), device=d.device) - unit).abs() <= others
    above[layer] = torch.where(chosen, torch.ones_like(d), d)
    below[layer] = torch.where(chosen, net.slope + 0 * d, d)
    return affine_piece(net, above), affine_piece(net, below)


def two_units(net, x, layer, unit):
    """The same with the neighbours of the unit on its side, wherever they are."""
    return two_sides(net, x, layer, unit, others=1)


def exchanged(net, x, layer, unit):
    """Derivative a where the unit is positive."""
    return two_sides(net, x, layer, unit)[::-1]


def onto_the_boundary(row, step):
    """The part of the step that is orthogonal to the gradient of the unit."""
    square = row @ row
    along = row @ step / torch.where(square == 0, torch.ones_like(square), square)
    return step - along * row


def off_the_boundary(row, step):
    """All of the step, which leaves the hyperplane in general."""
    return step


@identity(
    "rank.continuous-across-boundaries",
    paper("rank", "§2–3"),
    instances=networks_on_boundaries(),
    mutants={
        "two units change sides": {"pieces": two_units},
        "the sides exchanged": {"pieces": exchanged},
        "points off the hyperplane": {"tangent": off_the_boundary},
    },
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_continuous_across_boundaries(
    net, x, layer, unit, step, *, pieces=two_sides, tangent=onto_the_boundary
):
    r"""The affine pieces on the two sides of a boundary agree on it, and differ by rank one.

    Let $\tilde\alpha_{\ell,i}(x) = 0$ for one hidden unit, of any layer, and let $f^+$ and $f^-$ be
    the affine functions with the masks of $x$ but $\sigma_a' = 1$ and $\sigma_a' = a$ for this unit.
    They take the same values on the hyperplane through $x$ on which the pre-activation of the unit
    vanishes, $\operatorname{rank}(Jf^+ - Jf^-) \le 1$, and $f$ equals $f^+$ on the side where the
    pre-activation is positive and $f^-$ on the other, as far as no other unit changes its sign. So
    $f$ is continuous there.
    """
    (*inner, above), (*_, below) = pieces(net, x, layer, unit)
    row = inner[layer].weights[0][unit]
    on, off = x + tangent(row, step), x + step
    size = sum(tolerances.network_scale(net, point) for point in (x, on, off))
    changed = torch.cat(net.pattern(x)) != torch.cat(net.pattern(off))
    others = torch.arange(len(changed), device=x.device) != sum(net.widths[1 : layer + 1]) + unit
    positive = net.preactivations(off)[layer][unit] >= 0
    side = torch.where(positive, above(off), below(off))
    noise = 2.0**-46 * math.prod(linalg.frobenius_squared(W) for W in net.weights).sqrt()
    jump = linalg.rank(above.weights[0] - below.weights[0], noise)
    return (
        eq(above(on), below(on), scale=size, label="on the hyperplane"),
        leq(jump, 1, label="the jump of the Jacobian"),
        eq(net(off), side, where=~(changed & others).any(), scale=size, label="on either side"),
    )


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
