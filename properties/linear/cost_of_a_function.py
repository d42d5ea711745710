"""Lemma of slides A, Theorem of slides B of `linear`: bounds of the cost of a function."""

from fractions import Fraction

import torch

from rankcheck import bound, costs, eq, leq, linalg, paper, tolerances
from rankcheck.instances import (
    Source,
    aligned_units_at_points,
    between,
    breakpoints,
    instances,
    law,
    on_the_line,
    positive,
    separate_units_at_points,
    signs,
    two_networks_on_a_line,
    units_at_points,
)

from ._helpers import as_given, index_ranks, projected, root_and_noise, without_an_end


@instances
def functions(source: Source):
    """Any units at points, or separate units and a large depth: there it is nearly an equality."""
    return source.choice((units_at_points, separate_units_at_points))().build(source)


@instances
def heavier_laws(source: Source):
    """A law of mass 4."""
    W, b, a, x, p, *others = units_at_points().build(source)
    return W, b, a, x, 4 * p, *others


@bound(
    "linear.mixed-variation-bound",
    paper("linear", "slides A, Lemma; slides B, Theorem"),
    instances=functions(),
    reach=index_ranks,
    tight=aligned_units_at_points(),
    needs={"the law has mass one": heavier_laws()},
    mutants={
        "the power 2.04/L": {"power_of": Fraction(51, 25)},
        "the power 1.96/L": {"power_of": Fraction(49, 25)},
        "MV at 1.96/L": {"exponent": Fraction(49, 25)},
        "MV at 1.5/L": {"exponent": Fraction(3, 2)},
    },
)
def test_mixed_variation_bound(W, b, a, x, p, L, lam, *, exponent=2, power_of=2):
    r"""The mixed variation of a function is at most its cost.

    $\mathcal{MV}(h; \frac2L)^{2/L} = \|C_h^{1/2}\|_{S^{2/L}}^{2/L} \le
    \|D_\lambda^{-1} D_a W\|_{S^q}^{2/L}$, $q = 2/(L-1)$, for $h(x) = a^\top [Wx + b]_+$, every law
    of $x$ and every $\lambda > 0$ with $\|\lambda\| = 1$. So $\mathcal{MV}(h; \frac2L)^{2/L} \le
    R_L(h)$. Printed is $\mathcal{MV}(h; q)^{2/L} \le R_L(h)$, which follows, since $q > \frac2L$.

    The proof, for a law with masses $p_n$ at points $x_n$: let $S_{nk} = 1$ where unit $k$ is active
    at $x_n$, else 0. Then $A = P^{1/2} S D_a W$, of rows $\sqrt{p_n} \nabla h(x_n)^\top$, is a root:
    $A^\top A = C_h$. It is the product of $P^{1/2} S D_\lambda$ and $D_\lambda^{-1} D_a W$, and
    $\|P^{1/2} S D_\lambda\|_F^2 = \sum_{n,k} p_n S_{nk} \lambda_k^2 \le 1$. Hölder's inequality for
    Schatten norms with $\frac L2 = \frac12 + \frac{L-1}2$ bounds $\|A\|_{S^{2/L}}$ by the product
    of the norms in $S^2$ and $S^q$.

    Checked for laws with finitely many atoms; every law is a limit of such laws. The singular
    values are those of $A$, from the network's Jacobian at the atoms, and keep all digits. Functions
    of index rank one attain the constant. For $r$ separate units of equal $\sigma_i$ the ratio is
    $r^{-1/L}$, and $r^{2/c - 1 - 1/L}$ with $c/L$ in place of $2/L$ as the exponent of the norm: for
    $c = 1.96$ that is above one from $L = 50$ on.
    """
    root, noise = root_and_noise(W, b, a, x, p)
    cost = costs.phi_at(W, a, L, lam)

    def mixed(q):
        return linalg.power(linalg.schatten_power(root, q, noise), Fraction(power_of, L) / q)

    return (
        leq(mixed(Fraction(exponent, L)), cost, label="MV at 2/L"),
        leq(mixed(Fraction(2, L - 1)), cost, label="MV at 2/(L − 1), as printed"),
    )


@instances
def two_networks_and_depths(source: Source):
    """Two networks for a function, a law with mass in each region on a line, L ≥ 2, a point."""
    W, *others = two_networks_on_a_line().build(source)
    return W, *others, source.integer(2, 8), source.tensor(W.shape[1])


@instances
def orthogonal_units_on_a_line(source: Source):
    """The same network twice, with orthogonal w_k of one length: all singular values are equal.

    The ±w_k are multiples of the rows of a reflection v ↦ v − 2⟨u, v⟩u/|u|², whose first column has
    no zero.
    """
    K = source.integer(1, 3)
    u = positive(source, 1, low=0.5, high=1.0)
    if K > 1:
        u = torch.cat((u, positive(source, K - 1, low=1.25, high=2.0)))
    W = linalg.eye(K, u) - 2 * torch.outer(u, u) / (u @ u)
    W = positive(source, 1, 1, low=0.5, high=2.0) * signs(source, K).unsqueeze(-1) * W
    bends = breakpoints(source, K)
    x, p = on_the_line(between(bends), K), law(source, K + 1, everywhere=True)
    b, a, L = -W[:, 0] * bends, signs(source, K), source.integer(2, 8)
    return W, b, a, x, p, W, b, a, L, source.tensor(K)


@instances
def a_region_without_mass(source: Source):
    """Orthogonal units; the region below all bends, or the one above, has no mass."""
    W, b, a, x, p, *others = orthogonal_units_on_a_line().build(source)
    return W, b, a, x, without_an_end(source, p), *others


@bound(
    "linear.path-norm-upper",
    paper("linear", "slides B, Theorem"),
    instances=two_networks_and_depths(),
    reach=index_ranks,
    tight=orthogonal_units_on_a_line(),
    needs={"every region has positive mass": a_region_without_mass()},
    mutants={
        "the weights themselves": {"weights": as_given},
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
    root, noise = root_and_noise(W, b, a, x, p)
    U, path = weights(V, root), costs.path_norm_of_units(V, e)
    r = torch.zeros_like(path) + linalg.rank(root, noise)
    upper = linalg.power(r, Fraction(L - 2, L) * factor) * linalg.power(path, Fraction(exponent, L))
    given, through = (costs.two_layer_network(M, d, e) for M in (V, U))
    scale = tolerances.network_scale(given, z)
    cost = costs.phi_at(U, e, L, costs.path_norm_lambda(U, e))
    return (
        # The projection errs by the condition number of the gradients.
        eq(through(z), given(z), scale=scale, terms=2**20, label="the function"),
        leq(cost, upper, terms=2**20, label="the cost"),
    )
