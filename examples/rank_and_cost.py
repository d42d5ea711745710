"""Is the rank of a network at most its cost per layer? In the limit of large depth; not before."""

from rankcheck import conjecture, leq, linalg
from rankcheck.instances import networks_at_points


@conjecture("mine.rank-and-cost", instances=networks_at_points())
def test_rank_and_cost(net, x):
    r"""$\operatorname{rank} Jf(x) \le \|\theta\|^2 / L$."""
    return leq(linalg.rank(net.jacobian(x), noise=net.jacobian_noise(x)), net.cost() / net.depth)


@conjecture("mine.rank-and-volume", instances=networks_at_points())
def test_rank_and_volume(net, x):
    r"""$\operatorname{rank} Jf(x) + \frac2L \log |Jf(x)|_+ \le \|\theta\|^2 / L$."""
    J, noise = net.jacobian(x), net.jacobian_noise(x)
    volume = 2 / net.depth * linalg.log_pseudo_determinant(J, noise=noise)
    return leq(linalg.rank(J, noise=noise) + volume, net.cost() / net.depth, scale=volume.abs())
