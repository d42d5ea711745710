"""Facing up to arrangements: the linear regions of one hidden layer, and how many there can be."""

import torch

from rankcheck import Network, bound, eq, identity, leq, paper, regions
from rankcheck.instances import Source, breakpoints, instances, whole

#: Beyond all points where hyperplanes of the instances meet: by Cramer's rule these are below 500.
FAR = 1024.0


@instances
def integer_hyperplanes(source: Source):
    """Up to five hyperplanes a·x + b = 0 of R^d, d ≤ 3: integers A (n × d) and b, and a radius.

    Some have all hyperplanes through one point, or parallel ones; a row may be zero.
    """
    d = source.integer(1, 3)
    n = source.integer(1, 6 - d // 2)
    kind = source.choice(("any", "through one point", "parallel", "any"))
    A = whole(source.tensor(n, d, low=-3.0, high=3.0))
    b = whole(source.tensor(n, low=-3.0, high=3.0))
    if kind == "through one point":
        b = A.sum(1)
    if kind == "parallel":
        A = A[:1] + 0 * A
    return A, b, FAR


@instances
def in_small_boxes(source: Source):
    """The same in a box that misses regions."""
    A, b, _ = integer_hyperplanes()(source)
    return A, b, 0.5


def by_the_polynomial(A, b):
    """|χ(−1)|, and |χ(1)| if the normals span the space."""
    lines = regions.Arrangement(A, b)
    return lines.regions, lines.bounded


def as_if_general(A, b):
    """The numbers in general position."""
    return regions.most_regions(*A.shape), regions.most_bounded_regions(*A.shape)


@identity(
    "field.regions-of-one-layer",
    paper("zaslavsky1975", "on the number of regions, as recalled"),
    instances=integer_hyperplanes(),
    needs={"the box has all points where hyperplanes meet": in_small_boxes()},
    mutants={
        "as if in general position": {"numbers": as_if_general},
        "without the offsets": {"numbers": lambda A, b: by_the_polynomial(A, 0 * b)},
    },
)
def test_regions_of_one_layer(A, b, radius, *, numbers=by_the_polynomial):
    r"""The linear regions of one hidden layer are counted by a characteristic polynomial.

    A layer of units $a_i \cdot x + b_i$ has $|\chi(-1)|$ activation regions, and $|\chi(1)|$ bounded
    ones if the $a_i$ span $\mathbb R^d$ (none otherwise), where
    $\chi(t) = \sum_S (-1)^{|S|} t^{d - \operatorname{rank} S}$ over all sets of hyperplanes with a
    common point.

    The left sides are counted one by one, by splitting a box that has all points where hyperplanes
    meet in its interior; bounded are the regions that do not reach its boundary. For integers: there
    both counts are exact.
    """
    net = Network((A, 0 * A[:, :1].mT + 1), (b, 0 * b[:1]))
    cells = regions.region_arrays(net, -radius, radius)
    inside = (cells.vertices.abs() < radius).all(-1).all(-1) & cells.present
    total, bounded = numbers(A, b)
    return (
        eq(cells.count, total, label="regions"),
        eq(inside.sum(), bounded, label="bounded regions"),
    )


def moment_rows(source: Source, n: int, d: int):
    """The rows (1, t, …, t^d) at n different t, and the t: any d + 1 of the rows are independent."""
    t = breakpoints(source, n) / 2
    return torch.stack([t**k for k in range(d + 1)], -1), t


@instances
def hyperplanes_in_general_position(source: Source):
    """Rows (1, t, …, t^d) as A (n × d) and b: up to six hyperplanes of R^d, d ≤ 3."""
    d = source.integer(1, 3)
    rows, _ = moment_rows(source, source.integer(1, 6), d)
    return rows[:, :d], rows[:, d]


@instances
def with_a_common_point(source: Source):
    """d + 1 hyperplanes of R^d with a common point, any d of them in general position."""
    d = source.integer(1, 3)
    rows, t = moment_rows(source, d + 1, d)
    b, gap = rows[:, d], (t[d] - t[:d]).prod()
    return rows[:, :d], torch.cat((b[:d], b[d:] - gap))


@instances
def with_parallel_hyperplanes(source: Source):
    """Two or more hyperplanes of the plane or of space, the first two of them parallel."""
    d = source.integer(2, 3)
    rows, _ = moment_rows(source, source.integer(2, 4), d)
    A = rows[:, :d]
    return torch.cat((A[:1], A[:1], A[2:])), rows[:, d] + torch.arange(len(rows))


def lower_sets(n, d):
    """Σ over j < d of C(n, j)."""
    return regions.most_regions(n, d - 1)


@identity(
    "field.regions-in-general-position",
    paper("zaslavsky1975", "on general position, as recalled"),
    instances=hyperplanes_in_general_position(),
    needs={
        "no d + 1 hyperplanes have a common point": with_a_common_point(),
        "any d normals are independent": with_parallel_hyperplanes(),
    },
    mutants={"without the sets of d": {"most": lower_sets}},
)
def test_regions_in_general_position(A, b, *, most=regions.most_regions):
    r"""In general position n hyperplanes of R^d have as many faces of each dimension as possible.

    If any $d$ normals are independent and no $d + 1$ hyperplanes have a common point, there are
    $\sum_{j \le d} \binom nj$ regions, $\binom{n-1}{d}$ of them bounded, and
    $\binom n{d-k} \sum_{i \le k} \binom{n-d+k}{i}$ faces of dimension $k$.
    """
    (n, d), lines = A.shape, regions.Arrangement(A, b)
    faces = torch.tensor([regions.most_faces(n, d, k) for k in range(d + 1)])
    return (
        eq(lines.regions, most(n, d), label="regions"),
        eq(lines.bounded, regions.most_bounded_regions(n, d), label="bounded regions"),
        eq(lines.faces, faces, label="faces"),
    )


@instances
def any_hyperplanes(source: Source):
    """A (n × d) and b with n ≤ 6 and d ≤ 3, zero and equal rows among them."""
    d, n = source.integer(1, 3), source.integer(1, 6)
    return source.tensor(n, d), source.tensor(n)


@instances
def general_up_to_a_point(source: Source):
    """Hyperplanes in general position, or d + 1 of them that have a common point."""
    if source.choice(("general", "a common point")) == "general":
        return hyperplanes_in_general_position()(source)
    return with_a_common_point()(source)


@bound(
    "field.most-regions",
    paper("zaslavsky1975", "on general position, as recalled"),
    instances=any_hyperplanes(),
    tight=general_up_to_a_point(),
    mutants={"without the sets of d": {"most": lower_sets}, "two regions fewer": {"fewer": 2}},
)
def test_most_regions(A, b, *, most=regions.most_regions, fewer=1):
    r"""No n hyperplanes of R^d have more regions than in general position, and no others as many.

    $r(\mathcal A) \le \sum_{j \le d} \binom nj$, and at most $\binom{n-1}{d}$ regions are bounded,
    for every arrangement of $n \ge 1$ hyperplanes, parallel and equal ones included. One that is not
    in general position has fewer regions.
    """
    (n, d), lines = A.shape, regions.Arrangement(A, b)
    special = ~lines.is_general
    return (
        leq(lines.regions, most(n, d), label="regions"),
        leq(lines.bounded, regions.most_bounded_regions(n, d), label="bounded regions"),
        leq(lines.regions + fewer, most(n, d), where=special, label="not in general position"),
    )
