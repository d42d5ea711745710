"""Proof of Theorem 19 of `bottleneck`: the length of a path through N points."""

from fractions import Fraction

import torch

from rankcheck import Erratum, bound, leq, linalg, paper
from rankcheck.instances import Source, instances


@instances
def points_in_order(source: Source):
    """N ≥ 3 points of R^k in the order in which a path visits them, shape (*batch, N, k)."""
    return source.tensor(source.integer(3, 7), source.integer(1, 3))


@instances
def steps_on_a_line(source: Source):
    """N ≥ 3 points at equal steps along a line, in their order."""
    n, k = source.integer(3, 7, weights=(8, 1, 1, 1, 1)), source.integer(1, 3)
    places = torch.arange(n, dtype=torch.float64)
    start, step = source.tensor(k, low=-4.0, high=4.0), source.tensor(k, low=0.25, high=4.0)
    return start.unsqueeze(-2) + places.to(start.device).unsqueeze(-1) * step.unsqueeze(-2)


def closed_and_open(y):
    """The lengths of the closed path and of the open one, through the rows in their order."""
    steps = torch.cat((y[..., 1:, :], y[..., :1, :]), -2) - y
    lengths = linalg.power((steps * steps).sum(-1), Fraction(1, 2))
    return lengths.sum(-1), lengths[..., :-1].sum(-1)


def neighbours(y):
    """The distances d_1 ≤ d_2 of each point to the two nearest ones."""
    apart = y.unsqueeze(-2) - y.unsqueeze(-3)
    squares = torch.sort((apart * apart).sum(-1), -1).values  # the first is the point itself
    return linalg.power(squares[..., 1], Fraction(1, 2)), linalg.power(
        squares[..., 2], Fraction(1, 2)
    )


@bound(
    "bottleneck.nearest-neighbour-path",
    paper("bottleneck", "proof of Thm 19 (corrected)"),
    instances=points_in_order(),
    tight=steps_on_a_line(),
    mutants={"the ends of an open path counted in full": {"ends": 0}},
    errata=(
        Erratum(
            printed="the shortest path that goes through all points must be at least "
            r"$\sum_{i=1}^N (d_{1,i} + d_{2,i})/2$",
            right="That is right for a closed path. For the open path that the proof uses, half of the second "
            "distances of the two ends has to be subtracted: for three points at unit steps on a line the "
            "sum is 4, and the path has length 2.",
            survives="The order $N^{1 - 1/k^*}$ of the length.",
        ),
        Erratum(
            printed=r"up to a few outliers $(d_{1,i} + d_{2,i})/2 = \Omega(N^{1/k^*})$",
            right=r"$\Omega(N^{-1/k^*})$, as earlier in the proof.",
            survives="The lines around it, which have $N^{-1/k^*}$.",
        ),
    ),
)
def test_nearest_neighbour_path(y, *, ends=1):
    r"""The distances to the two nearest neighbours bound the length of a path from below.

    Every path through $y_1, \dots, y_N$, $N \ge 3$, from $y_1$ to $y_N$ has length at least
    $\sum_i \frac12 (d_{1,i} + d_{2,i}) - \frac12 (d_{2,1} + d_{2,N})$, where $d_{1,i} \le d_{2,i}$ are the
    distances of $y_i$ to the two points nearest to it. Every closed path has length at least
    $\sum_i \frac12 (d_{1,i} + d_{2,i})$.

    Proof: a point between the ends, or of a closed path, has two edges, of lengths at least $d_1$ and
    $d_2$; an end has one, of length at least $d_1$.
    """
    there_and_back, length = closed_and_open(y)
    d1, d2 = neighbours(y)
    total = (d1 + d2).sum(-1)
    missing = (d2[..., 0] + d2[..., -1]) * ends
    return (
        leq((total - missing) / 2, length, label="an open path"),
        leq(total / 2, there_and_back, label="a closed path"),
    )
