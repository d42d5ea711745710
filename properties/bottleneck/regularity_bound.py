"""Theorem 3 of `bottleneck`: the excess cost bounds the regularity of a function."""

from rankcheck import bound, leq, paper
from rankcheck.costs.corrections import excess, linear_cost
from rankcheck.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.linalg import log_pseudo_determinant, rank


@bound(
    "bottleneck.regularity-bound",
    paper("bottleneck", "Thm 3"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(scale=(1.0, 1.0 + 2**-8)),
)
def test_regularity_bound(net, x):
    r"""The excess cost of a network bounds the log-determinant of its Jacobian.

    With $k = \operatorname{rank} Jf(x)$ and the singular values $s_i$ of $Jf(x)$, at every depth,
    $\|\theta\|^2 - kL \ge L \sum_{i \le k} (s_i^{2/L} - 1) \ge 2 \log |Jf(x)|_+$.
    """
    J, noise, L = net.jacobian(x), net.jacobian_noise(x), net.depth
    k = rank(J, noise)
    middle = linear_cost(J, L, noise) - k * L
    size = net.cost() + k * L
    log_det = log_pseudo_determinant(J, noise)
    return (
        leq(middle, excess(net, k), scale=size, label="the excess cost"),
        leq(2 * log_det, middle, scale=size, label="the log-determinant"),
    )
