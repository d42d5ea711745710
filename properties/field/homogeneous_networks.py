"""Homogeneous networks: Euler's identity in the parameters, and the size of a value."""

from fractions import Fraction
from itertools import pairwise

from rankcheck import Network, bound, eq, identity, leq, linalg, networks, paper, tolerances
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
    u = source.tensor(x.shape[-2], net.widths[-1])
    return net, x, u, positive(source, low=0.25, high=2.0)


def along_parameters(net, x, u, counted):
    """Σ_ℓ ⟨W_ℓ, ∂F/∂W_ℓ⟩ + counted(ℓ) ⟨b_ℓ, ∂F/∂b_ℓ⟩ for F = Σ_i ⟨u_i, f(x_i)⟩."""
    by_weights, by_biases = networks.value_gradient(net, x, u)
    parts = zip(net.weights, net.biases, by_weights, by_biases, strict=True)
    return sum(
        (w * dw).sum((-2, -1)) + counted(layer) * (b * db).sum(-1)
        for layer, (w, b, dw, db) in enumerate(parts, 1)
    )


def euler(net, x, u, t, scaled, degree, counted):
    """The two relations of both identities: f at the scaled parameters, and Euler's identity."""
    size, value = tolerances.network_scale(net, x), net(x)
    factor = (t**degree)[..., None, None]
    return (
        eq(scaled(x), factor * value, scale=factor * size, label="homogeneous"),
        eq(
            along_parameters(net, x, u, counted),
            degree * (u * value).sum((-2, -1)),
            scale=degree * (u.abs() * size).sum((-2, -1)),
            label="Euler's identity",
        ),
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
    scaled = net.with_parameters(
        [w * t[..., None, None] for w in net.weights], [b * t[..., None] for b in net.biases]
    )
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
    weights = [t * out.unsqueeze(-1) * into.unsqueeze(-2) for into, out in pairwise(u)]
    return Network.linear(weights, slope(source)), (positive(source, 1) * u[0]).unsqueeze(-2)


@instances
def steep_networks_without_biases(source: Source):
    """Slopes from 3/2 to 4, no biases, and points."""
    net, x = networks_with_inputs(
        depth=(2, 3), width=(1, 2), points=(1, 2), slopes="relu", biases=False
    )(source)
    steep = slope_in_range(source, low=1.5, high=4.0)
    return Network.unchecked_slope(net.weights, net.biases, steep), x


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
    constant = mean**L if exponent == 1 else linalg.power(mean, exponent * L)
    square = (x * x).sum(-1)
    return leq((value * value).sum(-1), constant.unsqueeze(-1) * square)
