"""The identity on the whole line, and two rays: docs/proofs/identity-on-the-line.md."""

import torch

from rankcheck import Network, bound, costs, leq, linalg, paper, witnesses
from rankcheck.instances import (
    Source,
    bent_loops,
    instances,
    loops,
    network,
    orthogonal,
    planar_loops,
    positive,
    slope,
    slope_in_range,
)

from ._obtuse import never_obtuse


@instances
def layers_at_two_rays(source: Source, *, acute: bool = True, steep: bool = False):
    """Two rays, at no obtuse angle if `acute`, W, how many units have a kink, and the slope."""
    n, m = source.integer(1, 3), source.integer(1, 4)
    p, q = source.tensor(n, low=-4.0, high=4.0), source.tensor(n, low=-4.0, high=4.0)
    if acute:
        q = torch.where((p * q).sum(-1, keepdim=True) < 0, -q, q)
    W = source.tensor(m, n, low=-2.0, high=2.0)
    a = slope_in_range(source, low=1.5, high=4.0) if steep else slope(source)
    return torch.stack((p, q), -1), W, source.integer(0, m), a


@instances
def isometric_layers(source: Source):
    """Two orthogonal rays, and an orthogonal matrix times a number."""
    rays = orthogonal(source, 2) * positive(source, 2).unsqueeze(-2)
    return rays, positive(source, 1, 1) * orthogonal(source, 2), 0, slope(source)


@bound(
    "rank.two-rays-at-a-layer",
    paper("rankcheck", "docs/proofs/identity-on-the-line.md, Theorem 1"),
    instances=layers_at_two_rays(),
    tight=isometric_layers(),
    needs={
        "no obtuse angle": layers_at_two_rays(acute=False),
        "|a| ≤ 1": layers_at_two_rays(steep=True),
    },
    mutants={"5 for 4": {"factor": 5}},
)
def test_two_rays_at_a_layer(rays, W, kinked, a, *, factor=4):
    r"""A layer that makes room for two rays has large weights.

    $\|W\|_F^4 \, \Psi(p, q) \ge 4 \, \Psi(\sigma(Wp), \sigma(Wq))$ for $p \cdot q \ge 0$, with
    $\Psi(p, q) = |p|^2 |q|^2 - (p \cdot q)_+^2$, and for layers in which a unit is linear or has the
    activation $\sigma_a$, $|a| \le 1$.
    """
    norm = linalg.frobenius_squared(W)
    after = costs.room_of_two_rays(witnesses.activate(W @ rays, kinked, a))
    size = norm * norm * (rays * rays).sum(-2).prod(-1)
    return leq(factor * after, norm * norm * costs.room_of_two_rays(rays), scale=size)


@instances
def networks_on_the_line(source: Source):
    """ReLU networks of depth two to four with one input, and one or two outputs."""
    outputs = source.integer(1, 2)
    return network(source, depth=(2, 4), width=(1, 4), inputs=1, outputs=outputs, slopes="relu")


@instances
def pairs_of_units(source: Source):
    """Two units, one for either half-line, and layers s·1 of any number."""
    s = positive(source, 1, 1, low=0.5, high=1.5)
    ends = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    middle = [s * linalg.eye(2, like=ends)] * source.integer(0, 3)
    return Network.linear((s * ends, *middle, s * ends.mT))


@instances
def leaky_units(source: Source):
    """The identity through (x, −x) with a slope in [5/8, 7/8]."""
    a = source.tensor(1, 1, low=0.625, high=0.875)
    ends = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    share = 1 / (1 + a)
    middle = [share * (ends @ ends.mT)] * source.integer(2, 4)
    return Network.linear((share.sqrt() * ends, *middle, share.sqrt() * ends.mT), a[..., 0, 0])


@instances
def lines(source: Source):
    """One linear layer."""
    return Network.linear((source.tensor(1, 1, low=0.5, high=2.0),))


@bound(
    "rank.cost-on-the-line",
    paper("rankcheck", "docs/proofs/identity-on-the-line.md, Theorem 2"),
    instances=networks_on_the_line(),
    tight=pairs_of_units(),
    needs={"the activation is ReLU": leaky_units(), "L ≥ 2": lines()},
    mutants={"a tenth more": {"least": 2.2}},
    audit="left out: networks with one input are rare, and rank.bounded-domain audits those of depth 2",
)
def test_cost_on_the_line(net, *, least=2):
    r"""On the whole line a ReLU network costs twice its depth, times a power of its outer slopes.

    $\|\theta\|^2 \ge 2L\, \Psi(p, q)^{1/(2L)}$ for depth $L \ge 2$, with $p = \lim f(t)/t$ and
    $q = \lim f(-t)/t$ for $t \to \infty$. With one output and $f'(\infty) f'(-\infty) \ge 0$ it says
    $\|\theta\|^2 \ge 2L\, |f'(\infty) f'(-\infty)|^{1/L}$. So $R(\mathrm{id}; \mathbb R, L) = 2L$ for
    ReLU (rank.identity-on-the-line has the network), $R_\infty = 2$ exceeds the bottleneck rank 1, and
    Theorem 1 of `rank` needs its bounded domains. Proof: docs/proofs/identity-on-the-line.md.
    """
    far = Network.linear(net.weights, net.slope)
    one = 1 + 0 * net.weights[0][..., 0, :]
    slopes = torch.stack((far(one), far(-one)), -1)
    mean = net.cost() / (least * net.depth)
    size = mean ** (2 * net.depth)
    return leq(costs.room_of_two_rays(slopes), size, scale=size)


@instances
def loops_with_two_rays(source: Source):
    """Loops around two to four rays, anywhere or near planar ones."""
    if source.integer(0, 1) == 0:
        return loops(rays=(2, 4))(source)
    return bent_loops()(source)


@bound(
    "rank.acute-pairs",
    paper("rankcheck", "docs/proofs/identity-on-the-line.md, Theorem 3"),
    instances=loops_with_two_rays(),
    tight=planar_loops(),
    mutants={
        "any angles": {"hypothesis": lambda loop: loop.cost() >= 0},
        "2.1 a layer": {"least": 2.1},
    },
)
def test_acute_pairs(loop, *, least=2, hypothesis=never_obtuse):
    r"""A loop with two rays that are never at an obtuse angle costs 2 a layer.

    $\sum_\ell \|W_\ell\|_F^2 \ge 2M$ for loops of $M$ layers that take each point of a star back to
    itself, if two of its rays are at an angle of at most 90° before each layer. The control without
    the last condition: two rays on a line, at cost 1 a layer.
    """
    holds = loop.closes() & loop.shows_a_star(2) & hypothesis(loop)
    return leq(least * loop.length, loop.cost(), where=holds)
