"""Claim 1 of `rank`: the ranks of functions between piecewise-linear bijections."""

import torch

from rankcheck import bound, construction, eq, identity, leq, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.integer_networks import (
    integer_bijection,
    integer_box,
    integer_factors,
    integer_network,
)
from rankcheck.instances.source import Source, instances
from rankcheck.networks import Network
from rankcheck.witnesses.bijections import conjugate, inverse

from ._bijections import bijection
from ._regions import around, proved_rank

NO_BATCH = "the linear regions of a network are listed one network at a time"
NO_BALL = "linear regions are listed for float weights; ranks over them are proved in rationals"


@instances
def conjugated_matrices(source: Source, *, slopes=(0.5, 0.25, -0.5)):
    """Piecewise-linear ψ, φ with invertible layers, an integer matrix A of known rank, and a box."""
    m, n = source.integer(1, 3), source.integer(1, 3)
    k = source.integer(1, min(m, n))
    U, V = integer_factors(source, m, n, k)
    slope = source.choice(slopes)
    psi = integer_bijection(source, m, depth=(1, 2), slope=slope)
    phi = integer_bijection(source, n, depth=(1, 2), slope=slope)
    return psi, U @ V, phi, k, integer_box(source, n)


@instances
def relu_conjugated_matrices(source: Source):
    """The same with ReLU, which is no bijection, and boxes where units of φ are dead."""
    psi, A, phi, k, box = conjugated_matrices(slopes=(0.0,))(source)
    dead = Network((phi.weights[0], *phi.weights), (phi.biases[0] - 64, *phi.biases), 0.0)
    return psi, A, dead, k, box


@instances
def singular_layers(source: Source):
    """The same with a first layer of φ that ignores an input."""
    psi, A, phi, k, box = conjugated_matrices()(source)
    W = phi.weights[0]
    kept = torch.arange(W.shape[-1]) > 0
    return psi, A, phi.with_parameters((W * kept, *phi.weights[1:]), phi.biases), k, box


@identity(
    "rank.bijections",
    paper("rank", "Claim 1, §3"),
    instances=conjugated_matrices(),
    needs={
        "σ_a is a bijection": relu_conjugated_matrices(),
        "the layers of φ are invertible": singular_layers(),
    },
    witness=conjugate,
    no_batch=NO_BATCH,
    no_ball=NO_BALL,
    effort=0.5,
)
def test_bijections(psi, A, phi, k, box):
    r"""A matrix between two piecewise-linear bijections keeps its rank.

    $\operatorname{rank}_J(\psi \circ A \circ \phi) = \operatorname{rank} A$ for piecewise-linear
    bijections $\psi$ and $\phi$: compositions of invertible matrices and $\sigma_a$, $a > 0$. In
    particular $\operatorname{rank}_J \phi$ is the dimension.

    Checked over all linear regions in a box, in rational arithmetic; $A$ is a product of integer
    factors, which fix its rank. Slopes $a < 0$ are among the instances: $\sigma_a$ is then no
    bijection, but its derivative does not vanish and the equality holds. For $a = 0$ it fails.
    """
    return (
        eq(proved_rank(conjugate(psi, A, phi), box), k, label="the rank of ψ∘A∘φ"),
        eq(proved_rank(phi, box), phi.widths[0], label="the rank of φ"),
    )


@instances
def functions_and_bijections(source: Source):
    """Bijections ψ and φ, a network f in between, and a box."""
    f = integer_network(source, depth=(1, 2), width=(1, 2), slope=0.5)
    psi = integer_bijection(source, f.widths[-1], depth=(1, 2))
    phi = integer_bijection(source, f.widths[0], depth=(1, 2))
    return psi, f, phi, integer_box(source, f.widths[0])


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


@bound(
    "rank.bijections-keep-the-rank",
    paper("rank", "Claim 1"),
    instances=functions_and_bijections(),
    tight=bijections_on_bijections(),
    needs={"ψ is a bijection": non_bijections()},
    witness=inverse,
    no_batch=NO_BATCH,
    no_ball=NO_BALL,
    effort=0.8,
)
def test_bijections_keep_the_rank(psi, f, phi, box):
    r"""The Jacobian rank does not change under bijections, and is at most either dimension.

    $\operatorname{rank}_J(\psi \circ f \circ \phi) = \operatorname{rank}_J f$ and
    $\operatorname{rank}_J f \le \min\{d_{in}, d_{out}\}$.

    $\phi$ does not map boxes to boxes, so the equality is checked as two inequalities,
    $\operatorname{rank}_J(f; \Omega) \le \operatorname{rank}_J(\psi \circ f \circ \phi; \Omega')
    \le \operatorname{rank}_J(f; \Omega'')$, on boxes with $\phi^{-1}(\Omega) \subset \Omega'$ and
    $\phi(\Omega') \subset \Omega''$.
    """
    outer = around(inverse(phi), box)
    inner, whole = proved_rank(f, box), proved_rank(psi.merged_after(f).merged_after(phi), outer)
    return (
        leq(inner, whole, label="from below"),
        leq(whole, proved_rank(f, around(phi, outer)), label="from above"),
        leq(inner, min(f.widths[0], f.widths[-1]), label="the dimensions"),
    )


@instances
def bijections_at_points(source: Source, *, low: float = 0.125):
    """A bijection of R^n, its layers orthogonal matrices times positive scales, and a point."""
    n, depth = source.integer(1, 3), source.integer(1, 3)
    return bijection(source, n, depth, bound=8.0, low=low), source.tensor(n)


@instances
def folds(source: Source):
    """The same with slopes in [-7/8, -1/8]: units fold, and points have several inverse images."""
    phi, x = bijections_at_points()(source)
    return Network.unchecked_slope(phi.weights, phi.biases, -phi.slope), x


def without_scale(phi):
    """The inverse with activations that are not divided by the slope."""
    back = inverse(phi)
    weights = [back.weights[0], *(w * phi.slope[..., None, None] for w in back.weights[1:])]
    return back.with_parameters(weights, back.biases)


@construction(
    "rank.inverse-bijections",
    paper("rank", "Claim 1"),
    instances=bijections_at_points(),
    needs={"a > 0": folds()},
    mutants={"the slope not undone": {"witness": without_scale}},
    witness=inverse,
)
def test_inverse_bijections(phi, x, *, witness=inverse):
    r"""The inverse of a piecewise-linear bijection is a network of the same shape.

    A network $\phi$ of invertible $n \times n$ layers and slope $a > 0$ is a bijection of
    $\mathbb R^n$. Its inverse is a network of the same slope, depth and widths:
    $\phi^{-1}(\phi(x)) = x = \phi(\phi^{-1}(x))$.
    """
    back = witness(phi)
    there, here = phi(x), back(x)
    return (
        eq(
            back(there), x, scale=network_scale(back, network_scale(phi, x)), label="there and back"
        ),
        eq(phi(here), x, scale=network_scale(phi, network_scale(back, x)), label="back and there"),
    )
