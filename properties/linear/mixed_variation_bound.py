"""Lemma of slides A, Theorem of slides B of `linear`: the mixed variation is at most the cost."""

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
    """Any units at points, or separate units and a large depth: there the bound is nearly attained."""
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
    tight=aligned_units_at_points(),
    needs={"the law has mass one": heavier_laws()},
    mutants={
        "exponent 2.04/L": {"exponent": Fraction(51, 25)},
        "exponent 1.96/L": {"exponent": Fraction(49, 25)},
        "q 2 % smaller": {"factor": Fraction(49, 50)},
    },
)
def test_mixed_variation_bound(W, b, a, x, p, L, lam, *, exponent=2, factor=1):
    r"""The mixed variation of a function is at most its cost.

    $\mathcal{MV}(h; q)^{2/L} = \|C_h^{1/2}\|_{S^q}^{2/L} \le \|D_\lambda^{-1} D_a W\|_{S^q}^{2/L}$,
    $q = 2/(L-1)$, for $h(x) = a^\top [Wx + b]_+$, every law of $x$ and every $\lambda > 0$ with
    $\|\lambda\| = 1$. So $\mathcal{MV}(h; q)^{2/L} \le R_L(h)$. The proof: $C_h \preceq M^\top M$
    with $M = D_\lambda^{-1} D_a W$, since $1_S 1_S^\top \preceq D_\lambda^{-2}$ for every set $S$
    of active units.

    Checked for laws with finitely many atoms; every law is a limit of such laws. The singular
    values are those of a root of $C_h$, from the network's Jacobian at the atoms, and keep all
    digits. Functions of index rank one attain the constant. For $r$ separate units the ratio is
    about $r^{-2/L}$, so an error in $q$ shows only at depths above a hundred.
    """
    net = two_layer_network(W, b, a)
    root = egop_root(net.jacobian(x).squeeze(-2), p)
    q = Fraction(2, L - 1) * factor
    noise = net.jacobian_noise(x).amax(-1)
    mixed = power(schatten_power(root, q, noise), Fraction(exponent, L) / q)
    return leq(mixed, phi_at(W, a, L, lam))
