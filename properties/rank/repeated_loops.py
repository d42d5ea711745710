"""Remark 4 of `rank`: loops of layers can be repeated; its guards rest on this."""

import torch

from rankcheck import Network, construction, eq, paper, tolerances, witnesses
from rankcheck.instances import Source, bent_loops, instances, loops, positive, stopped_loops


@instances
def loops_and_points(source: Source):
    """A loop, the number of its repetitions, a size, and a point of the star of that size."""
    family = source.choice(("anywhere", "a book", "bent", "with a stop"))
    size = positive(source, low=0.125, high=2.0)
    t = source.tensor(1, low=0.0, high=1.0) * size.unsqueeze(-1)
    if family == "with a stop":
        (loop,) = stopped_loops(length=(1, 3))(source)
        begin, end = loop.segments()[source.integer(0, 3)]
        points = loop.points()
        x = size.unsqueeze(-1) * points[..., begin] + t * (points[..., end] - points[..., begin])
        return loop, source.integer(1, 3), size, x
    if family == "bent":
        (loop,) = bent_loops(length=(1, 3))(source)
    else:
        (loop,) = loops(rays=(1, 3), spine=int(family == "a book"), length=(1, 3))(source)
    x = t * loop.rays[..., source.integer(0, loop.rays.shape[-1] - 1)]
    if family == "a book":
        x = x + source.tensor(1, low=-1.0, high=1.0) * size.unsqueeze(-1) * loop.spine[..., 0]
    return loop, source.integer(1, 3), size, x


def without_shifts(loop, repeats, size):
    """The network without biases: σ_a bends its linear units."""
    net = loop.network(repeats, size)
    return Network.linear(net.weights, net.slope)


@construction(
    "rank.repeated-loops",
    paper("rank", "Remark 4 (what its guard rests on)"),
    instances=loops_and_points(),
    mutants={"no shift of the linear units": {"witness": without_shifts}},
    witness=witnesses.Loop.network,
)
def test_repeated_loops(loop, repeats, size, x, *, witness=witnesses.Loop.network):
    r"""A loop of layers around a star, repeated p times, is a network at p times its cost.

    Let the layers $W_1, \dots, W_M$ take each point of the star $\{t u_j : t \ge 0\} \subset
    \mathbb R^n$ back to itself. Repeated $p$ times they form a network of depth $pM + 2$ and of the
    given slope that is the identity on the part $t \le \varepsilon$ of the star, and
    $\|\theta\|^2 = p \sum_\ell \|W_\ell\|_F^2 + 2n + \varepsilon^2 C_p$, where $C_p$ is the cost of
    the biases at $\varepsilon = 1$. With a spine $v$ the same holds on the pages $t u_j + s v$. With
    biases in the loop, which are multiplied by $\varepsilon$, the rays may bend at points where a unit
    has its kink, and the network is the identity on $\varepsilon$ times the star.

    The function is checked for loops that cost at most 32 a layer. Proof:
    docs/proofs/repeated-loops.md.
    """
    net = witness(loop, repeats, size)
    n = loop.rays.shape[-2]
    unit = loop.network(repeats, torch.ones_like(size))
    constant = sum((b * b).sum(-1) for b in unit.biases)
    cost = repeats * loop.cost() + 2 * n + size * size * constant
    # Off the star a loop can enlarge rounding errors, so the steepest loops are left out.
    holds = loop.closes() & (loop.cost() <= 32 * loop.length)
    scale = tolerances.network_scale(net, x).amax(-1, keepdim=True)
    missed = witnesses.CLOSED * scale if isinstance(scale, torch.Tensor) else None
    return (
        eq(net(x), x, where=holds, scale=scale, error=missed, label="the function"),
        eq(net.cost(), cost, scale=cost, label="the cost"),
        eq(net.depth, repeats * loop.length + 2, label="the depth"),
    )
