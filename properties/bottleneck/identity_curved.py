"""Proposition 5/12 of `bottleneck`: the identity of a curved domain costs more than kL."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, costs, leq, linalg, paper
from rankcheck.instances import (
    Source,
    instances,
    networks_with_inputs,
    orthogonal,
    positive,
    require_differentiable,
    semi_orthogonal,
    slope,
    triangular,
)

from ._active import active_network


def rotation(t):
    """Cosine and sine of the angle whose half has the tangent t."""
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


@instances
def last_layers(source: Source):
    """W of rank r, and orthonormal bases of two k-planes in its image."""
    r = source.integer(1, 4)
    k = source.integer(1, r)
    Q = semi_orthogonal(source, r + source.integer(0, 1), r)
    W = Q @ triangular(source, r, low=0.25, high=2.0, above=2.0)
    return W, Q @ semi_orthogonal(source, r, k), Q @ semi_orthogonal(source, r, k)


@instances
def least_last_layers(source: Source):
    """Two planes with drawn principal angles, and the last layer that is best for them."""
    k = source.integer(1, 2)
    Q = semi_orthogonal(source, 2 * k + source.integer(0, 1), 2 * k)
    near, far = Q[:, :k], Q[:, k:]
    cosine, sine = rotation(source.tensor(k, low=2.0**-6, high=0.375))
    W = costs.best_last_layer(near, far, cosine, sine)
    return W, cosine * near + sine * far, cosine * near - sine * far


@instances
def planes_outside_the_image(source: Source):
    """W of rank one, a line in its image, and a line at an angle to that."""
    Q = semi_orthogonal(source, 3, 3)
    line, other = Q[:, :1], Q[:, 1:2]
    cosine, sine = rotation(source.tensor(1, low=0.25, high=1.0))
    return line @ line.mT, line, cosine * line + sine * other


@bound(
    "bottleneck.identity-curved",
    paper("bottleneck", "Prop. 5/12"),
    instances=last_layers(),
    tight=least_last_layers(),
    needs={"the image of W contains both planes": planes_outside_the_image()},
    mutants={"angles that weigh a twentieth more": {"weight": 1.05}},
    witness=costs.best_last_layer,
)
def test_identity_curved(W, S, T, *, weight=1):
    r"""Two different tangent planes make the last layer cost more than its rank.

    For two planes $S$, $T$ of dimension $k$ with principal angles $\theta_i$, and every $W$ whose
    image contains both,
    $$\|W\|_F^2 - k + \max(2 \log |W^+ P_S|_+, 2 \log |W^+ P_T|_+)
      \ge \sum_{i \le k} \log(1 + \sin \theta_i),$$
    with equality for the best $W$, which has $\|W\|_F^2 = k$.

    For two tangent planes $T_x \ne T_y$ of $\Omega$ the right side is positive, so that
    $R^{(1)}(id; \Omega) \ge \sum_i \log(1 + \sin \theta_i) > 0$: this limit is not checked, but
    bottleneck.two-tangent-planes is, the form for every network. Print gives no value. Proof:
    docs/proofs/identity-curved.md.
    """
    k = S.shape[-1]
    first, second = (2 * linalg.log_pseudo_determinant(costs.pull_back(W, U)) for U in (S, T))
    price = linalg.frobenius_squared(W)
    angles = costs.angle_cost(S @ S.mT, T @ T.mT)
    size = price + k + first.abs() + second.abs()
    return leq(angles * weight, price - k + torch.maximum(first, second), scale=size)


def fold(source: Source):
    """A line folded once, as cheaply as slope −63/64 allows, and points on both sides of the fold.

    Layers of equal stretch come first, then the two units of the fold at a small scale, where its
    bias is cheap, then the best last layer for the two images.
    """
    L = source.integer(2, 4)
    out = orthogonal(source, 2)
    cosine, sine = rotation(source.tensor(1, low=2.0**-6, high=0.375))
    length = cosine + sine
    W = costs.best_last_layer(out[:, :1], out[:, 1:], cosine, sine)
    stretch = linalg.power(length, Fraction(1, L - 1))[None]
    units = stretch * linalg.power(torch.vstack((cosine, sine)) / length, Fraction(1, 2))
    at = linalg.power(length, Fraction(L - 2, L - 1)) * 2.0**-10
    zero = torch.zeros_like(length)
    biases = [*[zero] * (L - 2), torch.hstack((zero, -units[1] * at)), torch.hstack((zero, zero))]
    net = Network([*[stretch] * (L - 2), units, W], biases, -63 / 64)
    points = torch.vstack((zero + 2.0**-11, zero + 3 * 2.0**-11))
    return net, points, torch.ones_like(points)[:, None]


def two_tangents(source: Source, n: int):
    """Orthonormal bases of two spaces of directions in R^n, of one dimension, at two points."""
    k = source.integer(1, n)
    return torch.stack([semi_orthogonal(source, n, k) for _ in range(2)])


@instances
def networks_at_two_points(source: Source):
    """A network, two points, and tangent spaces there: drawn, of full rank, or a fold."""
    form = source.choice(("drawn", "full rank", "fold"))
    if form == "fold":
        return fold(source)
    if form == "drawn":
        net, x = networks_with_inputs(depth=(1, 4), width=(1, 3), points=(2, 2))(source)
        return net, x, two_tangents(source, net.widths[0])
    n, depth = source.integer(1, 3), source.integer(2, 4)
    tangents = two_tangents(source, n)
    k, a = tangents.shape[-1], slope(source)
    x = source.tensor(n)
    net = active_network(
        source, x, rank=k, depth=depth, outputs=k + source.integer(0, 1), slope=a, extra=(0, 2)
    )
    points = torch.stack((x, x + source.tensor(n)))
    require_differentiable(source, net, points)
    return net, points, tangents


@instances
def planar_networks(source: Source):
    """Linear networks, almost isometries, at two points along a plane: nearly equality."""
    k, L = source.integer(1, 2), source.integer(1, 4)
    into, out = semi_orthogonal(source, k + 1, k), semi_orthogonal(source, k + 1, k)
    stretch = torch.diag(positive(source, k, low=1.0, high=1.0 + 2.0**-20))
    weights = [stretch] * L
    weights[0] = weights[0] @ into.mT
    weights[-1] = out @ weights[-1]
    x = positive(source, 2, k) @ into.mT
    return Network.linear(weights, slope(source)), x, torch.stack((into, into))


@bound(
    "bottleneck.two-tangent-planes",
    paper("bottleneck", "Prop. 12, for every network"),
    instances=networks_at_two_points(),
    tight=planar_networks(),
    mutants={"angles that weigh a twentieth more": {"weight": 1.05}},
    reach=lambda f, x, S: {"rank Jf(x)S": linalg.rank(f.jacobian(x) @ S, f.jacobian_noise(x))[0]},
    audit="left out: it is about a domain with given tangents or coordinates, which data are not",
)
def test_two_tangent_planes(net, x, tangents, *, weight=1):
    r"""Where the image of a function is bent, its networks cost more.

    Let the columns of $S$ and of $T$ be orthonormal directions at $x$ and at $y$, with
    $\operatorname{rank} Jf(x) S = \operatorname{rank} Jf(y) T = k$, and $\theta_i$ the principal angles
    between $\operatorname{Im} Jf(x) S$ and $\operatorname{Im} Jf(y) T$. Then
    $$\|\theta\|^2 - kL
      \ge \log |Jf(x) S|_+ + \log |Jf(y) T|_+ + \sum_{i \le k} \log(1 + \sin\theta_i).$$

    For a domain with tangent spaces $\operatorname{Im} S$, $\operatorname{Im} T$, where only the
    Jacobians along the domain are given, the identity has
    $R^{(1)}(id; \Omega) \ge \sum_i \log(1 + \sin\theta_i)$. No Lipschitz constant is needed, unlike in
    bottleneck.two-jacobians. Proof: docs/proofs/identity-curved.md.

    On the tight family both images span one plane, and the term with the angles is zero. Folds of
    slope near $-1$ come close to equality with that term.
    """
    J, noise = net.jacobian(x) @ tangents, net.jacobian_noise(x)
    k = linalg.rank(J, noise)
    log_det = linalg.log_pseudo_determinant(J, noise)
    P = linalg.range_projection(J)
    angles = costs.angle_cost(*P)
    more, size = costs.excess(net, k[0]), net.cost() + k[0] * net.depth + log_det.abs().sum()
    return leq(log_det.sum() + angles * weight, more, scale=size, where=k[0] == k[1])
