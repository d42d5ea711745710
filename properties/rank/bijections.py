"""Claim 1 of `rank`: the ranks of functions between piecewise-linear bijections."""

import torch

from rankcheck import (
    Erratum,
    Network,
    construction,
    eq,
    identity,
    leq,
    linalg,
    paper,
    regions,
    tolerances,
    witnesses,
)
from rankcheck.instances import (
    Source,
    instances,
    integer_bijection,
    integer_box,
    integer_factors,
    integer_network,
    whole,
)

from ._networks import bijection
from ._regions import rank_over


@instances
def conjugated_matrices(source: Source, *, slopes=(0.5, 0.25, -0.5)):
    """Bijections ψ and φ, integer factors U, V of full rank k, an offset, and a box."""
    m, n = source.integer(1, 3), source.integer(1, 3)
    k = source.integer(1, min(m, n))
    U, V = integer_factors(source, m, n, k)
    b = whole(source.tensor(m, low=-3.0, high=3.0))
    slope = source.choice(slopes)
    psi = integer_bijection(source, m, depth=(1, 2), slope=slope)
    phi = integer_bijection(source, n, depth=(1, 2), slope=slope)
    return psi, U, V, b, phi, integer_box(source, n)


@instances
def relu_conjugated_matrices(source: Source):
    """The same with ReLU, which is no bijection, and boxes where units of φ are dead."""
    psi, U, V, b, phi, box = conjugated_matrices(slopes=(0.0,))(source)
    dead = Network((phi.weights[0], *phi.weights), (phi.biases[0] - 64, *phi.biases), 0.0)
    return psi, U, V, b, dead, box


@instances
def singular_layers(source: Source):
    """The same with a first layer of φ that ignores an input."""
    psi, U, V, b, phi, box = conjugated_matrices()(source)
    W = phi.weights[0]
    read = W * (torch.arange(len(W)) > 0)
    return psi, U, V, b, phi.with_parameters((read, *phi.weights[1:]), phi.biases), box


def conjugated_factors(psi, U, V, b, phi):
    """ψ∘(U · + b) after V∘φ, through R^k."""
    middle = witnesses.affine(U, V, b, phi.slope)
    return witnesses.Factorisation(psi.merged_after(middle.outer), middle.inner.merged_after(phi))


def through_the_inputs(psi, U, V, b, phi):
    """The same function cut before V, through R^n."""
    outer = witnesses.conjugate(psi, U, Network.linear((V,), phi.slope), b)
    return witnesses.Factorisation(outer, phi)


def without_offset(psi, U, V, b, phi):
    """The factorisation with the offset forgotten."""
    return conjugated_factors(psi, U, V, 0 * b, phi)


@identity(
    "rank.bijections",
    paper("rank", "Claim 1, §3"),
    instances=conjugated_matrices(),
    needs={
        "σ_a is a bijection": relu_conjugated_matrices(),
        "the layers of φ are invertible": singular_layers(),
    },
    mutants={
        "cut before V": {"factored": through_the_inputs},
        "the offset forgotten": {"factored": without_offset},
    },
    witness=witnesses.conjugate,
    effort=0.5,
)
def test_bijections(psi, U, V, b, phi, box, *, factored=conjugated_factors):
    r"""An affine map between two piecewise-linear bijections has the ranks of its matrix.

    Let $f = \psi \circ (x \mapsto UVx + b) \circ \phi$ with factors $U$, $V$ of rank $k$ and
    piecewise-linear bijections $\psi$, $\phi$: compositions of invertible matrices and $\sigma_a$,
    $a > 0$. Then $\operatorname{rank}_J f = k$, and $f = (\psi \circ (U \cdot + b)) \circ (V \circ
    \phi)$ factors through $\mathbb R^k$, so $\operatorname{rank}_{BN} f = k$ as well. In particular
    $\operatorname{rank}_J \phi$ is the dimension. The limiting cost of $f$ is
    rank.cost-of-conjugates.

    Checked over all linear regions in a box; integer factors fix the rank.
    Slopes $a < 0$ are among the instances: $\sigma_a$ is then no bijection, but its derivative does
    not vanish and the equalities hold. For $a = 0$ they fail.
    """
    f, through = witnesses.conjugate(psi, U @ V, phi, b), factored(psi, U, V, b, phi)
    k, x = len(V), (box[0] + box[1]) / 2 + 0.25
    return (
        eq(rank_over(f, box), k, label="the rank of ψ∘A∘φ"),
        eq(rank_over(phi, box), phi.widths[0], label="the rank of φ"),
        eq(through.dimension, k, label="the inner dimension"),
        eq(through(x), f(x), scale=tolerances.network_scale(f, x), label="the factorisation"),
    )


@instances
def functions_and_bijections(source: Source):
    """Bijections ψ and φ, a network f in between, and a box.

    Most of the time f is a ReLU network, written with slope 1/2 and twice the hidden units, so that
    the rank of its Jacobian differs from region to region.
    """
    n = source.integer(1, 2, weights=(1, 3))
    box = integer_box(source, n)
    phi = integer_bijection(source, n, depth=(1, 2))
    there = phi((box[0] + box[1]) / 2)
    if source.integer(0, 1, weights=(1, 3)) == 0:
        f = integer_network(source, depth=(1, 2), width=(1, 2), inputs=n, slope=0.5)
    else:
        net = integer_network(source, depth=(2, 2), width=(n, 3), inputs=n, slope=0, at=there)
        (W, V), (b, c), z = net.weights, net.biases, net.preactivations(there)[0]
        # The bias at which the pre-activations at the centre are ±1: kinks are near the centre.
        # Three quarters of the second layer: the division by 1 − a² = 3/4 is then exact.
        net = net.with_parameters((W, 0.75 * V), (b - z + z.sign(), c))
        f = witnesses.leaky_representation(net, 0.5)
    psi = integer_bijection(source, f.widths[-1], depth=(1, 2))
    return psi, f, phi, box


@instances
def bijections_on_bijections(source: Source):
    """The same with a bijection for f: of full rank everywhere."""
    n = source.integer(1, 2)
    psi, f, phi = (integer_bijection(source, n, depth=(1, 2)) for _ in range(3))
    return psi, f, phi, integer_box(source, n)


@instances
def non_bijections(source: Source):
    """The same with a constant ψ."""
    psi, f, phi, box = bijections_on_bijections()(source)
    return psi.with_parameters(map(torch.zeros_like, psi.weights), psi.biases), f, phi, box


def different_ranks(psi, f, phi, box):
    """How many ranks the Jacobian of ψ∘f∘φ has in the box, and the largest."""
    ranks = regions.region_arrays(psi.merged_after(f).merged_after(phi), *box).ranks
    different = sum((ranks == k).any().long() for k in range(f.widths[0] + 1))
    return {"different ranks": different, "rank": ranks.amax()}


@identity(
    "rank.bijections-keep-the-rank",
    paper("rank", "Claim 1"),
    instances=functions_and_bijections(),
    tight=bijections_on_bijections(),
    needs={"ψ is a bijection": non_bijections()},
    mutants={"f at the point itself": {"image": lambda phi, points: points}},
    reach=different_ranks,
    witness=witnesses.inverse,
    effort=0.4,
    errata=Erratum(
        printed=r"By property 4, one has that $\operatorname{Rank} \operatorname{id} = d$ for the "
        r"identity id: $R^d \to R^d$. By property (4), one has $\operatorname{Rank} f = "
        r"\operatorname{Rank}(\operatorname{id} \circ f \circ \operatorname{id}) \le "
        r"\min\{d_{in}, \operatorname{Rank} f, d_{out}\}$",
        right="The second is property 2, on compositions.",
        survives="Claim 1.",
        weight="misprint",
        place="proof of Claim 1",
    ),
)
def test_bijections_keep_the_rank(psi, f, phi, box, *, image=Network.__call__):
    r"""The Jacobian rank does not change under bijections, and is at most either dimension.

    $\operatorname{rank} J(\psi \circ f \circ \phi)(x) = \operatorname{rank} Jf(\phi(x))$ at a
    point of *every* linear region of $\psi \circ f \circ \phi$ in a box $\Omega$. So $\operatorname{rank}_J(\psi \circ f \circ \phi; \Omega) =
    \operatorname{rank}_J(f; \phi(\Omega))$; and
    $\operatorname{rank}_J f \le \min\{d_{in}, d_{out}\}$.
    """
    cells = regions.region_arrays(psi.merged_after(f).merged_after(phi), *box)
    ranks, points = cells.ranks, image(phi, cells.interior)
    inner = linalg.rank(f.jacobian(points), f.jacobian_noise(points))
    return (
        eq(((ranks != inner) & cells.present).sum(), 0, label="the regions where they differ"),
        leq(ranks.amax(), min(f.widths[0], f.widths[-1]), label="the dimensions"),
    )


@instances
def bijections_at_points(source: Source):
    """A bijection of R^n, its layers orthogonal matrices times positive scales, and a point."""
    n, depth = source.integer(1, 3), source.integer(1, 3)
    return bijection(source, n, depth, bound=8.0, low=0.125), source.tensor(n)


@instances
def folds(source: Source):
    """The same with slopes in [-7/8, -1/8]: units fold, and points have several inverse images."""
    phi, x = bijections_at_points()(source)
    return Network.unchecked_slope(phi.weights, phi.biases, -phi.slope), x


def without_scale(phi):
    """The inverse with activations that are not divided by the slope."""
    back = witnesses.inverse(phi)
    weights = [back.weights[0], *(w * phi.slope for w in back.weights[1:])]
    return back.with_parameters(weights, back.biases)


@construction(
    "rank.inverse-bijections",
    paper("rank", "Claim 1"),
    instances=bijections_at_points(),
    needs={"a > 0": folds()},
    mutants={"the slope not undone": {"witness": without_scale}},
    witness=witnesses.inverse,
)
def test_inverse_bijections(phi, x, *, witness=witnesses.inverse):
    r"""The inverse of a piecewise-linear bijection is a network of the same shape.

    A network $\phi$ of invertible $n \times n$ layers and slope $a > 0$ is a bijection of
    $\mathbb R^n$. Its inverse is a network of the same slope, depth and widths:
    $\phi^{-1}(\phi(x)) = x = \phi(\phi^{-1}(x))$.
    """
    back, scale = witness(phi), tolerances.network_scale
    return (
        eq(back(phi(x)), x, scale=scale(back, scale(phi, x)), label="there and back"),
        eq(phi(back(x)), x, scale=scale(phi, scale(back, x)), label="back and there"),
    )
