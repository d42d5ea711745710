"""The representation cost R_L of sums and of multiples: the power 2/L of a quasi-norm."""

from fractions import Fraction

from rankcheck import Network, bound, construction, eq, leq, linalg, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    clear_of_boundaries,
    instances,
    network,
    network_at_points,
    positive,
    semi_orthogonal,
    signs,
    slope,
)


def without_output_bias(net):
    """The network with a last bias of zero."""
    return net.with_parameters(net.weights, (*net.biases[:-1], 0 * net.biases[-1]))


@instances
def summands(source: Source, *, output_biases=False, depth=(2, 5), width=(1, 3)):
    """Two networks of one depth and slope, with hidden biases, and a point off their kinks."""
    f, x = network_at_points(source, depth=depth, width=width)
    L, m, n = f.depth, f.widths[0], f.widths[-1]
    g = network(source, depth=(L, L), width=width, inputs=m, outputs=n, slopes="relu")
    g = clear_of_boundaries(source, f.with_parameters(g.weights, g.biases), x)
    if output_biases:
        return f, g, x
    return without_output_bias(f), without_output_bias(g), x


@instances
def orthogonal_summands(source: Source):
    """tᴸ U₁V₁ᵀ and tᴸ U₂V₂ᵀ, with (U₁ U₂) and (V₁ V₂) orthogonal, by layers t·1; a point."""
    k, layers = source.integer(1, 2), source.integer(2, 5)
    into, out = semi_orthogonal(source, 2 * k, 2 * k), semi_orthogonal(source, 2 * k, 2 * k)
    t, a, y = positive(source, 1, 1, low=0.5, high=2.0), slope(source), positive(source, 2 * k)
    middle = [t * linalg.eye(k, t)] * (layers - 2)
    halves = zip(into.split(k, 1), out.split(k, 1), strict=True)
    f, g = (Network.linear((t * V.mT, *middle, t * U), a) for V, U in halves)
    return f, g, into @ y


def difference(f, g):
    """The parallel network of f and −g."""
    return f.add(g.with_parameters((*g.weights[:-1], -g.weights[-1]), g.biases))


@construction(
    "field.representation-cost-of-a-sum",
    paper("ongie2026", "the triangle inequality of R_L, as recalled"),
    instances=summands(),
    needs={"no output biases": summands(output_biases=True, depth=(2, 2), width=(1, 2))},
    mutants={
        "the difference": {"witness": difference},
        "the first function twice": {"witness": lambda f, g: f.add(f)},
    },
    witness=Network.add,
)
def test_representation_cost_of_a_sum(f, g, x, *, witness=Network.add):
    r"""Without output biases a sum costs at most what its summands cost together.

    Let $R_L(f)$ be the infimum of $\|\theta\|^2$ over the networks of depth $L \ge 2$ and of any widths
    that compute $f$ and have no output bias. The block-diagonal network computes $f + g$, and
    $\|\theta\|^2 = \|\theta_f\|^2 + \|\theta_g\|^2$; so $R_L(f + g) \le R_L(f) + R_L(g)$. Hidden biases
    may be any, and may count. With output biases there is a cross term (rank.sum-cost).
    """
    net = witness(f, g)
    return (
        eq(net(x), f(x) + g(x), scale=tolerances.network_scale(net, x), label="the function"),
        eq(net.cost(), f.cost() + g.cost(), label="the cost"),
        eq(net.depth, f.depth, label="the depth"),
    )


@instances
def multiples(source: Source):
    """A network with any biases, a point, t > 0 and a sign."""
    net = network(source, depth=(1, 5), width=(1, 4))
    x, t = source.tensor(net.widths[0]), positive(source, low=0.25, high=2.0)
    return net, x, t, signs(source)


def weights_alone(net, root, sign):
    """The weights scaled, and not the biases."""
    return net.with_parameters(witnesses.multiple(net, root, sign).weights, net.biases)


@construction(
    "field.representation-cost-of-a-multiple",
    paper("ongie2026", "the homogeneity of R_L, as recalled"),
    instances=multiples(),
    mutants={
        "without the sign": {"witness": lambda net, t, sign: witnesses.multiple(net, t, sign**2)},
        "the biases as they were": {"witness": weights_alone},
        "a bias like the weights of its layer": {"counted": lambda layer: 1},
    },
    witness=witnesses.multiple,
    audit="left out: a construction: all layers scaled alike",
)
def test_representation_cost_of_a_multiple(
    net, x, t, sign, *, witness=witnesses.multiple, counted=lambda layer: layer
):
    r"""A multiple cf costs |c|^{2/L} times what f costs.

    For $c = \pm t^L \ne 0$ the network with $W_\ell \mapsto t W_\ell$, $b_\ell \mapsto t^\ell b_\ell$ and
    the sign of $c$ in the last layer computes $c f$; its weights cost
    $\sum \|W_\ell\|_F^2 \mapsto |c|^{2/L} \sum \|W_\ell\|_F^2$, and altogether
    $\sum_\ell t^2 \|W_\ell\|_F^2 + t^{2\ell} \|b_\ell\|^2$. So
    $R_L(cf) = |c|^{2/L} R_L(f)$ for a cost of the weights alone, for networks without biases, and if
    biases count that are those of the first layer: "$\le$" is this network, and with $1/c$ and $cf$ it
    is "$\ge$".

    Biases that count in later hidden layers are left out for a reason. At $L = 3$ a constant $v$ would
    cost at most $2|v|$, as $b_2$ and $W_3$ of size $\sqrt{|v|}$ show; were the cost of the constant 1
    $|v|^{-2/3}$ times that, it would be at most $2|v|^{1/3}$ for every $v$, so zero.
    """
    scaled, L = witness(net, t, sign), net.depth
    factor, scale = sign * t**L, t**L * tolerances.network_scale(net, x)
    before, after = (
        sum(linalg.frobenius_squared(w) for w in each.weights) for each in (net, scaled)
    )
    biases = sum((b @ b) * t ** (2 * counted(i)) for i, b in enumerate(net.biases, 1))
    return (
        eq(scaled(x), factor * net(x), scale=scale, label="cf"),
        eq(after, t * t * before, label="the weights"),
        eq(scaled.cost(), t * t * before + biases, label="with the biases"),
    )


@bound(
    "field.quasi-triangle-inequality",
    paper("ongie2026", "the quasi-norm of deep networks, as recalled"),
    instances=summands(),
    tight=orthogonal_summands(),
    needs={"no output biases": summands(output_biases=True, depth=(2, 2), width=(1, 2))},
    mutants={
        "the triangle inequality of a norm": {"share": 0},
        "the power 0.98 of the constant": {"share": Fraction(49, 50)},
    },
    witness=Network.add,
)
def test_quasi_triangle_inequality(f, g, x, *, share=1):
    r"""The power L/2 of R_L has the triangle inequality of a quasi-norm, with the constant 2^{L/2−1}.

    With $\|f\|_L = R_L(f)^{L/2}$, over networks of depth $L \ge 2$ without output biases,
    $\|f + g\|_L \le 2^{L/2-1} (\|f\|_L + \|g\|_L)$, by $R_L(f + g) \le R_L(f) + R_L(g)$ and convexity.
    For $L = 2$ that is the triangle inequality.

    Checked for the parallel network, and with the least cost that any network of $f + g$ may have,
    $L \|J(f + g)(x)\|_{S^{2/L}}^{2/L}$ (rank.jacobian-bounds-cost). Equal multiples of isometries between
    orthogonal spaces attain the second, so at every depth no smaller constant will do, and for $L > 2$
    a homogeneous $R_L$ is no power of a norm.
    """
    net, L = f.add(g), f.depth
    half = Fraction(L, 2)
    constant = linalg.power(linalg.scalar(2, x), (half - 1) * share)
    right = constant * (linalg.power(f.cost(), half) + linalg.power(g.cost(), half))
    J = f.jacobian(x) + g.jacobian(x)
    least = linalg.schatten_norm(J, Fraction(2, L), net.jacobian_noise(x))
    return (
        leq(linalg.power(net.cost(), half), right, label="the parallel network"),
        leq(linalg.power(linalg.scalar(L, x), half) * least, right, label="every network"),
    )
