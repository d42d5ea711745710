"""Thm 1 and Remark 4 of `rank`: conjectures about the limiting cost; one is guarded on loops."""

import torch

from rankcheck import cited, conjecture, leq, paper
from rankcheck.instances.loops import bent_loops, loops, planar_loops, stopped_loops
from rankcheck.instances.networks import Slopes
from rankcheck.instances.source import Source, instances
from rankcheck.witnesses.loops import Loop


@instances
def loops_near_and_far(source: Source):
    """Loops near planar ones (bent, with a kink on a ray, around a book), and loops anywhere."""
    family = source.choice(("bent", "with a stop", "a bent book", "anywhere", "a book"))
    slopes: Slopes = source.choice(("any", "negative"))
    if family == "bent":
        return bent_loops(slopes=slopes)(source)
    if family == "with a stop":
        return stopped_loops(slopes=slopes)(source)
    if family == "a bent book":
        return bent_loops(rays=(3, 3), spine=1, slopes=slopes)(source)
    if family == "anywhere":
        return loops(slopes=slopes)(source)
    return loops(rays=(2, 3), spine=1, length=(1, 3), slopes=slopes)(source)


@instances
def flat_loops(source: Source):
    """Loops of orthogonal matrices around planar stars, and around books of planar pages."""
    return planar_loops(spine=source.integer(0, 1))(source)


def layers_and_kinks(loop):
    """The number of layers, and of kinked units in all of them."""
    one = torch.ones_like(loop.cost(), dtype=torch.int64)
    return {"layers": loop.length * one, "kinked units": sum(loop.kinked) * one}


@conjecture(
    "rank.limit-is-bottleneck-rank",
    paper("rank", "Remark 4"),
    instances=loops_near_and_far(),
    tight=flat_loops(),
    mutants={
        "two rays, which form a line": {"fewest": 2},
        "one more a layer": {"more": 1},
        "open loops": {"closed": lambda loop: loop.cost() >= 0},
    },
    witness=Loop,
    reach=layers_and_kinks,
)
def test_limit_is_bottleneck_rank(loop, *, fewest=3, more=0, closed=Loop.closes):
    r"""The limiting cost is the bottleneck rank: loops around a star cost 2 a layer or more.

    $R_\infty(f) = \operatorname{rank}_{BN}(f)$.

    Guarded for the identity on stars of three and more rays (the cross has four), where
    $\operatorname{rank}_J = 1$ and $\operatorname{rank}_{BN} = 2$, and on books of three and more
    pages that share a line, where the ranks are 2 and 3. $M$ layers that take each point of a star
    back to itself can be repeated any number of times (rank.repeated-loops), so a single loop with
    $\sum_\ell \|W_\ell\|_F^2 < \operatorname{rank}_{BN} M$ would refute the conjecture, exactly.
    Checked for every loop: $\sum_\ell \|W_\ell\|_F^2 \ge 2M$ around a star, $\ge 3M$ around a book.

    Covered: loops of up to four layers, any slope, kinks in the centre of the star and at one point
    of one ray. Three in five are drawn near loops of least cost, bent out of the plane; the others
    have up to five units a layer and weights anywhere. Not covered: longer loops, networks that do
    not repeat a loop, and functions that are not the identity on their image. Descent gets
    arbitrarily close to the bottleneck rank, also with kinks, and never below. That a cheaper loop
    would refute the conjecture: docs/proofs/repeated-loops.md.
    """
    rank = 2 + loop.spine.shape[-1] + more
    return leq(rank * loop.length, loop.cost(), where=closed(loop) & loop.shows_a_star(fewest))


@cited(
    "rank.limit-is-an-integer",
    paper("rank", "after Thm 1"),
    reason="open; rank.limit-is-bottleneck-rank implies it, and no direct guard is known: a loop "
    "that is cheaper than the bottleneck rank would not decide which number the limit is",
)
def test_limit_is_an_integer():
    r"""The limiting cost is an integer.

    $R_\infty(f; \Omega, \sigma_a) \in \mathbb N$ for every finite piecewise linear $f$ and bounded
    $\Omega$. Known where $\operatorname{rank}_J f = \operatorname{rank}_{BN} f$.
    """


@cited(
    "rank.limit-exists",
    paper("rank", "Thm 1"),
    reason="open where the Jacobian rank is less than the bottleneck rank; "
    "rank.limit-is-bottleneck-rank implies it, and no direct guard is known: that a limit does not "
    "exist, or depends on the slope, shows on no single network",
)
def test_limit_exists():
    r"""The limiting cost exists, and does not depend on the slope.

    $\lim_L R(f; \Omega, \sigma_a, L)/L$ exists and is the same for every slope $a \in (-1, 1)$. The
    theorem writes a limit; its proof bounds the lower and the upper limit.

    Known where $\operatorname{rank}_J f = \operatorname{rank}_{BN} f$. For the identity on a star the
    limit of the cost of loops exists for each slope: a loop of length $M$ followed by one of length
    $M'$ is a loop of length $M + M'$, and costs add (Fekete).
    """
