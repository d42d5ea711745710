"""Prop. 3/7 of `rank`: the parameter norm bounds the Jacobian, at every depth."""

from fractions import Fraction

from rankcheck import bound, leq, paper
from rankcheck.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.linalg import schatten_power


@bound(
    "rank.jacobian-bounds-cost",
    paper("rank", "Prop. 3/7"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(),
    mutants={"exponent 2.04/L": {"exponent": Fraction(51, 25)}},
)
def test_jacobian_bounds_cost(net, x, *, exponent=2):
    r"""The cost per layer bounds the Schatten power of the Jacobian.

    $\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$ for every network and every $x$ at
    which it is differentiable.
    """
    J = net.jacobian(x)
    return leq(schatten_power(J, Fraction(exponent, net.depth)), net.cost() / net.depth)
