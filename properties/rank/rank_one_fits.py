"""Prop. 2/8, App. D and the Abstract of `rank`: fits of rank one, their constant C_N, and the depths
at which they cost more or less than a true function of rank k ≥ 2."""

import torch

from rankcheck import (
    Erratum,
    Network,
    bound,
    construction,
    eq,
    leq,
    linalg,
    paper,
    tolerances,
    witnesses,
)
from rankcheck.instances import (
    Source,
    clear_of_boundaries,
    distinct_points,
    instances,
    orthogonal,
    positive,
    slope,
    slope_in_range,
)


@instances
def data_sets(source: Source):
    """N distinct points x_i, any y_i, a slope, a ridge and a depth L ≥ 3."""
    count, n, m = source.integer(1, 6), source.integer(1, 3), source.integer(1, 3)
    x = distinct_points(source, count, n)
    y = source.tensor(count, m)
    return x, y, slope(source), source.tensor(low=0.125, high=2.0), source.integer(3, 16)


def for_relu(x, y, a):
    """The interpolant for ReLU, used with another slope."""
    found = witnesses.rank_one_interpolant(x, y)
    g, h = (Network(net.weights, net.biases, a) for net in (found.g, found.h))
    return witnesses.RankOneInterpolant(g, h, found.knots, found.slopes)


def not_translated(x, y, a):
    """The interpolant with its projected points moved to both sides of zero."""
    found = witnesses.rank_one_interpolant(x, y, a)
    shift = found.knots.mean()
    g = Network(found.g.weights, (found.g.biases[0] - shift,), a)
    h = Network(found.h.weights, (found.h.biases[0] + shift, found.h.biases[1]), a)
    return witnesses.RankOneInterpolant(g, h, found.knots, found.slopes)


@construction(
    "rank.rank-one-interpolant",
    paper("rank", "Prop. 2/8"),
    instances=data_sets(),
    mutants={
        "the kink of σ_a taken for that of ReLU": {"witness": for_relu},
        "no translation into the positive half-line": {"witness": not_translated},
    },
    witness=witnesses.rank_one_interpolant,
    errata=Erratum(
        printed=r"there is a depth $\lceil \log_2(n_0 + 1) \rceil$ networks which represents $g$ "
        "and a depth 2 network which represents the function $f$",
        right=r"The second network represents $h$, with $f = h \circ g$.",
        survives="Prop. 8.",
        weight="misprint",
        place="proof of Prop. 8",
    ),
)
def test_rank_one_interpolant(x, y, slope, ridge, depth, *, witness=witnesses.rank_one_interpolant):
    r"""Any N points are fitted through $\mathbb R^1$, at cost $1 + C_N/L$ per layer.

    For $N$ points with distinct inputs there are $g: \mathbb R^n \to \mathbb R$ of depth 1 and
    $h: \mathbb R \to \mathbb R^m$ of depth 2 with $h(g(x_i)) = y_i$. With identity layers of width 1
    in between they form a network of every depth $L \ge 3$ that fits the points, and its loss with ridge
    $\lambda$ is $\frac1N \sum_i \|f(x_i) - y_i\|^2 + \frac\lambda L \|\theta\|^2
    = \lambda (1 + C_N/L)$, $C_N = \|\theta_g\|^2 + \|\theta_h\|^2 - (L_g + L_h)$.

    $g \ge 0$ on the hull of the inputs, so the identity layers need no translation, and $C_N$ does
    not depend on the depth. The paper takes depth $\lceil \log_2(n_0 + 1) \rceil$ for $g$; one affine
    layer is enough.
    """
    f = witness(x, y, slope)
    shallow, net = f.network(), witnesses.identity_layers(f.h, f.g, depth, x.new_zeros(1))
    scale = tolerances.network_scale(net, x)
    constant = f.g.cost() + f.h.cost() - (f.g.depth + f.h.depth)
    loss = linalg.frobenius_squared(net(x) - y) / len(x) + ridge * net.cost() / depth
    rounding = linalg.frobenius_squared(scale) / len(x) * 2.0**-50
    size = ridge * (net.cost() / depth + 1) + rounding
    at_two = tolerances.network_scale(shallow, x)
    return (
        eq(f.g.widths[-1], 1, label="the dimension"),
        eq(f.g.depth + f.h.depth, 3, label="the least depth"),
        eq(net(x), y, scale=scale, label="the fit"),
        eq(shallow(x), y, scale=at_two, label="the fit at depth two"),
        eq(loss, ridge * (1 + constant / depth), scale=size, label="the loss"),
    )


@instances
def constants_and_numbers(source: Source):
    """0 < c ≤ 1, C ≥ 0, k ≥ 2, log N, a share u of (0, 1], and v ≥ 0."""
    c, C = source.tensor(low=0.125, high=1.0), source.tensor(low=0.0, high=8.0)
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


@bound(
    "rank.range-of-depths",
    paper("rank", "Abstract, after Prop. 5"),
    instances=constants_and_numbers(),
    tight=without_a_constant(),
    mutants={
        "C/k left out": {"last": constant_left_out},
        "log k in place of log(k/c)": {"last": lambda G, C, k, c: last_depth(G, C, k, 0 * c + 1)},
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
    growth = 2 * log_number * (k - 1) / k
    L = u * last(2 * log_number * (k - share) / k, C, k, c)
    within = L > 0
    L = torch.where(within, L, torch.ones_like(L))
    beyond = (1 + v) * constant_left_out(growth, C, k, c)

    def logarithms(L):
        """L log(k + C/L) of the function, and L log c + 2(1 − 1/k) log N of the fits."""
        return L * torch.log(k + C / L), L * torch.log(c) + growth

    function, fits = logarithms(L)
    function_beyond, fits_beyond = logarithms(beyond)
    size = function.abs() + L * torch.log(c).abs() + growth
    return (
        leq(function, fits, where=within, scale=size, label="in the range"),
        leq(fits_beyond, function_beyond, scale=size + beyond, label="beyond it"),
    )


@instances
def lattices(source: Source):
    """A lattice of N = n^k points in a cube of R^k, its size, a point to move it to, and a depth."""
    k, n = source.choice(((1, 2), (1, 3), (1, 5), (2, 2), (2, 3), (2, 4), (3, 2)))
    index = torch.arange(n**k, dtype=torch.float64)
    points = torch.stack([index // n**axis % n for axis in range(k)], -1)
    size, corner = positive(source, low=0.25, high=4.0), source.tensor(k)
    return size * points + corner, source.integer(1, 60)


@instances
def progressions(source: Source):
    """N equally spaced points of a line, and a depth."""
    n = source.integer(2, 5)
    steps = torch.arange(n, dtype=torch.float64)[:, None]
    return positive(source, low=0.25) * steps, source.integer(1, 60)


def gaps(x):
    """|x_i − x_j| for i < j."""
    i, j = torch.triu_indices(len(x), len(x), 1)
    return (x[i] - x[j]).square().sum(-1).sqrt()


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
    count, k = x.shape
    ratio = (count - 1) * gaps(x).amin() / gaps(x).amax()
    fit = witnesses.rank_one_interpolant(x, x)
    constant = fit.g.cost() + fit.h.cost() - 3
    logarithm, log_number = factor * ratio.log(), linalg.scalar(count, x).log()
    growth = 2 * log_number * (k + more - 1) / (k + more) - diagonal * linalg.scalar(k, x).log()
    rate = depth * torch.exp(ratio.log() * 2 / depth)
    size = depth + logarithm.abs() + log_number
    return (
        leq(depth + logarithm, rate, scale=size, label="the logarithm"),
        leq(depth + growth, depth + logarithm, scale=size, label="the growth"),
        leq(logarithm, constant, label="the interpolant"),
    )


def data_of(source: Source, net: Network):
    """A point where the network is differentiable, and N ≥ 1 distinct inputs."""
    x = source.tensor(net.widths[0])
    points = distinct_points(source, source.integer(1, 5), net.widths[0])
    return clear_of_boundaries(source, net, x), x, points


@instances
def data_of_bijections(source: Source):
    """f* with invertible k × k layers and a slope > 0, so rank Jf* = k ≥ 2; a point, and inputs."""
    k, depth = source.integer(2, 3), source.integer(1, 4)
    layers = range(depth)
    weights = [orthogonal(source, k) * positive(source, k, low=0.25, high=2.0) for _ in layers]
    biases = [source.tensor(k, low=-4.0, high=4.0) for _ in weights]
    a = slope_in_range(source, low=0.125, high=0.875)
    net, x, points = data_of(source, Network(weights, biases, a))
    return net, x, points, source.tensor(low=0.0, high=1.0)


@instances
def data_of_isometries(source: Source):
    """f* orthogonal, and the least depth."""
    net = Network.linear((orthogonal(source, source.integer(2, 3)),))
    net, x, points = data_of(source, net)
    return net, x, points, 0 * x[0]


def least_depth(constant, log_determinant, k):
    """(C − 2 log|J|)/(k − 1)."""
    return (constant - 2 * log_determinant) / (k - 1)


@bound(
    "rank.rank-one-wins",
    paper("rank", "App. D"),
    instances=data_of_bijections(),
    tight=data_of_isometries(),
    mutants={
        "the determinant left out": {"depth": lambda C, log_determinant, k: C / (k - 1)},
        "k in place of k − 1": {
            "depth": lambda C, log_determinant, k: (C - 2 * log_determinant) / k
        },
    },
    audit="left out: it is about data that a bijection maps to their targets",
)
def test_rank_one_wins(net, x, points, extra, *, depth=least_depth):
    r"""Beyond an explicit depth a rank-one fit of the data costs less than the true function.

    Let $Jf^*(x)$ have rank $k \ge 2$, and let $g$ of bottleneck rank one fit the data, with networks of
    depth $L$ and cost $L + C$. For $L > (C - 2 \log |Jf^*(x)|_+)/(k - 1)$,
    $$R(g; L) \le L + C < L \|Jf^*(x)\|_{S^{2/L}}^{2/L} \le R(f^*; L).$$

    Checked for real $L \ge 1$ from that depth to twice it, with $C$ the constant of the interpolant of
    rank.rank-one-interpolant, whose networks have every depth $L \ge 3$. The last inequality is
    rank.jacobian-bounds-cost; the middle one follows from $s^{2/L} \ge 1 + \frac2L \log s$.
    """
    fit = witnesses.rank_one_interpolant(points, net(points), net.slope)
    constant = fit.g.cost() + fit.h.cost() - 3
    logs = torch.log(linalg.singular_values(net.jacobian(x)))
    k, size = len(logs), logs.abs().sum()
    L = (1 + extra) * depth(constant, logs.sum(), k).clamp(min=1)
    schatten = torch.exp(2 * logs / L).sum()
    return leq(L + constant, L * schatten, scale=k * L + size)
