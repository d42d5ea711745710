"""What the instances of a claim about functions reach."""

from rankcheck import costs, linalg


def index_ranks(W, b, a, x, p, *_):
    """The rank of C_f for units at points x of masses p."""
    net = costs.two_layer_network(W, b, a)
    root = costs.egop_root(net.jacobian(x).squeeze(-2), p)
    return {"index rank": linalg.rank(root, net.jacobian_noise(x).amax(-1))}
