"""Abstract and after Prop. 5 of `rank`: the depths at which the true rank is cheaper, and C_N."""

from fractions import Fraction

import torch

from rankcheck import bound, leq, linalg, paper, witnesses
from rankcheck.instances import Source, instances, positive


@instances
def constants_and_numbers(source: Source):
    """0 < c ≤ 1, C ≥ 0, k ≥ 2, log N, a share u of (0, 1], and v ≥ 0."""
    c, C = source.tensor(low=0.125, high=1.0), source.tensor(low=0.0, high=8.0)
    c = torch.where(c > 0, c, torch.ones_like(c))
    k, log_number = source.integer(2, 5), source.tensor(low=6.0, high=40.0)
    return c, C, k, log_number, positive(source, high=1.0), source.tensor(low=0.0, high=2.0)


@instances
def without_a_constant(source: Source):
    """The same with C = 0, at the end of the range."""
    c, C, k, log_number, u, v = constants_and_numbers()(source)
    return c, 0 * C, k, log_number, 0 * u + 1, 0 * v


def last_depth(growth, C, k, c):
    """(2(1 − 1/k) log N − C/k)/log(k/c)."""
    return (growth - C / k) / torch.log(k / c)


def constant_left_out(growth, C, k, c):
    """2(1 − 1/k) log N/log(k/c)."""
    return growth / torch.log(k / c)


def share_left_out(growth, C, k, c):
    """(2(1 − 1/k) log N − C/k)/log k."""
    return (growth - C / k) / torch.log(k / torch.ones_like(c))


@bound(
    "rank.range-of-depths",
    paper("rank", "Abstract, after Prop. 5"),
    instances=constants_and_numbers(),
    tight=without_a_constant(),
    mutants={
        "C/k left out": {"last": constant_left_out},
        "log k in place of log(k/c)": {"last": share_left_out},
        "2 in place of 2(1 − 1/k)": {"share": 0},
    },
)
def test_range_of_depths(c, C, k, log_number, u, v, *, last=last_depth, share=1):
    r"""There is a range of depths, which grows like log N, in which the true rank is cheaper.

    Let a function of rank $k \ge 2$ have networks of cost $kL + C$ for $L \ge L_0$ (rank.true-rank-cost), and
    let every fit of bottleneck rank one of its $N$ data cost at least
    $L\,c\,N^{\frac2L(1-\frac1k)}$, $0 < c \le 1$ (rank.rank-one-fits-of-random-data). For
    $$L_0 \le L \le L_N := \frac{2(1-\frac1k)\log N - C/k}{\log(k/c)}$$
    the function costs at most as much as every such fit: $k + \frac CL \le c\,N^{\frac2L(1-\frac1k)}$, and
    less for $L < L_N$. For $L \ge 2(1-\frac1k)\log N/\log(k/c)$ this is no longer true of the two bounds,
    so $L_N$ is right up to the constant $C/(k \log(k/c))$.

    Print has the number of data for a given depth (rank.data-threshold) and says that the range grows
    with $N$; here is its end. That rank one is cheaper in the end is rank.rank-one-wins. In between
    neither bound decides. The proof: $L \log(1 + \frac C{kL}) \le \frac Ck$. Both sides are compared by
    their logarithms, at real $L$.
    """
    growth = 2 * linalg.scalar(1 - share * Fraction(1, k), c) * log_number
    true_growth = 2 * linalg.scalar(1 - Fraction(1, k), c) * log_number
    L = u * last(growth, C, k, c)
    within = (L > 0) & (c > 0)
    L = torch.where(within, L, torch.ones_like(L))
    beyond = (1 + v) * constant_left_out(true_growth, C, k, c)
    size = L * torch.log(k + C / L).abs() + L * torch.log(c).abs() + true_growth
    return (
        leq(
            L * torch.log(k + C / L),
            L * torch.log(c) + true_growth,
            where=within,
            scale=size,
            label="in the range",
        ),
        leq(
            beyond * torch.log(c) + true_growth,
            beyond * torch.log(k + C / beyond),
            scale=size + beyond,
            label="beyond it",
        ),
    )


@instances
def lattices(source: Source):
    """A lattice of N = n^k points in a cube of R^k, its size, a point to move it to, and a depth."""
    k, n = source.choice(((1, 2), (1, 3), (1, 5), (2, 2), (2, 3), (2, 4), (3, 2)))
    index = torch.arange(n**k, dtype=torch.float64)
    points = torch.stack([index // n**axis % n for axis in range(k)], -1)
    size, corner = positive(source, low=0.25, high=4.0), source.tensor(k)
    return size[..., None, None] * points + corner.unsqueeze(-2), source.integer(1, 60)


@instances
def progressions(source: Source):
    """N equally spaced points of a line, and a depth."""
    n = source.integer(2, 5)
    steps = torch.arange(n, dtype=torch.float64).unsqueeze(-1)
    return positive(source, low=0.25)[..., None, None] * steps, source.integer(1, 60)


def gaps(x):
    """|x_i − x_j| for i < j, shape (*B, N(N − 1)/2)."""
    i, j = torch.triu_indices(x.shape[-2], x.shape[-2], 1)
    difference = x[..., i, :] - x[..., j, :]
    return (difference * difference).sum(-1).sqrt()


@bound(
    "rank.constant-of-rank-one-fits",
    paper("rank", "Contributions, after Thm 2"),
    instances=lattices(),
    tight=progressions(),
    mutants={
        "3 in place of 2": {"factor": 3},
        "log k left out": {"diagonal": 0},
        "1 − 1/(k + 1) in place of 1 − 1/k": {"more": 1},
    },
    loose={"the interpolant": "its h has depth two and a kink at each of the N points"},
    witness=witnesses.rank_one_interpolant,
)
def test_constant_of_rank_one_fits(x, depth, *, factor=2, diagonal=1, more=0):
    r"""The constant C_N of rank-one fits grows like log N if the true rank is above one.

    Let $f$ of bottleneck rank one fit $N$ data on a convex $\Omega$, and let its networks of depth $L$ cost
    at most $L + C_N$. Then
    $$C_N \ge L\Bigl(\frac{\mathrm{TSP}(y)}{\operatorname{diam} x}\Bigr)^{2/L} - L
      \ge 2 \log \frac{\mathrm{TSP}(y)}{\operatorname{diam} x}
      \ge 2 \log \frac{(N-1) \min_{i \ne j} \|y_i - y_j\|}{\operatorname{diam} x} .$$
    For the $N = n^k$ points of a lattice in a cube and $f^* = \mathrm{id}$ the last is at least
    $2(1-\frac1k)\log N - \log k$, so $C_N \to \infty$ for $k > 1$: this is what "explodes" means, a
    logarithm of $N$ and no more than that is proved. For random data of rank $k$ the first member is at least
    $2(1-\frac1k)\log N - O(1)$ with high probability (rank.rank-one-fits-of-random-data).

    The first inequality is rank.travelling-salesman. Checked on lattices: the second one with the last
    number for $\mathrm{TSP}/\operatorname{diam}$, the growth, and $C_N$ of the interpolant of
    rank.rank-one-interpolant.
    """
    count, k = x.shape[-2:]
    ratio = (count - 1) * gaps(x).amin(-1) / gaps(x).amax(-1)
    fit = witnesses.rank_one_interpolant(x, x)
    constant = fit.g.cost() + fit.h.cost() - 3
    logarithm, log_number = factor * ratio.log(), linalg.scalar(count, x).log()
    growth = 2 * linalg.scalar(1 - Fraction(1, k + more), x) * log_number
    growth = growth - diagonal * linalg.scalar(k, x).log() + 0 * logarithm
    size = depth + logarithm.abs() + log_number
    return (
        leq(
            depth + logarithm,
            depth * torch.exp(ratio.log() * 2 / depth),
            scale=size,
            label="the logarithm",
        ),
        leq(depth + growth, depth + logarithm, scale=size, label="the growth"),
        leq(logarithm, constant, label="the interpolant"),
    )
