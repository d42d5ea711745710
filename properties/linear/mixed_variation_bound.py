"""Lemma of slides A, Theorem of slides B of `linear`: the mixed variation is at most the cost."""

from fractions import Fraction

from rankcheck import bound, costs, leq, linalg, paper
from rankcheck.instances import (
    Source,
    aligned_units_at_points,
    instances,
    separate_units_at_points,
    units_at_points,
)

from ._reach import index_ranks


@instances
def functions(source: Source):
    """Any units at points, or separate units and a large depth: there it is nearly an equality."""
    family = source.choice((units_at_points, separate_units_at_points))
    return family().build(source)


@instances
def heavier_laws(source: Source):
    """A law of mass 4."""
    W, b, a, x, p, L, lam = units_at_points().build(source)
    return W, b, a, x, 4 * p, L, lam


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
    net = costs.two_layer_network(W, b, a)
    root, noise = costs.egop_root(net.jacobian(x).squeeze(-2), p), net.jacobian_noise(x).amax(-1)
    cost = costs.phi_at(W, a, L, lam)

    def mixed(q):
        return linalg.power(linalg.schatten_power(root, q, noise), Fraction(power_of, L) / q)

    return (
        leq(mixed(Fraction(exponent, L)), cost, label="MV at 2/L"),
        leq(mixed(Fraction(2, L - 1)), cost, label="MV at 2/(L − 1), as printed"),
    )
