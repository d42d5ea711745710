"""Theorem 3 of `bottleneck`: the excess cost bounds the regularity of a function."""

from fractions import Fraction

from rankcheck import Erratum, bound, costs, leq, linalg, paper
from rankcheck.instances import balanced_linear_networks, networks_at_points

from ._steep_chains import steep_chains


@bound(
    "bottleneck.regularity-bound",
    paper("bottleneck", "Thm 3"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(scale=(1.0 + 2**-23, 1.0 + 2**-21)),
    needs={"|a| <= 1": steep_chains()},
    mutants={
        "2.04 log": {"logs": Fraction(51, 25)},
        "exponent 2.04/L": {"exponent": Fraction(51, 25)},
    },
    errata=Erratum(
        printed=r"For all inputs $x$ where $\operatorname{Rank} Jf(x) = R^{(0)}(x)$",
        right=r"$\operatorname{Rank} Jf(x) = R^{(0)}(f; \Omega)$, as in Theorem 11",
        survives="Theorem 3.",
    ),
    audit="at points: |a| ≤ 1; ranks",
)
def test_regularity_bound(net, x, *, logs=2, exponent=2):
    r"""The excess cost of a network bounds the log-determinant of its Jacobian.

    With $k = \operatorname{rank} Jf(x)$ and the singular values $s_i$ of $Jf(x)$, at every depth,
    $\|\theta\|^2 - kL \ge L \sum_{i \le k} (s_i^{2/L} - 1) \ge 2 \log |Jf(x)|_+$.
    """
    J, noise, L = net.jacobian(x), net.jacobian_noise(x), net.depth
    k = linalg.rank(J, noise)
    powers = linalg.schatten_power(J, Fraction(exponent) / L, noise)
    middle = powers * L - k * L
    size = net.cost() + k * L
    log_det = linalg.log_pseudo_determinant(J, noise) * linalg.scalar(logs, powers)
    return (
        leq(middle, costs.excess(net, k), scale=size, label="the excess cost"),
        leq(log_det, middle, scale=size, label="the log-determinant"),
    )
