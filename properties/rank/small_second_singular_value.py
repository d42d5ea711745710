"""After Prop. 3 of `rank`: at a cost per layer near one, all but one singular value are small."""

from fractions import Fraction

import torch

from rankcheck import bound, leq, linalg, paper
from rankcheck.instances import balanced_linear_networks, networks_at_points, steep_networks


@bound(
    "rank.small-second-singular-value",
    paper("rank", "after Prop. 3"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(equal=True),
    needs={"|a| ≤ 1": steep_networks()},
    mutants={"exponent 0.98 L/2": {"exponent": Fraction(49, 100)}},
    audit="at points: |a| ≤ 1",
)
def test_small_second_singular_value(net, x, *, exponent=Fraction(1, 2)):
    r"""A network whose cost per layer is near one has a small second singular value.

    $s_k(Jf(x)) \le \left(\frac{\|\theta\|^2}{kL}\right)^{L/2}$ for every $k$. So
    $\|\theta\|^2/L \le 1 + c/L$ implies $s_2 \le ((1 + c/L)/2)^{L/2}$.
    """
    J = net.jacobian(x)
    s = linalg.singular_values(J)
    k = torch.arange(1, s.shape[-1] + 1, dtype=torch.float64, device=x.device)
    bound = linalg.power(net.cost().unsqueeze(-1) / (k * net.depth), net.depth * exponent)
    return leq(s, bound, error=net.jacobian_noise(x).unsqueeze(-1))
