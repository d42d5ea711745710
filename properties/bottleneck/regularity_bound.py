from fractions import Fraction

from rankcheck import bound, leq, paper
from rankcheck.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.linalg import log_pseudo_determinant, rank, schatten_power


@bound(
    "bottleneck.regularity-bound",
    paper("bottleneck", "Thm 3"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(scale=(1.0, 1.0 + 2**-8)),
)
def test_regularity_bound(net, x):
    r"""What a network costs beyond its rank bounds the log-determinant of its Jacobian.

    With $k = \operatorname{rank} Jf(x)$, at every depth:
    $\|\theta\|^2 - Lk \ge L \sum_{i \le k} (s_i^{2/L} - 1) \ge 2 \log |Jf(x)|_+$.
    """
    J, L = net.jacobian(x), net.depth
    noise = net.jacobian_noise(x)
    k = rank(J, noise) * L
    middle = L * schatten_power(J, Fraction(2, L), noise) - k
    size = net.cost() + k
    log_det = log_pseudo_determinant(J, noise)
    return (
        leq(middle, net.cost() - k, scale=size, label="the excess cost"),
        leq(2 * log_det, middle, scale=size, label="the log-determinant"),
    )
