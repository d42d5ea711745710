"""Layers at two rays and loops around stars of rays: what they cost, and that they can be repeated.

Theorem 1 and Remark 4 of `rank` are about limits of such costs. That the limit is the bottleneck
rank is false (three_rays.py); docs/proofs/identity-on-the-line.md is about pairs of rays.
"""

import torch

from rankcheck import (
    Network,
    bound,
    cited,
    conjecture,
    construction,
    costs,
    eq,
    leq,
    linalg,
    paper,
    tolerances,
    witnesses,
)
from rankcheck.instances import (
    Source,
    bent_around,
    bent_loops,
    instances,
    loop_around,
    loops,
    network,
    orthogonal,
    planar_loop,
    planar_loops,
    positive,
    slope,
    slope_in_range,
    stopped_loops,
)


@instances
def layers_at_two_rays(source: Source, *, acute: bool = True, steep: bool = False):
    """Two rays, at no obtuse angle if `acute`, W, how many units have a kink, and the slope."""
    n, m = source.integer(1, 3), source.integer(1, 4)
    p, q = source.tensor(n, low=-4.0, high=4.0), source.tensor(n, low=-4.0, high=4.0)
    if acute:
        q = torch.where(p @ q < 0, -q, q)
    W = source.tensor(m, n, low=-2.0, high=2.0)
    a = slope_in_range(source, low=1.5, high=4.0) if steep else slope(source)
    return torch.stack((p, q), -1), W, source.integer(0, m), a


@instances
def isometric_layers(source: Source):
    """Two orthogonal rays, and an orthogonal matrix times a number."""
    rays = orthogonal(source, 2) * positive(source, 2)
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
    size = norm * norm * (rays * rays).sum(0).prod()
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
    return Network.linear((share.sqrt() * ends, *middle, share.sqrt() * ends.mT), a[0, 0])


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
    far, one = Network.linear(net.weights, net.slope), net.weights[0].new_ones(1)
    slopes = torch.stack((far(one), far(-one)), -1)
    mean = net.cost() / (least * net.depth)
    size = mean ** (2 * net.depth)
    return leq(costs.room_of_two_rays(slopes), size, scale=size)


def never_obtuse(loop):
    """Whether some two rays are at no obtuse angle before each layer."""
    u, grams = loop.rays, []
    for W, kinked in zip(loop.weights, loop.kinked, strict=True):
        grams.append(u.mT @ u)
        u = witnesses.activate(W @ u, kinked, loop.slope)
    return (torch.stack(grams) >= 0).all(0).tril(-1).any()


@instances
def loops_with_two_rays(source: Source):
    """Loops around two to four rays, anywhere or near planar ones."""
    return source.choice((loops(rays=(2, 4)), bent_loops()))(source)


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


def obtuse_star(source: Source):
    """Three rays of the plane with three obtuse angles, as columns."""
    x = source.tensor(low=0.125, high=4.0)
    y = source.tensor(low=0.125, high=0.875) / x
    one = 1 + 0 * x
    rays = linalg.matrix(((one, -x, -y), (0 * one, one, -one)))
    return orthogonal(source, 2) @ rays * positive(source, 3)


@instances
def loops_around_obtuse_rays(source: Source, *, flat: bool = False):
    """Loops around three rays with obtuse angles: near planar ones, or with weights anywhere."""
    family = "flat" if flat else source.choice(("bent", "bent, a < 0", "anywhere"))
    a = slope(source, "negative" if family == "bent, a < 0" else "any")
    across = obtuse_star(source)
    if family == "flat":
        return planar_loop(source, across, across[:, :0], a)
    if family == "anywhere":
        return loop_around(source, across, across[:, :0], 0, a)
    small = positive(source, 1, 1, low=2.0**-6, high=0.25)
    return bent_around(source, across, across[:, :0], a, small, length=(1, 4))


@conjecture(
    "rank.short-loops",
    paper("rankcheck", "docs/proofs/three-rays.md, Short loops"),
    instances=loops_around_obtuse_rays(),
    tight=loops_around_obtuse_rays(flat=True),
    mutants={
        "one more a layer": {"more": 1},
        "open loops": {"closed": lambda loop: loop.cost() >= 0},
    },
    witness=witnesses.Loop,
    reach=lambda loop: {"layers": loop.length, "kinked units": sum(loop.kinked)},
)
def test_short_loops(loop, *, more=0, closed=witnesses.Loop.closes):
    r"""Loops of up to four layers around a star cost 2 a layer or more.

    $\sum_\ell \|W_\ell\|_F^2 \ge 2M$ for $M \le 4$ layers that take each point of three different
    rays back to itself. At $M = 63$ it is false (rank.loops-below-two), so this is no statement
    about the limiting cost; how many layers it takes to get below is not known: between 5 and 51.

    Asserted of loops whose three pairs of rays are each at an obtuse angle before some layer; the
    others are settled by rank.acute-pairs.
    """
    holds = closed(loop) & loop.shows_a_star(3) & ~never_obtuse(loop)
    return leq((2 + more) * loop.length, loop.cost(), where=holds)


@cited(
    "rank.limit-exists",
    paper("rank", "Thm 1"),
    reason="open where the Jacobian rank is less than the bottleneck rank; no direct guard is known: "
    "that a limit does not exist, or depends on the slope, shows on no single network",
)
def test_limit_exists():
    r"""The limiting cost exists, and does not depend on the slope.

    $\lim_L R(f; \Omega, \sigma_a, L)/L$ exists and is the same for every slope $a \in (-1, 1)$. The
    theorem writes a limit; its proof bounds the lower and the upper limit.

    Known where $\operatorname{rank}_J f = \operatorname{rank}_{BN} f$, and for the identity on three
    segments (docs/proofs/three-rays.md). For the identity on any star it exists for each slope: a
    loop of length $M$ followed by one of length $M'$ is a loop of length $M + M'$, and costs add
    (Fekete); that it is the same for all slopes is not known.
    """


@instances
def loops_and_points(source: Source):
    """A loop, the number of its repetitions, a size, and a point of the star of that size."""
    family = source.choice(("anywhere", "a book", "bent", "with a stop"))
    size = positive(source, low=0.125, high=2.0)
    t = source.tensor(1, low=0.0, high=1.0) * size
    if family == "with a stop":
        (loop,) = stopped_loops(length=(1, 3))(source)
        begin, end = loop.segments()[source.integer(0, 3)]
        points = loop.points()
        x = size * points[:, begin] + t * (points[:, end] - points[:, begin])
        return loop, source.integer(1, 3), size, x
    if family == "bent":
        (loop,) = bent_loops(length=(1, 3))(source)
    else:
        (loop,) = loops(rays=(1, 3), spine=int(family == "a book"), length=(1, 3))(source)
    x = t * loop.rays[:, source.integer(0, loop.rays.shape[-1] - 1)]
    if family == "a book":
        x = x + source.tensor(1, low=-1.0, high=1.0) * size * loop.spine[:, 0]
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
    constant = sum(b @ b for b in unit.biases)
    cost = repeats * loop.cost() + 2 * n + size * size * constant
    # Off the star a loop can enlarge rounding errors, so the steepest loops are left out.
    holds = loop.closes() & (loop.cost() <= 32 * loop.length)
    scale = tolerances.network_scale(net, x).amax()
    missed = witnesses.CLOSED * scale if isinstance(scale, torch.Tensor) else None
    return (
        eq(net(x), x, where=holds, scale=scale, error=missed, label="the function"),
        eq(net.cost(), cost, scale=cost, label="the cost"),
        eq(net.depth, repeats * loop.length + 2, label="the depth"),
    )
