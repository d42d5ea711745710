"""What the parameters say of the values: Euler's identity of homogeneous networks, the size of a
value, and how fast a network varies in the sup norm (norm-based capacity control)."""

import math
from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import Network, bound, costs, eq, identity, leq, linalg, networks, paper, tolerances
from rankcheck.instances import (
    Source,
    draw_widths,
    instances,
    networks_with_inputs,
    positive,
    slope,
    slope_in_range,
    unit_vectors,
)


@instances
def weighted_values(source: Source, *, biases=False, depth=(1, 5), width=(1, 4)):
    """A network, one to three points off its kinks, directions u_i of its values, and t > 0."""
    net, x = networks_with_inputs(depth=depth, width=width, points=(1, 3), biases=biases)(source)
    u = source.tensor(len(x), net.widths[-1])
    return net, x, u, positive(source, low=0.25, high=2.0)


def euler(net, x, u, t, scaled, degree, counted):
    """The two relations of both identities: f at the scaled parameters, and Euler's identity.

    Its left side is Σ_ℓ ⟨W_ℓ, ∂F/∂W_ℓ⟩ + counted(ℓ) ⟨b_ℓ, ∂F/∂b_ℓ⟩ for F = Σ_i ⟨u_i, f(x_i)⟩.
    """
    size, value, factor = tolerances.network_scale(net, x), net(x), t**degree
    parts = zip(net.weights, net.biases, *networks.value_gradient(net, x, u), strict=True)
    along = sum((W * G).sum() + counted(i) * (b @ g) for i, (W, b, G, g) in enumerate(parts, 1))
    total, total_size = degree * (u * value).sum(), degree * (u.abs() * size).sum()
    return (
        eq(scaled(x), factor * value, scale=factor * size, label="homogeneous"),
        eq(along, total, scale=total_size, label="Euler's identity"),
    )


@identity(
    "field.euler-identity",
    paper("lyu2020", "Euler's theorem for homogeneous networks, as recalled"),
    instances=weighted_values(),
    needs={"no biases": weighted_values(biases=True, depth=(1, 3), width=(1, 2))},
    mutants={"degree L + 1": {"more": 1}, "degree L − 1": {"more": -1}},
    audit="left out: it is about networks without biases",
)
def test_euler_identity(net, x, u, t, *, more=0):
    r"""A network without biases is homogeneous in its parameters, of degree its depth.

    $f_{t\theta} = t^L f_\theta$ for $t > 0$, and so
    $\langle \theta, \nabla_\theta F \rangle = L F$ for every linear function
    $F = \sum_i \langle u_i, f_\theta(x_i) \rangle$ of the values, at points where no hidden unit is at
    its kink: for one output at one point, $\langle \theta, \nabla_\theta f \rangle = L f$.

    Not checked: points at kinks, where the identity holds for every element of the Clarke
    subdifferential.
    """
    scaled = net.with_parameters([w * t for w in net.weights], [b * t for b in net.biases])
    return euler(net, x, u, t, scaled, net.depth + more, lambda layer: 1)


@identity(
    "field.euler-identity-with-biases",
    paper("lyu2020", "Euler's theorem, carried over to networks with biases"),
    instances=weighted_values(biases=True),
    mutants={
        "each bias once": {"counted": lambda layer: 1},
        "as many times as layers are behind it": {"counted": lambda layer: layer - 1},
    },
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_euler_identity_with_biases(net, x, u, t, *, counted=lambda layer: layer):
    r"""With biases, Euler's identity counts a bias as often as its layer says.

    $W_\ell \mapsto t W_\ell$, $b_\ell \mapsto t^\ell b_\ell$ multiplies $f$ by $t^L$ for $t > 0$, and
    so $\sum_\ell \langle W_\ell, \partial_{W_\ell} F \rangle + \ell \langle b_\ell,
    \partial_{b_\ell} F \rangle = L F$ for $F = \sum_i \langle u_i, f(x_i) \rangle$, at points where no
    hidden unit is at its kink. A bias of the first layer is like a weight, of an input that is 1.
    """
    scaled = networks.layer_rescaling(net, [t] * net.depth)
    return euler(net, x, u, t, scaled, net.depth, counted)


@instances
def rank_one_chains(source: Source):
    """W_ℓ = t u_ℓ u_{ℓ−1}ᵀ with unit vectors u_ℓ, the hidden ones ≥ 0, and x = s u_0 with s > 0."""
    widths = draw_widths(source, (1, 5), (1, 3))
    ends = [unit_vectors(source, n) for n in widths]
    u = [ends[0], *(v.abs() for v in ends[1:-1]), ends[-1]]
    t = positive(source, 1, 1, low=0.5, high=2.0)
    weights = [torch.outer(t[0] * out, into) for into, out in pairwise(u)]
    return Network.linear(weights, slope(source)), (positive(source, 1) * u[0])[None]


def steep(source: Source, **options):
    """Networks with slopes from 3/2 to 4, and points."""
    net, x = networks_with_inputs(depth=(2, 3), width=(1, 2), slopes="relu", **options)(source)
    slope = slope_in_range(source, low=1.5, high=4.0)
    return Network.unchecked_slope(net.weights, net.biases, slope), x


@instances
def steep_networks_without_biases(source: Source):
    """Slopes from 3/2 to 4, no biases, and points."""
    return steep(source, points=(1, 2), biases=False)


@bound(
    "field.value-bound",
    paper("lyu2020", "the size of a homogeneous network, as recalled"),
    instances=networks_with_inputs(points=(1, 3), biases=False, differentiable=False),
    tight=rank_one_chains(),
    needs={
        "no biases": networks_with_inputs(depth=(1, 3), width=(1, 2), points=(1, 2)),
        "|a| ≤ 1": steep_networks_without_biases(),
    },
    mutants={
        "exponent 0.49 L": {"exponent": Fraction(49, 50)},
        "exponent 0.51 L": {"exponent": Fraction(51, 50)},
        "1.01 L for L": {"share": Fraction(100, 101)},
    },
    audit="left out: it is about networks without biases",
)
def test_value_bound(net, x, *, exponent=1, share=1):
    r"""Without biases the parameter norm bounds the value.

    $\|f(x)\| \le (\|\theta\|^2 / L)^{L/2} \|x\|$ at every point, kinks included: the product of
    the $\|W_\ell\|_F$ is at most the power of their mean square. So the normalised margin of a
    network with $\|\theta\| = 1$ on data with $\|x_i\| \le 1$ is at most $L^{-L/2}$. Equality holds
    for chains of rank one whose layers have one norm. The squares of both sides are compared.
    """
    value, L = net(x), net.depth
    mean = net.cost() * linalg.scalar(Fraction(share) / L, x)
    constant = linalg.power(mean, exponent * L)
    return leq((value * value).sum(-1), constant * (x * x).sum(-1))


@instances
def nonnegative_networks(source: Source):
    """Weights, biases and points ≥ 0, and a pair x, x + c(1, …, 1): every path is active."""
    widths = draw_widths(source, (1, 4), (1, 3))
    weights = [source.tensor(n, m, low=0.0, high=2.0) for m, n in pairwise(widths)]
    biases = [source.tensor(n, low=0.0, high=2.0) for n in widths[1:]]
    x, step = source.tensor(widths[0], low=0.0, high=4.0), positive(source, 1)
    return Network(weights, biases, slope(source)), torch.stack((x, x + step))


@instances
def steep_pairs(source: Source):
    """Slopes from 3/2 to 4, and pairs of points."""
    return steep(source, points=(2, 2))


@bound(
    "field.path-norm-lipschitz",
    paper("neyshabur2015", "the path regularizer, as recalled"),
    instances=networks_with_inputs(points=(2, 2), differentiable=False),
    tight=nonnegative_networks(),
    needs={"|a| ≤ 1": steep_pairs()},
    mutants={
        "the path norm of exponent 51/50": {"p": Fraction(51, 50)},
        "the largest path alone": {"p": math.inf},
        "the mean change of an input": {"size": lambda d: d.abs().mean()},
    },
    audit="at pairs: two points, |a| ≤ 1; far apart",
)
def test_path_norm_lipschitz(net, x, *, p=1, size=lambda d: d.abs().amax()):
    r"""The path norm is a Lipschitz constant from the sup norm to the ℓ₁ norm.

    $\|f(x) - f(y)\|_1 \le \mathrm{path}_1(\theta)\, \|x - y\|_\infty$ for all points $x$, $y$, kinks
    included, and every slope $a \in (-1, 1)$, where $\mathrm{path}_1(\theta)$ is the sum over all paths
    from an input to an output of the product of $|w|$ along the path. The biases may be any, and do not
    enter.

    As each $\sigma_a$ is 1-Lipschitz, $|f(x) - f(y)| \le |W_L| \cdots |W_1| |x - y|$ entry by entry. The
    sides are equal where all weights are $\ge 0$, every unit is active, and all coordinates move by the
    same amount.
    """
    value, other = net(x)
    moved = size(x[0] - x[1])
    return leq((value - other).abs().sum(), costs.path_norm(net, p, biases=False) * moved)
