"""Example 20 (2) of `bottleneck`: cheap networks of the shear have steep hidden maps."""

import torch

from rankcheck import bound, costs, leq, linalg, networks, paper, witnesses
from rankcheck.instances import Source, instances, positive


@instances
def stretched_shears(source: Source):
    """The network of the shear: an even depth, a stretch in [1, 2], a strength in (0, 16], two points."""
    L = 2 * source.integer(1, 24)
    r = source.tensor(low=1.0, high=source.choice((2.0, 1.125)))
    c = positive(source, low=0.125, high=16.0)
    x, rise = positive(source, 3), positive(source, low=0.125, high=1.0)
    up, down = x[..., 0] + rise, x[..., 0]
    points = [torch.stack((a, b, x[..., 2]), -1) for a, b in ((up, down), (down, up))]
    return witnesses.shear_network(L, r, c), c, torch.stack(points, -2)


def at_most_one(net, points):
    """1, as if the hidden maps were not steep."""
    return torch.ones_like(net.cost())


def larger_than_one(net, points):
    """max(1, C²) with C the largest slope of a hidden map at the two points."""
    return torch.relu(networks.lipschitz_square_at(net, points) - 1) + 1


@bound(
    "bottleneck.shear-lipschitz",
    paper("bottleneck", "Example 20, (2)"),
    instances=stretched_shears(),
    mutants={"hidden maps of slope 1": {"square": at_most_one}},
    loose="a network of the shear with C near 1 costs 2√2 c beyond 3L, twice the bound",
    witness=witnesses.shear_network,
    audit="left out: it is about the networks of one function",
)
def test_shear_lipschitz(net, c, points, *, square=larger_than_one):
    r"""The cheaper a network of the shear is, the steeper are its hidden maps.

    Every network of depth $L$ that equals $f(x, y, z) = (x, y, z + c[x - y]_+)$ on $[0, 1]^3$ and whose maps
    $\tilde\alpha_\ell$ and $\alpha_\ell \to f$ are $C$-Lipschitz, $C \ge 1$, has
    $$C^2 \bigl( \|\theta\|^2 - 3L \bigr) \ge \sqrt 2\, c.$$
    The optimal networks cost no more than that of bottleneck.shear-excess, so that at even depths
    $R(f; L) - 3L \le 12 L^{1 - 2\gamma}(1 + o(1)) \to 0$: their Lipschitz constants are at least of the order
    $L^{\gamma - 1/2}$ for every $\gamma < 1$, and diverge. This is the second part of Example 20, with a rate; print
    uses Prop. 13 in the limit of large depth.

    Proof: bottleneck.two-jacobians at a point on either side of the seam. Its Jacobians have determinant 1, so
    $L\|Jf\|_{S^{2/L}}^{2/L} \ge 3L$ by the means, and their difference $c\,e_3(1, -1, 0)$ has the nuclear norm
    $\sqrt 2\,c$. Checked for the network of the example at every stretch, with the largest slope at two points
    for $C$; no other networks of the shear are drawn.
    """
    more = costs.excess(net, 3)
    steep = square(net, points)
    return leq(
        linalg.square_root(2, c) * c, steep * more, scale=steep * (net.cost() + 3 * net.depth)
    )
