"""Theorem on minimal-norm interpolants, slides B of `linear`: a cheap function has few large
singular values."""

from fractions import Fraction

from rankcheck import bound, costs, leq, linalg, paper
from rankcheck.instances import (
    Source,
    aligned_units_at_points,
    depth,
    functions_of_any_rank,
    instances,
    positive,
    separate_units,
)

from ._reach import index_ranks

#: A factor that puts ε just below the singular values to be counted.
BELOW = 1 - Fraction(1, 2**30)


def numbers(source: Source):
    """A number s > 0; an integer s is the rank of a competitor."""
    return positive(source, low=0.5, high=6.0)


@instances
def functions_and_levels(source: Source):
    """Units at points, their law, L and λ; a number s > 0, and a level ε."""
    W, b, a, x, p, L, lam = functions_of_any_rank().build(source)
    return W, b, a, x, p, L, lam, numbers(source), positive(source, low=2.0**-6)


@instances
def equal_singular_values(source: Source):
    """All non-zero singular values of C_f^{1/2} are equal, and just above ε."""
    s = numbers(source)
    if source.integer(0, 1) == 0:
        W, b, a, x, p, L, lam = aligned_units_at_points().build(source)
        return W, b, a, x, p, L, lam, s, linalg.scalar(BELOW, a) * costs.path_norm_of_units(W, a)
    W, b, a, x, p, t = separate_units(source)
    return W, b, a, x, p, depth(source), b.new_ones(b.shape), s, linalg.scalar(BELOW, t) * t[..., 0]


@instances
def heavier_laws(source: Source):
    """The same under four times the mass, which doubles the singular values; ε is doubled too."""
    W, b, a, x, p, L, lam, s, eps = equal_singular_values().build(source)
    return W, b, a, x, 4 * p, L, lam, s, 2 * eps


@bound(
    "linear.effective-rank",
    paper("linear", "slides B, Theorem (Minimal-norm interpolants)"),
    instances=functions_and_levels(),
    reach=index_ranks,
    tight=equal_singular_values(),
    needs={"the law has mass one": heavier_laws()},
    mutants={
        "exponent 2.04/(L − 1)": {"exponent": Fraction(51, 25)},
        "exponent 1.96/(L − 1)": {"exponent": Fraction(49, 25)},
        "the sharper exponent 2.04/L": {"sharper": Fraction(51, 25)},
        "the sharper exponent 1.96/L": {"sharper": Fraction(49, 25)},
    },
)
def test_effective_rank(W, b, a, x, p, L, lam, s, eps, *, exponent=2, sharper=2):
    r"""A function that costs no more than one of rank s has a small effective index rank.

    Every $f$ with $\Phi_L(f) \le s^{(L-2)/L} J^{2/L}$ has $\operatorname{rank}_{I,\varepsilon}(f)
    \le s \bigl(\frac{J}{\varepsilon \sqrt s}\bigr)^{2/(L-1)}$, for all $J$, $\varepsilon$, $L$ and
    real $s > 0$. A minimal interpolant is such an $f$ if $J$ is the $R_2$-cost of an interpolant of
    index rank $\le s$ (linear.path-norm-upper).

    Sharper than printed: such an $f$ has $\operatorname{rank}_{I,\varepsilon}(f) \le
    s \bigl(\frac{J}{\varepsilon s}\bigr)^{2/L}$, since $\varepsilon^{2/L}
    \operatorname{rank}_{I,\varepsilon}(f) \le \sum_i \sigma_i(C_f^{1/2})^{2/L} \le \Phi_L(f)$ by
    linear.mixed-variation-bound.

    Checked for the least $J$ that the cost at $\lambda$ allows, which covers every larger one; and
    for the least $J$ that the mixed variation allows, which is smaller still. Equal singular values
    attain the bounds from the mixed variation.
    """
    net = costs.two_layer_network(W, b, a)
    gradients = net.jacobian(x).squeeze(-2)
    q = Fraction(2, L - 1)
    root, noise = costs.egop_root(gradients, p), net.jacobian_noise(x).amax(-1)
    cost = linalg.power(costs.phi_at(W, a, L, lam), Fraction(L, 2))
    mixed = linalg.power(linalg.schatten_power(root, q, noise), 1 / q)
    sums = linalg.schatten_power(root, Fraction(2, L), noise)
    count = costs.effective_index_rank(costs.egop(gradients, p), eps)

    def bound(power_of_cost):
        J = power_of_cost / linalg.power(s, Fraction(L - 2, 2))
        return s * linalg.power(
            J / (eps * linalg.power(s, Fraction(1, 2))), Fraction(exponent, L - 1)
        )

    def sharp(sum_of_powers):
        J = linalg.power(sum_of_powers, Fraction(L, 2)) / linalg.power(s, Fraction(L - 2, 2))
        return s * linalg.power(J / (eps * s), Fraction(sharper, L))

    return (
        leq(count, bound(cost), terms=2**10, label="from the cost"),
        leq(count, bound(mixed), terms=2**10, label="from the mixed variation"),
        leq(count, sharp(costs.phi_at(W, a, L, lam)), terms=2**10, label="sharper, from the cost"),
        leq(count, sharp(sums), terms=2**10, label="sharper, from the mixed variation"),
    )
