"""Section 3.3.1 of `bottleneck`: the first correction of the identity is not negative."""

import torch

from rankcheck import Network, bound, eq, identity, leq, paper
from rankcheck.costs.corrections import excess, linear_cost
from rankcheck.instances.cones import planar_domain, triangular
from rankcheck.instances.matrices import positive, semi_orthogonal
from rankcheck.instances.networks import clear_of_boundaries, network, slope
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import log_pseudo_determinant, range_projection, rank
from rankcheck.witnesses.planar_identity import planar_identity


@instances
def tangent_spaces(source: Source):
    """A basis of a tangent space in R^n, orthonormal up to a triangular factor."""
    n = source.integer(1, 4)
    k = source.integer(1, n)
    return semi_orthogonal(source, n, k) @ triangular(source, k, low=0.5, high=2.0, above=2.0)


#: A bound on the rounding error of a computed projection, for these instances.
NOISE = 2.0**-36


@identity(
    "bottleneck.identity-nonnegative",
    paper("bottleneck", "§3.3.1"),
    instances=tangent_spaces(),
)
def test_identity_nonnegative(basis):
    r"""The pseudo-determinant of an orthogonal projection is one.

    $\log |P_T|_+ = 0$ and $\operatorname{rank} P_T = k$ for every space $T$ of dimension $k$.

    With bottleneck.regularity-on-a-domain, a network that is the identity on a domain $\Omega$ with a
    tangent space $T$ of dimension $k$ has $\|\theta\|^2 - kL \ge 2 \log |P_T|_+ = 0$, and
    $R^{(1)}(id; \Omega) \ge 0$. (Print has $\log$ for $2 \log$; the value is zero.)
    """
    P = range_projection(basis)
    k = rank(P, NOISE)
    log_det = log_pseudo_determinant(P, NOISE)
    return (
        eq(log_det, 0, scale=torch.ones_like(log_det), label="the log-determinant"),
        eq(k, basis.shape[-1], label="the rank"),
    )


@instances
def networks_on_domains(source: Source):
    """A network, a point, and an orthonormal basis of the tangent space of a domain there."""
    net = network(source, depth=(1, 5))
    x = source.tensor(net.widths[0])
    n = net.widths[0]
    tangent = semi_orthogonal(source, n, source.integer(1, n))
    return clear_of_boundaries(source, net, x), x, tangent


@instances
def stretched_planes(source: Source):
    """The identity of a planar domain, each layer stretched by the same factor near one."""
    V, O, x = planar_domain(source)  # noqa: E741
    net = planar_identity(O, source.integer(1, 5), slope(source))
    stretch = positive(source, 1, 1, low=1.0, high=1.0 + 2.0**-20)
    return Network([stretch * W for W in net.weights], net.biases, net.slope), x, V


@bound(
    "bottleneck.regularity-on-a-domain",
    paper("bottleneck", "Thm 3, as used for Prop. 5"),
    instances=networks_on_domains(),
    tight=stretched_planes(),
)
def test_regularity_on_a_domain(net, x, tangent):
    r"""The excess cost bounds the log-determinant of the Jacobian along a domain.

    For every space $T$ of directions at $x$ and $k = \operatorname{rank} Jf(x) P_T$:
    $$\|\theta\|^2 - kL \ge L \|Jf(x) P_T\|_{S^{2/L}}^{2/L} - kL \ge 2 \log |Jf(x) P_T|_+.$$

    This is bottleneck.regularity-bound on a domain with the tangent space $T$, where the function is
    not given in other directions.
    """
    J, noise, L = net.jacobian(x) @ tangent, net.jacobian_noise(x), net.depth
    k = rank(J, noise)
    middle = linear_cost(J, L, noise) - k * L
    size = net.cost() + k * L
    log_det = log_pseudo_determinant(J, noise)
    return (
        leq(middle, excess(net, k), scale=size, label="the excess cost"),
        leq(2 * log_det, middle, scale=size, label="the log-determinant"),
    )
