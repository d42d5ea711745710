"""Thm 1 and Remark 4 of `rank`: does the limiting cost exist; and short loops around stars.

Remark 4 conjectures that the limit is the bottleneck rank: false, see three_rays.py.
"""

import torch

from rankcheck import cited, conjecture, leq, paper, witnesses
from rankcheck.instances import (
    Slopes,
    Source,
    bent_around,
    instances,
    loop_around,
    orthogonal,
    planar_loop,
    positive,
    slope,
)

from ._obtuse import never_obtuse


def obtuse_star(source: Source):
    """Three rays of the plane with three obtuse angles, as columns."""
    x = source.tensor(low=0.125, high=4.0)
    y = source.tensor(low=0.125, high=0.875) / x
    one = 1 + 0 * x
    rays = torch.stack(
        (torch.stack((one, 0 * one), -1), torch.stack((-x, one), -1), torch.stack((-y, -one), -1)),
        -1,
    )
    return orthogonal(source, 2) @ rays * positive(source, 3).unsqueeze(-2)


@instances
def loops_around_obtuse_rays(source: Source, *, flat: bool = False):
    """Loops around three rays with obtuse angles: near planar ones, or with weights anywhere."""
    family = "flat" if flat else source.choice(("bent", "bent, a < 0", "anywhere"))
    slopes: Slopes = "negative" if family == "bent, a < 0" else "any"
    a, across = slope(source, slopes), obtuse_star(source)
    if family == "flat":
        return planar_loop(source, across, across[..., :0], a)
    if family == "anywhere":
        return loop_around(source, across, across[..., :0], 0, a)
    small = positive(source, 1, 1, low=2.0**-6, high=0.25)
    return bent_around(source, across, across[..., :0], a, small, length=(1, 4))


def layers_and_kinks(loop):
    """The number of layers, and of kinked units in all of them."""
    one = torch.ones_like(loop.cost(), dtype=torch.int64)
    return {"layers": loop.length * one, "kinked units": sum(loop.kinked) * one}


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
    reach=layers_and_kinks,
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
