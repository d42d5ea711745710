"""Thm 1 of `rank`: does the limiting cost exist; and what is it on stars of four rays?

Remark 4 conjectures that it is the bottleneck rank: false, see three_rays.py.
"""

from fractions import Fraction

import torch

from rankcheck import cited, conjecture, leq, paper
from rankcheck.instances.loops import bent_loops, loops, planar_loops
from rankcheck.instances.networks import Slopes
from rankcheck.instances.source import Source, instances
from rankcheck.scalars import scalar
from rankcheck.witnesses.loops import Loop

POWER = Fraction(2**24, 5**5 * 3**3)
"""The eighth power of 1.9378…, which is 4 (5/2)^(−5/8) (3/2)^(−3/8)."""


@instances
def loops_around_four_rays(source: Source):
    """Loops around planar stars of four rays, near them, and anywhere."""
    family = source.choice(("bent", "planar", "anywhere"))
    slopes: Slopes = source.choice(("any", "negative"))
    if family == "bent":
        return bent_loops(rays=(4, 4), slopes=slopes)(source)
    if family == "planar":
        return planar_loops(slopes=slopes)(source)
    return loops(rays=(4, 5), slopes=slopes)(source)


def layers_and_kinks(loop):
    """The number of layers, and of kinked units in all of them."""
    one = torch.ones_like(loop.cost(), dtype=torch.int64)
    return {"layers": loop.length * one, "kinked units": sum(loop.kinked) * one}


@conjecture(
    "rank.four-rays",
    paper("rankcheck", "docs/proofs/three-rays.md, More rays"),
    instances=loops_around_four_rays(),
    mutants={
        "more than two a layer": {"least": Fraction(33, 16) ** 8},
        "two rays, which form a line": {"fewest": 2},
        "open loops": {"closed": lambda loop: loop.cost() >= 0},
    },
    loose="the best loops that are known are long: 1.9378… is their limit",
    witness=Loop,
    reach=layers_and_kinks,
)
def test_four_rays(loop, *, fewest=4, least=POWER, closed=Loop.closes):
    r"""Loops around four rays cost 1.9378… a layer or more.

    $\bigl( \frac1M \sum_\ell \|W_\ell\|_F^2 \bigr)^8 \ge 2^{24} / (5^5\, 3^3)$ for loops of $M$
    layers that take each point of a star of four rays or more back to itself, such as the cross of
    Example 1 of `rank`.

    There are loops that come arbitrarily close (docs/proofs/three-rays.md), so the limiting cost of the
    identity on the cross is less than its bottleneck rank 2. That $3/\sqrt[3]4 = 1.8899$ is needed is
    rank.three-rays. Covered: loops of up to four layers, any slope, kinks in the centre. Those
    cost 2 a layer or more, as far as is known.
    """
    mean = loop.cost() / loop.length
    holds = closed(loop) & loop.shows_a_star(fewest)
    return leq(scalar(Fraction(least), mean), mean**8, where=holds)


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
