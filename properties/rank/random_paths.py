"""Thm 2 of `rank`: shortest paths through random points, and rank-one fits of random data."""

import math
from dataclasses import dataclass

import torch
from scipy.special import bdtrc

from rankcheck import Erratum, data, leq, paper, statistical, witnesses
from rankcheck.instances import Source, instances, seed_of

#: The probability that a number leaves its interval if what is claimed of it is exact.
LEVEL = 1e-4


def uniform(count: int, k: int, *key: object) -> torch.Tensor:
    """`count` uniform points of [0, 1]^k, the same for the same key."""
    generator = torch.Generator().manual_seed(seed_of("uniform", k, *key))
    return torch.rand(count, k, dtype=torch.float64, generator=generator)


def discrete(count: int, k: int, *key: object) -> torch.Tensor:
    """Points q_j with probability 2^-j, where the q_j are dense in [0, 1]^k, k ≤ 3.

    The q_j are the multiples of independent irrationals, modulo 1 (Kronecker, Weyl).
    """
    step = torch.tensor([2.0, 3.0, 5.0], dtype=torch.float64)[:k].sqrt()
    chance = uniform(count, 1, "discrete", *key)
    j = 1 + torch.floor(-torch.log2(1 - chance))
    return (j * step) % 1


def folded(x: torch.Tensor, k: int, folds: int) -> torch.Tensor:
    """The first k coordinates of points of the unit cube, each folded t ↦ 1 − |2t − 1| some times.

    The map is onto [0, 1]^k, piecewise linear with 2^(k·folds) linear regions of Jacobian rank k, and
    takes the uniform law to the uniform law.
    """
    y = x[:, :k]
    for _ in range(folds):
        y = 1 - (2 * y - 1).abs()
    return y


#: The number of samples for a fraction, and the seeds.
SAMPLES, SEEDS = 200, 16


@instances
def small_samples(source: Source):
    """200 samples of n uniform points in [0, 1]^k, n ≤ 5, k ≤ 3, and a level ε."""
    k, n, seed = source.integer(1, 3), source.integer(2, 5), source.integer(0, SEEDS - 1)
    points = uniform(SAMPLES * n, k, "tail", n, seed)
    return points.reshape(SAMPLES, n, k), source.choice((0.25, 0.75))


def without_the_volume(n, k, level):
    """The length with 1 in place of k! ω_k."""
    return data.likely_length(n, k, level) * math.exp(data.log_path_tail(2, k, 1.0) / k)


def one_order(n, k, level):
    """The same with one order of the points in place of n!/2."""
    return without_the_volume(n, k, level) * (math.factorial(n) / 2) ** (1 / (k * (n - 1)))


@statistical(
    "rank.path-tail",
    paper("rankcheck", "rankcheck.theory.data.path_tail"),
    instances=small_samples(),
    mutants={
        "k! ω_k left out": {"length": without_the_volume},
        "k! ω_k and the orders left out": {"length": one_order},
    },
    loose="all orders are added, and the faces of the cube ignored; the share of short paths "
    "is on average 0.94 of the level for n = 2, k = 1, and less for more points",
    witness=data.path_tail,
    no_ball="the points are random floats",
    effort=0.2,
)
def test_path_tail(points, level, *, length=data.likely_length):
    r"""The shortest path through n random points is rarely short.

    For $n \ge 2$ independent points with densities of at most $\rho$ on $\mathbb R^k$:
    $P(\mathrm{TSP} \le t) \le \frac{n!}2 (\rho\,k!\,\omega_k)^{n-1} t^{k(n-1)}/(k(n-1))!$, where
    $\omega_k$ is the volume of the unit ball.

    Checked for uniform points: at the $t$ for which the right side is $\varepsilon$, the number of
    samples with a path of at most this length is at most the $(1 - 10^{-4})$-quantile of the binomial
    law $(200, \varepsilon)$. There are 16 seeds for each $n \le 5$, $k \le 3$ and $\varepsilon$, and all of
    them have been tried, so the outcome is not random. Proof: docs/proofs/random-paths.md.
    """
    samples, n, k = points.shape
    longest = length(n, k, level)
    short = sum(data.shortest_path(data.distances(y))[0] <= longest for y in points.numpy())
    most = next(m for m in range(samples + 1) if bdtrc(m, samples, level) <= LEVEL)
    return leq(torch.tensor(float(short)), float(most))


def fit_through_a_line(x, y, depth):
    """A network of that depth through R^1 with the values y at the points x."""
    direction = torch.tensor([1.0, 2.0, 3.0, 5.0], dtype=torch.float64)[: x.shape[-1]].sqrt()
    f = witnesses.rank_one_interpolant(x, y, 0, direction)
    return witnesses.identity_layers(f.h, f.g, depth, x.new_zeros(1))


@instances
def uniform_data(source: Source):
    """x_i uniform in [0, 1]^d and f* = s·folds: then f*(x_i) is uniform in a k-dimensional cube."""
    k, extra = source.integer(1, 3), source.integer(0, 1)
    count, seed = source.choice((8, 16, 32, 64, 128)), source.integer(0, SEEDS - 1)
    x = torch.unique(uniform(count, k + extra, "fit", count, seed), dim=0)
    folds, depth = source.integer(0, 3), source.integer(3, 12)
    size = source.tensor(low=0.25, high=4.0)
    y = size * folded(x, k, folds)
    return fit_through_a_line(x, y, depth), x, y, (count, k), size


@instances
def discrete_data(source: Source):
    """x_i of the law Σ 2^-j δ_{q_j}, whose support is [0, 1]^d; d ≤ 3 and 256 data."""
    k, seed = source.integer(2, 3), source.integer(0, SEEDS - 1)
    x = torch.unique(discrete(256, k, "fit", seed), dim=0)
    y = folded(x, k, source.integer(0, 3))
    return fit_through_a_line(x, y, source.integer(3, 12)), x, y, (256, k), 1.0


def paths(y):
    """TSP(y), or a lower bound of it for many points."""
    D = data.distances(y.numpy())
    return data.shortest_path(D)[0] if len(D) <= 9 else data.path_lower_bound(D, rounds=40)


@statistical(
    "rank.rank-one-fits-of-random-data",
    paper("rank", "Thm 2"),
    instances=uniform_data(),
    needs={"the law has a density": discrete_data()},
    mutants={"k + 1 in place of k": {"length": lambda n, k, p: data.likely_length(n, k + 1, p)}},
    loose={
        "the path": "a lower bound that holds with probability 1 − 1e-4: for N = 128 it is up to 0.68 "
        "(k = 2) and 0.71 (k = 3) of the path, and half of it for k = 1",
        "the cost": "the cost per layer is at least one for any function that is not constant, and C_N is "
        "much larger than the logarithm of the slope",
        "the rate": "c_ε is the least t_ε(N)/N^(1 − 1/k), which is attained at N = 2",
    },
    witness=data.path_tail,
    no_ball="the points are random floats",
    errata=Erratum(
        printed=r"$x_1$, …, $x_N$ sampled $i.i.d$. from a distribution $p$ with support $\Omega$",
        right=r"The law is to have a density on a part of $\Omega$ where Jf* has rank $k$. For $p "
        r"= \sum 2^{-j} \delta_{q_j}$ with $q_j$ dense in $\Omega$ the support is $\Omega$ as "
        r"well, but $N$ data have about $\log_2 N$ distinct points, and their shortest path is at "
        r"most a multiple of $\log N$. The proof says what is meant: the $y_i$ are sampled from a "
        "k-dimensional distribution.",
        survives="The theorem holds for such laws, with explicit constants.",
    ),
    effort=0.1,
    audit="left out: a statistical claim about random data",
)
def test_rank_one_fits_of_random_data(net, x, y, shape, size, *, length=data.likely_length):
    r"""A rank-one fit of N random data of a rank-k function costs at least a power of N.

    Let $f^*: \Omega \to \mathbb R^m$ have Jacobian rank $k$, and let $x_1, \dots, x_N$, $N \ge 2$, be drawn
    from a law with a density on a region where $f^*$ is affine of rank $k$. For every $\varepsilon$ there is
    $c_\varepsilon > 0$ such that with probability at least $1 - \varepsilon$ every function of bottleneck
    rank one with $\hat f(x_i) = f^*(x_i)$ has
    $\frac1L R(\hat f; \Omega, L) \ge c_\varepsilon N^{\frac2L(1 - \frac1k)}$.

    Checked for $x_i$ uniform in $[0, 1]^d$ and foldings $f^*$ for which the $f^*(x_i)$ are uniform in a
    $k$-dimensional cube of side $s$: with $t_\varepsilon(N)$ of rank.path-tail, $\varepsilon = 10^{-4}$,
    $\mathrm{TSP}(y) \ge s\,t_\varepsilon(N)$ (the path),
    $\|\theta\|^2/L \ge (s\,t_\varepsilon(N)/\operatorname{diam} x)^{2/L}$ for the network that interpolates
    along a line (the cost; for all networks this is rank.travelling-salesman), and
    $t_\varepsilon(N) \ge \frac{t_\varepsilon(2)}{2^{1-1/k}} N^{1-1/k}$ (the rate). There are 16 seeds for each
    $N$ and $d \le 4$, 320 data sets in all, and all of them have been tried, so the outcome is not random.
    Proof: docs/proofs/random-paths.md.
    """
    count, k = shape
    least = length(count, k, LEVEL)
    rate = length(2, k, LEVEL) * (count / 2) ** (1 - 1 / k)
    diameter = float(data.distances(x.numpy()).max())
    bound = (size * least / diameter) ** (2 / net.depth)
    return (
        leq(size * least, torch.tensor(paths(y), dtype=torch.float64), label="the path"),
        leq(bound, net.cost() / net.depth, label="the cost"),
        leq(torch.tensor(rate, dtype=torch.float64), least, label="the rate"),
    )


#: The numbers of points, each for three samples.
GROWING = [n for n in (128, 256, 512, 1024, 2048, 4096) for _ in range(3)]
#: The seeds of uniform points, and those for each function. So many are the pilot, on which
#: `FINITE_SIZE` was fixed, and as many more test the claim.
UNIFORM, CLOUDS = 32, 8
#: How far the boundary moves an exponent at these sizes: 0.013 on average at k = 3.
FINITE_SIZE = 0.02


@dataclass(frozen=True, eq=False)
class Samples:
    """Sets of points of one law in the unit cube, with the law and the seed."""

    sets: tuple[torch.Tensor, ...]
    law: str
    seed: int

    def describe(self) -> str:
        return f"{len(self.sets)} samples of {self.law}, seed {self.seed}"


@instances
def uniform_samples(source: Source):
    """Uniform points in [0, 1]^k, k = 1, 2, 3."""
    k, seed = source.integer(1, 3), source.integer(UNIFORM, 2 * UNIFORM - 1)
    sets = uniform(sum(GROWING), k, seed).split(GROWING)
    return Samples(sets, "the uniform law", seed), k


@instances
def values_of_functions(source: Source):
    """Uniform points in [0, 1]^k, or the values at uniform points of [0, 1]^(k+1) of an f* of rank k.

    f* takes the first k coordinates, or the means of two neighbouring ones; it folds each coordinate
    up to twice, and stretches [2/3, 1] by 2 and compresses [0, 2/3].
    """
    if source.integer(0, 1) == 0:
        return uniform_samples()(source)
    k, seed = source.integer(1, 3), source.integer(CLOUDS, 2 * CLOUDS - 1)
    mixed, folds = source.integer(0, 1) == 1, source.integer(0, 2)
    sets = []
    for index, n in enumerate(GROWING):
        x = uniform(n, k + 1, "cloud", n, index % 3, seed)
        y = folded((x[:, :-1] + x[:, 1:]) / 2 if mixed else x, k, folds)
        sets.append(torch.maximum(y / 2, 2 * y - 1))
    return Samples(tuple(sets), f"a piecewise-linear f* of rank {k}", seed), k


@instances
def discrete_samples(source: Source):
    """Points q_j with probability 2^-j, where the q_j are dense in [0, 1]^k, k = 2, 3."""
    k, seed = source.integer(2, 3), source.integer(0, UNIFORM - 1)
    sets = [discrete(n, k, "growth", n, i % 3, seed) for i, n in enumerate(GROWING)]
    return Samples(tuple(sets), "the law Σ 2^-j δ_{q_j}", seed), k


def codimension(k):
    """1 − 1/k."""
    return 1 - 1 / k


@statistical(
    "rank.travelling-salesman-growth",
    paper("rank", "proof of Thm 2"),
    instances=values_of_functions(),
    needs={"the law has a density": discrete_samples()},
    mutants={"the exponent of one dimension more": {"exponent": lambda k: 1 - 1 / (k + 1)}},
    loose="a confidence interval is not attained",
    witness=data.growth,
    no_ball="the points are random floats",
    effort=0.1,
)
def test_travelling_salesman_growth(samples, k, *, exponent=codimension):
    r"""The shortest path through N random points of $\mathbb R^k$ grows like $N^{1 - 1/k}$.

    For $N$ points drawn from a law with a density on $[0, 1]^k$, $k = 1, 2, 3$, the length of the
    shortest open path grows like $N^{1 - 1/k}$.

    A lower and an upper bound of TSP (half the distances to the nearest neighbours; a serpentine) are
    fitted by power laws over $N = 128, \dots, 4096$, three samples each. Both exponents are
    $1 - 1/k$ to within the confidence interval of their fit at level $10^{-4}$ (Student, 16 degrees
    of freedom), plus 0.02 for the boundary of the cube, whose share decays like $N^{-1/k}$. The
    points are uniform, or the values $f^*(x_i)$ of functions of Jacobian rank $k$ at uniform points of
    $[0, 1]^{k+1}$, whose densities are not constant and may vanish at the boundary. There are 32 seeds
    for each $k$, and 8 for each function; all of them have been tried, so the outcome is not random.
    They are none of the as many seeds on which the 0.02 was fixed.
    The lower bound that Thm 2 needs is proved in docs/proofs/random-paths.md.

    Not checked: unbounded densities. A law without a density can violate this even if its support is the
    whole cube: with probabilities $2^{-j}$, $N$ samples have about $\log_2 N$ distinct points, 19 to
    21 for a million.
    """
    relations = []
    for name, length in (("from below", data.nearest_neighbours), ("from above", data.serpentine)):
        fit = data.fitted_exponent(GROWING, [length(points.numpy()) for points in samples.sets])
        gap = torch.tensor(abs(fit.value - exponent(k)), dtype=torch.float64)
        relations.append(leq(gap, fit.reach(LEVEL) + FINITE_SIZE, label=name))
    return tuple(relations)
