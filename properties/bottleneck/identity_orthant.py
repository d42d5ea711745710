"""Proposition 5/12 of `bottleneck`, "only if", which print does not prove: complete positivity."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, costs, leq, linalg, paper, witnesses
from rankcheck.instances import (
    Source,
    instances,
    planar_domain,
    positive,
    require_differentiable,
    semi_orthogonal,
    slope,
)

from ._active import active_network


@instances
def networks_on_a_plane(source: Source, *, depth=(2, 4)):
    """A network, an orthonormal basis T of a plane through 0, a point x of it, and Ty for x.

    Both x and the number of units that are negative there are drawn.
    """
    n = source.integer(1, 3)
    k, a = source.integer(1, n), slope(source)
    T, y = semi_orthogonal(source, n, k), source.tensor(k, low=-2.0, high=2.0)
    x = T @ y
    L, outputs = source.integer(*depth), k + source.integer(0, 1)
    net = active_network(source, x, rank=k, depth=L, outputs=outputs, slope=a, extra=(0, 2))
    return net, T, x


@instances
def planes_with_a_dead_unit(source: Source):
    """The identity of R^k, and a unit dead at x whose weights are a multiple of x, ‖x‖ > 1.

    Layers after the first are stretched by a factor near one.
    """
    k, L = source.integer(1, 3), source.integer(2, 4)
    x = positive(source, k, low=1.0, high=4.0)
    row = -positive(source, 1, 1, low=2.0**-6, high=1.0) * x
    one = linalg.eye(k, x)
    weights = (torch.vstack((one, row)), torch.hstack((one, 0 * x[:, None])), *[one] * (L - 2))
    return Network.linear(weights, 0), one, x


@instances
def networks_without_a_hidden_layer(source: Source):
    """The same at depth one."""
    return networks_on_a_plane(depth=(1, 1))(source)


@instances
def points_off_the_plane(source: Source):
    """The same at a point x that does not lie in the plane."""
    net, one, x = planes_with_a_dead_unit()(source)
    source.require(len(x) > 1, "the plane has a complement")
    return net, one[:, :1], x


@bound(
    "bottleneck.entering-the-orthant",
    paper("bottleneck", "Prop. 5/12, for every network"),
    instances=networks_on_a_plane(),
    tight=planes_with_a_dead_unit(),
    needs={"there is a hidden layer": networks_without_a_hidden_layer()},
    mutants={
        "a first layer 2 % dearer": {"weight": Fraction(51, 50)},
        "as if the slope were zero": {"slope_of": lambda net: 0},
    },
    reach=lambda net, T, x: {"negative units": (net.preactivations(x)[0] < 0).sum()},
    audit="left out: it is about a domain with given tangents or coordinates, which data are not",
)
def test_entering_the_orthant(net, T, x, *, weight=1, slope_of=lambda net: net.slope):
    r"""A network pays for the units of the first layer that are negative on its domain.

    Let $L \ge 2$, let $T$ have $k$ orthonormal columns, $x \in \operatorname{Im} T$ and
    $\operatorname{rank} Jf(x) T = k$. With $A = W_1 T$, its rows $A_i$ and the first mask $D = D_1(x)$,
    $$\|\theta\|^2 - kL - 2 \log |Jf(x) T|_+
      \ge \|W_1\|_F^2 + \|b_1\|^2 - k - \log \det A^T D^2 A
      \ge \|b_1\|^2 + (1 - a^2) \sum_{\tilde\alpha_{1,i}(x) < 0} \|A_i\|^2,$$
    and $\max(1, \frac{\|x\|^2}{1 - a^2})$ times the last is at least the squared distance of $W_1 x$
    from the positive orthant, whatever the rank.

    For the identity the left side is its excess cost. In the limit, a domain with
    $R^{(1)}(id; \Omega) = 0$ is completely positive. Proof: docs/proofs/identity-only-if.md.
    """
    at, a = net.at(x), slope_of(net)
    J, noise = at.jacobian @ T, at.jacobian_noise
    k, log_det = T.shape[1], linalg.log_pseudo_determinant(J, noise)
    W, b, z = net.weights[0], net.biases[0], at.preactivations[0]
    A = W @ T
    inside = at.inner_jacobians[1] @ T if net.depth > 1 else A
    norm = linalg.frobenius_squared(W) + b @ b
    first = norm - k - 2 * linalg.log_pseudo_determinant(inside, noise)
    rows = torch.where(z < 0, (A * A).sum(1), 0).sum()
    masked = b @ b + (1 - a * a) * rows
    below, stretch = torch.relu(-W @ x), torch.relu(x @ x / (1 - a * a) - 1) + 1
    rest, share = costs.excess(net, k) - 2 * log_det, linalg.scalar(weight, norm)
    size = net.cost() + k * net.depth + 2 * log_det.abs()
    options = {"scale": size, "where": linalg.rank(J, noise) == k}
    return (
        leq(first * share, rest, label="the rest", **options),
        leq(masked * share, first, label="the first layer", **options),
        leq(below @ below, stretch * masked, scale=stretch * norm, label="the orthant"),
    )


@instances
def networks_on_an_interval(source: Source):
    """A network of one input, and the points r and −r."""
    r, a = positive(source, 1), slope(source)
    L, outputs = source.integer(2, 4), source.integer(1, 2)
    net = active_network(source, r, rank=1, depth=L, outputs=outputs, slope=a, extra=(0, 2))
    points = torch.stack((r, -r))
    require_differentiable(source, net, points)
    return net, points


@instances
def shifts(source: Source):
    """x ↦ wx + b with w² + b² = 1, later layers stretched a little, on just less than [−b/w, b/w].

    The slope is 0, and b < w.
    """
    t, L = positive(source, 1, low=0.0625, high=0.375), source.integer(2, 4)
    w, b = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    later = positive(source, 1, 1, low=1.0, high=1.0 + 2.0**-24)
    weights, biases = (w[None], *[later] * (L - 1)), (b, *[0 * b] * (L - 1))
    r = b / w * linalg.scalar(1 - Fraction(1, 2**26), b)
    return Network(weights, biases, 0), torch.stack((r, -r))


@instances
def one_sided_points(source: Source):
    """The identity of depth two at the points r and 2r, on one side of 0."""
    r = positive(source, 1)
    return Network.linear([linalg.eye(1, r)] * 2, 0), torch.stack((r, 2 * r))


@instances
def identities_of_depth_one(source: Source):
    """The identity of depth one at the points r and −r."""
    r = positive(source, 1)
    return Network.linear((linalg.eye(1, r),), 0), torch.stack((r, -r))


@bound(
    "bottleneck.identity-of-an-interval",
    paper("bottleneck", "Prop. 5/12, for every network"),
    instances=networks_on_an_interval(),
    tight=shifts(),
    needs={
        "the points are opposite": one_sided_points(),
        "there is a hidden layer": identities_of_depth_one(),
    },
    mutants={"2 % more": {"weight": 1.02}},
    audit="left out: it is about two opposite points of one input",
)
def test_identity_of_an_interval(net, points, *, weight=1):
    r"""The identity of [−r, r] has a positive first correction.

    For a network of one input, slope $a$ and depth $L \ge 2$ whose Jacobian is not zero at $r$ and at
    $-r$, $r > 0$:
    $$\|\theta\|^2 - L - 2 \log \min(\|Jf(r)\|, \|Jf(-r)\|)
      \ge \log \min\Bigl(1 + r^2, \frac{2}{1 + a^2}\Bigr) > 0.$$
    So $R^{(1)}(id; [-r, r])$ is at least the right side: the interval is planar, and not completely
    positive. It is the price of the first layer; for $a = 0$ and $r \le 1$ the map $x \mapsto w(x + r)$
    with $w^2 (1 + r^2) = 1$ attains it, and the identity has to pay for the last layers too. Proof:
    docs/proofs/identity-only-if.md.
    """
    J = net.jacobian(points)
    both = (linalg.rank(J, net.jacobian_noise(points)) == 1).all()
    log_least = torch.where(both, linalg.frobenius_squared(J).amin(), 1).log()
    r, a = points[0, 0], net.slope
    price = torch.minimum(1 + r * r, 2 / (1 + a * a) + 0 * r).log()
    size = net.cost() + net.depth + log_least.abs()
    return leq(price * weight, costs.excess(net, 1) - log_least, scale=size, where=both)


@instances
def networks_on_domains(source: Source):
    """A network, a point, and an orthonormal basis of the tangent space of a domain there."""
    n = source.integer(1, 4)
    k, a, x = source.integer(1, n), slope(source), source.tensor(n)
    net = active_network(
        source, x, rank=k, depth=source.integer(1, 5), outputs=k + source.integer(0, 1), slope=a
    )
    return net, x, semi_orthogonal(source, n, source.integer(1, n))


@instances
def stretched_planes(source: Source):
    """The identity of a planar domain, each layer stretched by the same factor near one."""
    V, O, x = planar_domain(source)  # noqa: E741
    net = witnesses.planar_identity(O, source.integer(1, 5), slope(source))
    stretch = positive(source, 1, 1, low=1.0, high=1.0 + 2.0**-20)
    return net.with_parameters([stretch * W for W in net.weights], net.biases), x, V


@bound(
    "bottleneck.regularity-on-a-domain",
    paper("bottleneck", "Thm 3, as used for Prop. 5"),
    instances=networks_on_domains(),
    tight=stretched_planes(),
    mutants={
        "log|J|_+ counted 2.04 times": {"weight": Fraction(51, 25)},
        "a Schatten sum 2 % larger": {"share": Fraction(51, 50)},
    },
    audit="left out: with all directions it is bottleneck.regularity-bound",
)
def test_regularity_on_a_domain(net, x, tangent, *, weight=2, share=1):
    r"""The excess cost bounds the log-determinant of the Jacobian along a domain.

    For every space $T$ of directions at $x$ and $k = \operatorname{rank} Jf(x) P_T$,
    $$\|\theta\|^2 - kL \ge L \|Jf(x) P_T\|_{S^{2/L}}^{2/L} - kL \ge 2 \log |Jf(x) P_T|_+.$$

    This is bottleneck.regularity-bound on a domain with the tangent space $T$, where the function is
    not given in other directions.
    """
    J, noise, L = net.jacobian(x) @ tangent, net.jacobian_noise(x), net.depth
    k = linalg.rank(J, noise)
    middle = costs.linear_cost(J, L, noise) - k * L
    size = net.cost() + k * L
    log_det = linalg.log_pseudo_determinant(J, noise)
    least, right = middle * linalg.scalar(share, x), costs.excess(net, k)
    return (
        leq(least, right, scale=size, label="the excess cost"),
        leq(log_det * linalg.scalar(weight, x), middle, scale=size, label="the log-determinant"),
    )
