"""Thm 1 and Remark 4 of `rank`: conjectures about the limiting cost, guarded on loops."""

import torch

from rankcheck import conjecture, eq, leq, paper
from rankcheck.instances.loops import (
    loop_around,
    loops,
    planar_loop,
    planar_loops,
    star,
)
from rankcheck.instances.networks import slope
from rankcheck.instances.source import Source, instances
from rankcheck.witnesses.loops import CLOSED, Loop, distinct_rays


def is_star(loop, fewest):
    """Whether the loop closes, and has at least `fewest` rays, no two of them equal."""
    if loop.rays.shape[-1] < fewest:
        return torch.zeros(loop.rays.shape[:-2], dtype=torch.bool)
    return loop.closes() & distinct_rays(loop.rays, loop.spine)


@conjecture(
    "rank.limit-is-bottleneck-rank",
    paper("rank", "Remark 4"),
    instances=loops(),
    tight=planar_loops(),
    mutants={
        "two rays, which form a line": {"fewest": 2},
        "three a layer": {"rank": 3},
    },
    witness=Loop,
)
def test_limit_is_bottleneck_rank(loop, *, fewest=3, rank=2):
    r"""The limiting cost is the bottleneck rank: loops around a star cost 2 a layer or more.

    $R_\infty(f) = \operatorname{rank}_{BN}(f)$.

    Guarded for the identity on stars of three and more rays (the cross has four), where
    $\operatorname{rank}_J = 1$ and $\operatorname{rank}_{BN} = 2$. $M$ layers that take each point of
    a star back to itself can be repeated any number of times (rank.repeated-loops), so a single loop
    with $\sum_\ell \|W_\ell\|_F^2 < 2M$ would refute the conjecture, exactly. Checked for every
    loop: $\sum_\ell \|W_\ell\|_F^2 \ge 2M$.

    Covered: loops of up to four layers of up to five units, any slope, kinks in the centre of the
    star. Not covered: kinks on the rays, longer loops, networks that do not repeat a loop, and other
    functions. Descent gets arbitrarily close to 2, also with kinks and in three dimensions, and never
    below.
    """
    return leq(rank * loop.length, loop.cost(), where=is_star(loop, fewest))


@instances
def loops_with_a_spine(source: Source):
    """Loops around pages that share a line."""
    return loops(rays=(2, 3), spine=1, length=(1, 3))(source)


@conjecture(
    "rank.limit-is-an-integer",
    paper("rank", "after Thm 1"),
    instances=loops_with_a_spine(),
    tight=planar_loops(spine=1),
    mutants={
        "two pages, which form a plane": {"fewest": 2},
        "four a layer": {"rank": 4},
    },
    witness=Loop,
)
def test_limit_is_an_integer(loop, *, fewest=3, rank=3):
    r"""The limiting cost is an integer: loops around a book cost 3 a layer or more.

    $R_\infty(f) \in \mathbb N$.

    Guarded for the identity on three pages that share a line, where $\operatorname{rank}_J = 2$ and
    $\operatorname{rank}_{BN} = 3$. There $2 \le R_\infty \le \frac1M \sum_\ell \|W_\ell\|_F^2$ for
    every loop of $M$ layers. Checked for every loop: $\sum_\ell \|W_\ell\|_F^2 \ge 3M$. A cheaper
    loop would refute rank.limit-is-bottleneck-rank, and the limit would be 2 or no integer; the loop
    alone would not decide which. Covered as there, with up to three layers.
    """
    return leq(rank * loop.length, loop.cost(), where=is_star(loop, fewest))


@instances
def two_loops(source: Source):
    """Two loops around one star, of one slope, which is negative more often than not."""
    m = source.integer(3, 4)
    width = source.integer(2, m + 1)
    kinked = source.integer(0, width)
    across, along = star(source, width, m, 0, kinked)
    a = slope(source, source.choice(("negative", "any")))
    return tuple(loop_around(source, across, along, kinked, a, length=(1, 3)) for _ in range(2))


@instances
def two_planar_loops(source: Source):
    """The same in the plane, without kinks."""
    across = source.tensor(2, 3, low=-4.0, high=4.0)
    along, a = across[..., :0], slope(source)
    return tuple(planar_loop(source, across, along, a, length=(1, 3)) for _ in range(2))


@conjecture(
    "rank.limit-exists",
    paper("rank", "Thm 1"),
    instances=two_loops(),
    tight=two_planar_loops(),
    mutants={"three a layer": {"rank": 3}},
    witness=Loop,
)
def test_limit_exists(first, second, *, rank=2):
    r"""The limiting cost exists and does not depend on the slope.

    $\lim_L R(f; L)/L$ exists and is the same for every slope $a \in (-1, 1)$. The theorem writes a
    limit; its proof bounds the lower and the upper limit.

    Checked for the identity on a star: a loop of length $M$ followed by one of length $M'$ is a loop
    of length $M + M'$, and costs add. So $R$ is subadditive and the limit exists for each slope
    (Fekete); it is at most 2. A loop of less than 2 a layer for *some* slope would mean that the
    limit depends on the slope, or is less than the bottleneck rank for all. So
    $\sum_\ell \|W_\ell\|_F^2 \ge 2(M + M')$ is guarded for all slopes.

    Not covered: functions that are not the identity on their image. For these not even the existence
    of the limit is known when $\operatorname{rank}_J < \operatorname{rank}_{BN}$.
    """
    both = first.then(second)
    holds = is_star(first, 3) & is_star(second, 3)
    around = both.around(both.rays)
    # How far the second loop may end from its start, after the rounding errors of the first.
    missed = 16 * CLOSED * both.rays.abs().amax((-2, -1)) * (1 + second.steepness())
    return (
        eq(around, both.rays, where=holds, error=missed[..., None, None], label="one loop of two"),
        eq(both.cost(), first.cost() + second.cost(), label="costs add"),
        leq(rank * both.length, both.cost(), where=holds, label="the cost"),
    )
