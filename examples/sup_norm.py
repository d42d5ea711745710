"""Are networks with small weights robust in the sup norm? A conjecture, which is false."""

from rankcheck import conjecture, leq
from rankcheck.instances import networks_at_points
from rankcheck.linalg import power


@conjecture("mine.sup-norm", instances=networks_at_points())
def test_sup_norm(net, x):
    r"""$\|Jf(x)\|_\infty^{2/L} \le \|\theta\|^2 / L$, in the sup norm."""
    steepness = net.jacobian(x).abs().sum(-1).amax(-1)
    return leq(power(steepness, 2 / net.depth), net.cost() / net.depth)
