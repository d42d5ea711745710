"""Theorem, slides B of `linear`: index rank and path norm bound the cost at every depth."""

from fractions import Fraction

import torch

from rankcheck import bound, costs, eq, leq, linalg, paper, tolerances
from rankcheck.instances import (
    Source,
    between,
    breakpoints,
    instances,
    law,
    on_the_line,
    positive,
    signs,
    two_networks_on_a_line,
)

from ._laws import without_an_end
from ._projected import projected
from ._reach import index_ranks


@instances
def two_networks_and_depths(source: Source):
    """Two networks for a function, a law with mass in each region on a line, L ≥ 2, a point."""
    W, b, a, x, p, V, d, e = two_networks_on_a_line().build(source)
    return W, b, a, x, p, V, d, e, source.integer(2, 8), source.tensor(W.shape[-1])


@instances
def orthogonal_units_on_a_line(source: Source):
    """The same network twice, with orthogonal w_k of one length: all singular values are equal.

    The ±w_k are multiples of the rows of a reflection v ↦ v − 2⟨u, v⟩u/|u|², whose first column has
    no zero.
    """
    K = source.integer(1, 3)
    u = positive(source, 1, low=0.5, high=1.0)
    if K > 1:
        u = torch.cat((u, positive(source, K - 1, low=1.25, high=2.0)), -1)
    outer = u.unsqueeze(-1) * u.unsqueeze(-2)
    W = linalg.eye(K, like=u) - 2 * outer / (u * u).sum(-1)[..., None, None]
    W = positive(source, 1, 1, low=0.5, high=2.0) * signs(source, K).unsqueeze(-1) * W
    bends = breakpoints(source, K)
    x, p = on_the_line(between(bends), K), law(source, K + 1, everywhere=True)
    b, a, L = -W[..., 0] * bends, signs(source, K), source.integer(2, 8)
    return W, b, a, x, p, W, b, a, L, source.tensor(K)


@instances
def a_region_without_mass(source: Source):
    """Orthogonal units; the region below all bends, or the one above, has no mass."""
    W, b, a, x, p, *others = orthogonal_units_on_a_line().build(source)
    return W, b, a, x, without_an_end(source, p), *others


def not_projected(V, root):
    """V itself."""
    return V


@bound(
    "linear.path-norm-upper",
    paper("linear", "slides B, Theorem"),
    instances=two_networks_and_depths(),
    reach=index_ranks,
    tight=orthogonal_units_on_a_line(),
    needs={"every region has positive mass": a_region_without_mass()},
    mutants={
        "the weights themselves": {"weights": not_projected},
        "the path norm with exponent 2.04/L": {"exponent": Fraction(51, 25)},
        "the path norm with exponent 1.96/L": {"exponent": Fraction(49, 25)},
        "the rank with exponent 0.98 (L − 2)/L": {"factor": Fraction(49, 50)},
    },
    witness=costs.path_norm_lambda,
)
def test_path_norm_upper(W, b, a, x, p, V, d, e, L, z, *, weights=projected, exponent=2, factor=1):
    r"""The index rank and the path norm of a function bound its cost at every depth.

    Let $f$ be a two-layer function, and $P$ the projection onto $\operatorname{range} C_f$, for a law
    with mass in every activation region. For every network $(V, d, e)$ for $f$, $(VP, d, e)$ is one
    too, and $\Phi_L(VP, e) \le \operatorname{rank}_I(f)^{(L-2)/L}\, \mathrm{path}(V, e)^{2/L}$. The
    least over all networks gives $R_L(f) \le \operatorname{rank}_I(f)^{(L-2)/L} R_2(f)^{2/L}$.

    $f(x + u) = f(x)$ for $u \perp \operatorname{range} C_f$, so $f = f \circ P$. The rest is
    linear.phi-sandwich for $VP$, as $\operatorname{rank} D_eVP \le \operatorname{rank} C_f$ and
    $\|Pv_k\| \le \|v_k\|$.

    The cost of $VP$ is that at $\lambda_k^2 \propto |e_k| \|Pv_k\|$. $C_f$ comes from a network $(W, b,
    a)$ with distinct hyperplanes, at points of a line that crosses them. $(V, d, e)$ is the same
    network, or has further units that cancel, or whose linear parts do. $f$ is compared at one point.
    """
    net = costs.two_layer_network(W, b, a)
    root = costs.egop_root(net.jacobian(x).squeeze(-2), p)
    U, path = weights(V, root), costs.path_norm_of_units(V, e)
    count = torch.zeros_like(path) + linalg.rank(root, net.jacobian_noise(x).amax(-1))
    upper = linalg.power(count, Fraction(L - 2, L) * factor) * linalg.power(
        path, Fraction(exponent, L)
    )
    given, through = (costs.two_layer_network(M, d, e) for M in (V, U))
    values, scale = (
        (N(z).squeeze(-1) for N in (through, given)),
        tolerances.network_scale(given, z).squeeze(-1),
    )
    return (
        # The projection errs by the condition number of the gradients.
        eq(*values, scale=scale, terms=2**20, label="the function"),
        leq(
            costs.phi_at(U, e, L, costs.path_norm_lambda(U, e)),
            upper,
            terms=2**20,
            label="the cost",
        ),
    )
