"""Remark 2, Thm 2/Prop. 10 and Prop. 9 of `rank`: networks that fit N points, through R^1 or with
one unit a layer, and a width that is enough."""

import torch

from rankcheck import (
    Erratum,
    Network,
    bound,
    cited,
    data,
    leq,
    linalg,
    networks,
    paper,
    regions,
    tolerances,
    witnesses,
)
from rankcheck.instances import (
    STEEPEST,
    Source,
    distinct_points,
    instances,
    network,
    positive,
    semi_orthogonal,
    slope,
    slope_in_range,
)


@cited(
    "rank.width-suffices",
    paper("rank", "Remark 2"),
    reason="a theorem about global minima, which cannot be computed here; the paper quotes it from "
    "Jacot, Golikov, Hongler & Gabriel (2022b) without a proof",
)
def test_width_suffices():
    r"""Width N(N + 1) suffices for N data points.

    The least regularised loss over networks of any widths is attained with
    $n_\ell \le N(N + 1)$ in every hidden layer, for $N$ data points.
    """


def three_points(source: Source):
    """x_1 < x_2 < x_3 and a height h > 0."""
    steps = positive(source, 2, low=0.25)
    x = torch.cat((0 * steps[:1], steps.cumsum(-1))) + source.tensor(1)
    return x[:, None], positive(source, low=0.25)


def targets(height):
    """0, h, 0."""
    return torch.stack((0 * height, height, 0 * height))


@instances
def narrow_networks(source: Source):
    """A network of hidden width one with a slope ≥ 0, three points, and a height."""
    x, height = three_points(source)
    depth = source.integer(1, 6)
    weights = [source.tensor(1, 1) for _ in range(depth)]
    biases = [source.tensor(1) for _ in range(depth)]
    return Network(weights, biases, slope_in_range(source, low=0.0)), x, height


@instances
def best_fits(source: Source):
    """h/2 − relu(h/2 − (h/2)(x − x_1)/(x_2 − x_1)) for ReLU: the values 0, h/2, h/2."""
    x, height = three_points(source)
    middle = x[1:2]
    W = height / 2 / (middle - x[:1])
    return Network((-W, 0 * W - 1), ((W * middle)[0], (height / 2).reshape(1))), x, height


@instances
def three_units(source: Source):
    """The interpolant, of width three."""
    x, height = three_points(source)
    return witnesses.rank_one_interpolant(x, targets(height)[:, None]).network(), x, height


@instances
def folded_units(source: Source):
    """−|x − x_2| nearly: one unit of slope −15/16, scaled to h at x_2 and 0 at x_1; x_2 − x_1 = x_3 − x_2."""
    x, height = three_points(source)
    middle, step = x[1], x[1:2] - x[:1]
    x = torch.cat((middle - step, x[1:2], middle + step))
    weights = torch.ones_like(step), -height / step
    return Network(weights, (-middle, height.reshape(1)), -STEEPEST), x, height


@bound(
    "rank.fits-of-width-one",
    paper("rank", "end of the proof of Prop. 9"),
    instances=narrow_networks(),
    tight=best_fits(),
    needs={"the hidden width is one": three_units(), "a ≥ 0": folded_units()},
    mutants={"1.05 h²/2": {"factor": 1.05}},
    audit="left out: it is about networks of width one and three data",
)
def test_fits_of_width_one(net, x, height, *, factor=1):
    r"""Networks of hidden width one and slope $a \ge 0$ do not fit three points that go up and down.

    For $x_1 < x_2 < x_3$ and the targets $0, h, 0$ every such network has
    $\sum_i |f(x_i) - y_i|^2 \ge h^2/2$, because $f$ is monotone; equality is attained. So for
    $\lambda < h^2/6$ the least loss over these networks exceeds $\lambda (1 + C/L)$, for every $C$ and all
    large $L$.

    Print ends the proof with the remark that nothing more is required than widths that are not zero.
    The proof begins with $\|\theta\|^2 \le L + C_N$, which is Prop. 8 and needs the width of a fit, as the
    paper says there. With width one Prop. 9 is trivially true, as print says; whether it holds for widths
    in between, at which no network fits the data at such a cost, is not known here.
    """
    values = net(x)[:, 0]
    errors = values - targets(height)
    size = values @ values + height * height
    return leq(factor * height * height / 2, errors @ errors, scale=size)


def on_a_box(h, g, x, extra):
    """h and g with the points x, and f = h ∘ g as a network on a box around them."""
    low, high = x.amin(0) - 1, x.amax(0) + 1
    lower, _ = networks.interval_bounds(g, low, high)
    return h, g, x, (low, high), witnesses.identity_layers(h, g, h.depth + g.depth + extra, lower)


@instances
def functions_through_a_line(source: Source):
    """f = h ∘ g through R^1, of any networks or of those that fit drawn outputs; and N points."""
    n, m, extra = source.integer(1, 2), source.integer(1, 3), source.integer(0, 12)
    x = distinct_points(source, source.choice((2, 3, 4, 5, 6, 7, 8, 24)), n)
    if source.integer(0, 1) == 1:
        f = witnesses.rank_one_interpolant(x, source.tensor(len(x), m), slope(source))
        return on_a_box(f.h, f.g, x, extra)
    g = network(source, depth=(1, 2), inputs=n, outputs=1)
    h = network(source, depth=(1, 2), inputs=1, outputs=m, slopes="relu")
    return on_a_box(Network(h.weights, h.biases, g.slope), g, x, extra)


@instances
def isometries_of_a_line(source: Source):
    """x_i on a half-line, mapped to another line: a path without detours.

    At depth 2 both layers are multiplied by s, so distances by s²; beyond that they stay the same.
    """
    count, depth = source.integer(2, 6), source.choice((2, 3, 4, 6, 12), weights=(4, 1, 1, 1, 1))
    s = positive(source, 1, 1, low=1.0, high=2.0) if depth == 2 else 1.0
    into = semi_orthogonal(source, source.integer(1, 3), 1)
    out = semi_orthogonal(source, source.integer(1, 3), 1)
    t = distinct_points(source, count, 1) + 1
    g = Network.linear((s * into.mT,), slope(source))
    h = Network.linear((s * out,), g.slope)
    x = t * into.mT
    box = x.amin(0) - 1, x.amax(0) + 1
    net = witnesses.identity_layers(h, g, depth, torch.zeros_like(t[0]))
    return h, g, x, box, net


@instances
def identities_of_the_plane(source: Source):
    """f = id through R^2, and nine points near those of a lattice."""
    x = distinct_points(source, 9, 2) / 4 + 1
    identity = Network.of([[[1.0, 0.0], [0.0, 1.0]]])
    return on_a_box(identity, identity, x, source.integer(0, 12))


#: The number of points up to which the shortest path is found; it is bounded from below for more.
EXACT = 9
assert EXACT <= data.MOST_POINTS


def shortest(y):
    """TSP(y), or a lower bound of it for many points."""
    D = data.distances(y.numpy())
    return data.shortest_path(D)[0] if len(D) <= EXACT else data.path_lower_bound(D, rounds=40)


def closed(y):
    """The length of the shortest path and of the way back to its start."""
    D = data.distances(y.numpy())
    length, order = data.shortest_path(D)
    return length + float(D[order[0], order[-1]])


@bound(
    "rank.travelling-salesman",
    paper("rank", "Thm 2/Prop. 10"),
    instances=functions_through_a_line(),
    tight=isometries_of_a_line(),
    needs={"f factors through R^1": identities_of_the_plane()},
    mutants={"back to the start": {"path": closed}, "exponent 4/L of the cost": {"exponent": 4}},
    no_ball="shortest paths and linear regions are found for float points and weights",
    effort=0.2,
    errata=(
        Erratum(
            printed=r"$\operatorname{TSP}(y_1, \ldots, y_N)$, i.e. the length of the shortest "
            "path passing through every points $y_1$, …, $y_m$ […] operator norm at least "
            r"$\operatorname{TSM}(y_1, \ldots, y_N)/\operatorname{diam}(x_1, \ldots, x_N)$",
            right=r"$y_N$ for $y_m$, and $\operatorname{TSP}$ for $\operatorname{TSM}$.",
            survives="Prop. 10.",
            weight="misprint",
            place="Prop. 10 and its proof",
        ),
        Erratum(
            printed="the proof of Proposition 2 shows that rank 1 fitting functions have "
            r"exploding gradient as $N \to \infty$",
            right="The proof of Theorem 2. Proposition 2 constructs a fit of rank one, and says nothing of its "
            "gradient.",
            survives="Remark 5.",
            weight="misprint",
            place="Remark 5",
        ),
    ),
)
def test_travelling_salesman(h, g, x, box, net, *, path=shortest, exponent=2):
    r"""A function through $\mathbb R^1$ is as steep as the shortest path through its values is long.

    For $f = h \circ g$ through $\mathbb R^1$ with $f(x_i) = y_i$ on $\Omega \supset$ the hull of
    the $x_i$: $\max_\Omega \|Jf\|_{op} \ge \mathrm{TSP}(y)/\operatorname{diam}(x)$, with TSP the
    shortest open path. Hence $\|\theta\|^2 \ge L\,(\mathrm{TSP}/\operatorname{diam})^{2/L}$ for every
    network of depth $L$ that equals $f$ on $\Omega$.

    As in the proof, $f$ takes the segment between the points with the least and the largest $g(x_i)$
    to a path through all $y_i$; its length, summed over *all* linear pieces, is at least TSP. The
    maximum is over all linear regions in a box $\Omega$. The shortest path is found exactly for up to
    nine points; for more, a lower bound of it is used.
    """
    f = h.merged_after(g)
    z, y = g(x)[:, 0], f(x)
    start, end = x[z.argmin()], x[z.argmax()]
    segment = Network(((end - start)[:, None],), (start,), f.slope)
    pieces, everywhere = regions.regions(f.merged_after(segment), 0, 1), regions.regions(f, *box)
    speeds = linalg.frobenius_squared(torch.from_numpy(pieces.jacobians.copy())).sqrt()
    length = torch.from_numpy(pieces.volume()) @ speeds
    steepest = linalg.operator_norm(torch.from_numpy(everywhere.jacobians.copy())).max()
    tsp = torch.tensor(path(y), dtype=torch.float64)
    diameter = torch.from_numpy(data.distances(x.numpy())).max()
    scale = tolerances.network_scale(f, x).norm(dim=-1).sum()
    per_layer = (tsp / diameter) ** (exponent / net.depth)
    return (
        leq(tsp, length, scale=scale, label="the length of the path"),
        leq(tsp, steepest * diameter, scale=scale, label="the steepest piece"),
        leq(net.depth * per_layer, net.cost(), label="the cost"),
    )
