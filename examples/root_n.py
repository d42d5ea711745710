"""What is true instead of sup_norm.py: with n inputs a factor of n^(1/L) is missing."""

from rankcheck import conjecture, leq
from rankcheck.instances import networks_at_points
from rankcheck.linalg import power


@conjecture("mine.root-n", instances=networks_at_points(), mutants={"without n": {"inputs": 0}})
def test_root_n(net, x, *, inputs=1):
    r"""$\|Jf(x)\|_\infty^{2/L} \le n^{1/L} \|\theta\|^2 / L$ for $n$ inputs, in the sup norm."""
    steepness = net.jacobian(x).abs().sum(-1).amax(-1)
    n = net.widths[0] ** inputs
    return leq(power(steepness**2 / n, 1 / net.depth), net.cost() / net.depth)
