r"""Loops around three rays that cost less than 2 a layer.

Three rays stand on two axes: two of them opposite one another on the first, the third on the
second one. A layer $\operatorname{diag}(u, v)$ with $u^2 v = 1$ keeps the product of the three
lengths and costs $u^2 + v^2$, which is $3/\sqrt[3]{4} = 1.88988\ldots$ at best: one weight carries
two rays. After k such layers the rays change places: two kinked units separate the opposite rays,
and a linear layer lays the next two on the first axis. After three such phases each ray has been
alone once, and has its length again.

Used by rank.loops-below-two and rank.limit-is-bottleneck-rank-as-printed. The theorem is in
docs/proofs/three-rays.md.
"""

from __future__ import annotations

from fractions import Fraction

from rankcheck.theory.linalg import Array, matrix
from rankcheck.theory.scalars import scalar
from rankcheck.theory.witnesses.loops import Loop

STRETCH = Fraction(9, 8)
"""u; with v = 1/u² = 64/81, u² + v² = 1.88993… is near its least value."""


def switching_loop(layers: int, slope: Array, *, stretch: Fraction = STRETCH) -> Loop:
    """The loop of three phases of ``layers`` diagonal layers, for a slope (*B) in (−1, 1).

    Its length is 3 (layers + 2). Around the rays (1, 0), (−1, 0) and (0, 1).
    """
    one, zero = 1 + 0 * slope, 0 * slope
    u, v = scalar(stretch, one), scalar(1 / stretch**2, one)
    diagonal = matrix(((u + zero, zero), (zero, v + zero)))
    apart = matrix(((one, zero), (-one, zero), (zero, one)))
    # The first two units are (p − a q, q − a p) for rays p and q of the first axis.
    share = one / (1 - slope * slope)
    join = matrix(((slope * share, share, -one), (share, slope * share, zero)))
    phase = (*(diagonal,) * layers, apart, join)
    rays = matrix(((one, -one, zero), (zero, zero, one)))
    kinked = (*(0,) * layers, 2, 0)
    return Loop(rays, rays[..., :0], phase * 3, kinked * 3, slope)
