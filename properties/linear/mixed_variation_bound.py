from fractions import Fraction

from rankcheck import bound, leq, paper
from rankcheck.costs import egop_root, phi_at, two_layer_network
from rankcheck.instances.source import Source, instances
from rankcheck.instances.units import (
    aligned_units_at_points,
    separate_units_at_points,
    units_at_points,
)
from rankcheck.linalg import power, schatten_power


@instances
def functions(source: Source):
    """Any units at points, or separate ones in a deep network, where the bound is nearly attained."""
    family = source.choice((units_at_points, separate_units_at_points))
    return family().build(source)


@instances
def heavier_laws(source: Source):
    """Masses p whose sum is 4."""
    W, b, a, x, p, L, lam = units_at_points().build(source)
    return W, b, a, x, 4 * p, L, lam


@bound(
    "linear.mixed-variation-bound",
    paper("linear", "slides A, Lemma; slides B, Theorem"),
    instances=functions(),
    tight=aligned_units_at_points(),
    needs={"the law has mass one": heavier_laws()},
    mutants={
        "exponent 2.04/L": {"exponent": Fraction(51, 25)},
        "exponent 1.96/L": {"exponent": Fraction(49, 25)},
        "q 2 % smaller": {"factor": Fraction(49, 50)},
    },
)
def test_mixed_variation_bound(W, b, a, x, p, L, lam, *, exponent=2, factor=1):
    r"""The mixed variation of a function is below its cost.

    $\mathcal{MV}(h; q)^{2/L} = \|C_h^{1/2}\|_{S^q}^{2/L} \le \|D_\lambda^{-1} D_a W\|_{S^q}^{2/L}$,
    $q = 2/(L-1)$, for $h(x) = a^\top [Wx + b]_+$, every law of $x$ and every $\lambda > 0$,
    $\|\lambda\| = 1$: so $\mathcal{MV}(h; q)^{2/L} \le R_L(h)$. From
    $C_h \preceq M^\top M$, $M = D_\lambda^{-1} D_a W$, as $1_S 1_S^\top \preceq D_\lambda^{-2}$ for
    every set $S$ of active units.

    The laws here have finitely many atoms, and every law is a limit of such. $C_h$ comes from the
    network's Jacobian at the atoms, by its root, whose singular values keep all digits. The constant
    is attained at index rank one; for $r$ separate units the ratio is about $r^{-2/L}$, which is why
    an error in $q$ shows only at depths beyond a hundred.
    """
    net = two_layer_network(W, b, a)
    root = egop_root(net.jacobian(x).squeeze(-2), p)
    q = Fraction(2, L - 1) * factor
    noise = net.jacobian_noise(x).amax(-1)
    mixed = power(schatten_power(root, q, noise), Fraction(exponent, L) / q)
    return leq(mixed, phi_at(W, a, L, lam))
