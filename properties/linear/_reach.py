"""What the instances of a claim about functions reach."""

from rankcheck.costs import egop_root, two_layer_network
from rankcheck.linalg import rank


def index_ranks(W, b, a, x, p, *_):
    """The rank of C_f for units at points x of masses p."""
    net = two_layer_network(W, b, a)
    root = egop_root(net.jacobian(x).squeeze(-2), p)
    return {"index rank": rank(root, net.jacobian_noise(x).amax(-1))}
