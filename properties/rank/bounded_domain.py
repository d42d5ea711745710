"""Thm 1 of `rank` is about bounded domains: what the identity costs on the whole line."""

import torch

from rankcheck import Network, bound, construction, eq, leq, linalg, networks, paper
from rankcheck.instances import Source, instances, network, positive


@instances
def depths_and_points(source: Source):
    """A depth and a point of the line."""
    return source.integer(2, 12), source.tensor(1)


def identity_on_the_line(depth, like, units=(1.0, -1.0)):
    """x = [x]_+ − [−x]_+, carried through identity layers of width two."""
    k = len(units)
    first = like.new_ones((k, 1)) * torch.tensor(units, dtype=torch.float64).unsqueeze(-1)
    weights = [first, *[linalg.eye(k, like=like)] * (depth - 2), first.mT]
    spread = [w.expand((*like.shape[:-1], *w.shape)) for w in weights]
    return Network.linear(spread)


def right_half(depth, like):
    """The same without the unit for x < 0: enough on a domain that is bounded from below."""
    return identity_on_the_line(depth, like, units=(1.0,))


@construction(
    "rank.identity-on-the-line",
    paper("rank", "Thm 1"),
    instances=depths_and_points(),
    mutants={"one unit a layer": {"witness": right_half}},
)
def test_identity_on_the_line(depth, x, *, witness=identity_on_the_line):
    r"""On the whole line the identity costs at most 2L.

    $x = [x]_+ - [-x]_+$, carried through identity layers of width two, is a ReLU network of any depth
    $L \ge 2$ with $f(x) = x$ for all $x \in \mathbb R$ and $\|\theta\|^2 = 2L$.
    """
    net = witness(depth, x)
    return (
        eq(net(x), x, label="the function"),
        eq(net.cost(), 2 * depth, label="the cost"),
    )


@instances
def shallow_networks(source: Source):
    """ReLU networks of depth two from R to R."""
    return network(source, depth=(2, 2), width=(1, 5), inputs=1, outputs=1, slopes="relu")


@instances
def balanced_pairs(source: Source):
    """Two units, one for either half-line, with weights ±t inside and outside."""
    t = positive(source, 2, high=2.0)
    signs = torch.tensor([1.0, -1.0], dtype=torch.float64)
    return Network.linear(((t * signs).unsqueeze(-1), (t * signs).unsqueeze(-2)))


@instances
def leaky_pairs(source: Source):
    """The same with a slope of 1/4 or more: both units have a part in both outer slopes."""
    net = balanced_pairs()(source)[0]
    return Network(net.weights, net.biases, source.tensor(low=0.25, high=0.875))


@bound(
    "rank.bounded-domain",
    paper("rank", "Thm 1"),
    instances=shallow_networks(),
    tight=balanced_pairs(),
    needs={"the activation is ReLU": leaky_pairs()},
    mutants={"half as much again": {"factor": 3}},
    audit="on the network: ReLU, L = 2, one input, one output",
)
def test_bounded_domain(net, *, factor=2):
    r"""A ReLU network of depth two on the line costs at least twice its outer slopes.

    $\|\theta\|^2 \ge 2(|f'(+\infty)| + |f'(-\infty)|)$ for every ReLU network of depth two from
    $\mathbb R$ to $\mathbb R$. So the identity on all of $\mathbb R$ costs $4 = 2L$ at $L = 2$, while
    on a bounded domain it costs $L + O(1)$ at every depth.

    Depth two only: rank.cost-on-the-line has all depths, and there the geometric mean of the two outer
    slopes. rank.identity-on-the-line shows that $2L$ is enough for the identity. The
    control of rank.identity-layers shows that the construction of the proof needs a domain on which
    $g$ is bounded from below, not that the theorem does.
    """
    a = net.slope if isinstance(net.slope, linalg.Number) else net.slope.unsqueeze(-1)
    inner, outer = net.weights[0][..., 0], net.weights[1][..., 0, :]
    right = (outer * networks.leaky(inner, a)).sum(-1)
    left = (outer * networks.leaky(-inner, a)).sum(-1)
    return leq(factor * (right.abs() + left.abs()), net.cost())
