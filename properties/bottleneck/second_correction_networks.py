"""Proposition 4/14 of `bottleneck` for networks: what it says of compositions and sums at finite depth."""

from fractions import Fraction

import torch

from rankcheck import Network, bound, costs, leq, linalg, paper
from rankcheck.instances import Source, instances, orthogonal, positive, semi_orthogonal, slope

from ._active import active_network

#: Singular values of a layer in the tight families: the third order in their logarithms is small.
NEAR_ONE = {"low": 1 + 2.0**-11, "high": 1 + 2.0**-10}


def powers(t, depth: int, into, out, a) -> Network:
    """W_L ⋯ W_1 = out T^L intoᵀ with T = diag t in each layer."""
    weights = [torch.diag_embed(t)] * depth
    weights[0] = weights[0] @ into.mT
    weights[-1] = out @ weights[-1]
    return Network.linear(weights, a)


@instances
def compositions(source: Source):
    """f and g of one slope through k dimensions, and a point x with g(x) > 0."""
    k, a = source.integer(1, 3), slope(source)
    inputs, outputs = k + source.integer(0, 1), k + source.integer(0, 1)
    x, y = source.tensor(inputs), positive(source, k)
    g = active_network(source, x, rank=k, depth=source.integer(1, 3), outputs=k, slope=a, value=y)
    return (
        active_network(source, y, rank=k, depth=source.integer(1, 3), outputs=outputs, slope=a),
        g,
        x,
    )


@instances
def powers_of_a_diagonal(source: Source):
    """f and g with the same positive diagonal matrix near 1 in each layer, at a positive point."""
    k = source.integer(1, 3)
    t = positive(source, k, **NEAR_ONE)
    identity = torch.diag_embed(torch.ones_like(t))
    into = semi_orthogonal(source, k + source.integer(0, 1), k)
    out = semi_orthogonal(source, k + source.integer(0, 1), k)
    a = slope(source)
    g = powers(t, source.integer(1, 4), into, identity, a)
    f = powers(t, source.integer(1, 4), identity, out, a)
    y = positive(source, k)
    return f, g, (into @ y.unsqueeze(-1)).squeeze(-1)


@instances
def projections_at_an_angle(source: Source):
    """(v) and (cu + su⊥): isometries of rank one through two dimensions, whose product is c < 1."""
    t = source.tensor(1, low=0.25, high=0.5)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    g = Network.linear((torch.stack((c, s), -2),))
    first = torch.stack((torch.ones_like(c), torch.zeros_like(c)), -1)
    return Network.linear((first,)), g, positive(source, 1)


@bound(
    "bottleneck.second-correction-of-compositions",
    paper("bottleneck", "Prop. 4.1"),
    instances=compositions(),
    tight=powers_of_a_diagonal(),
    needs={"the first corrections add up": projections_at_an_angle()},
    mutants={
        "2 % more": {"weight": Fraction(51, 50)},
        "the depth of f alone": {"depth": lambda f, g: f.depth},
    },
)
def test_second_correction_of_compositions(
    f, g, x, *, weight=1, depth=lambda f, g: f.depth + g.depth
):
    r"""What networks of f and of g cost beyond two terms bounds the second term of f∘g from above.

    Let $g(x) > 0$, $\operatorname{rank} J(f \circ g)(x) = k$ and $|J(f \circ g)(x)|_+ = |Jf(g(x))|_+\,
    |Jg(x)|_+$ with Jacobians of rank $k$, as where the first corrections add up and are those of the
    Jacobians. For networks of depths $L_f$, $L_g$, $L = L_f + L_g$, and the singular values $s_i$ of
    $J(f \circ g)(x)$,
    $$\frac2L \sum_{i \le k} (\log s_i)^2 \Bigl(1 + \frac2{3L} \log s_i\Bigr) \le e_f + e_g, \qquad
      e_f = \|\theta_f\|^2 - k L_f - 2 \log |Jf(g(x))|_+,$$
    and $e_g$ alike. Networks with $e_f = (R^{(2)}(f) + o(1))/L_f$ and $e_g = (R^{(2)}(g) + o(1))/L_g$
    at the best share $L_f : L_g = \sqrt{R^{(2)}(f)} : \sqrt{R^{(2)}(g)}$ therefore have
    $\frac12 \|\log_+ J^T J\|_F^2 \le (\sqrt{R^{(2)}(f)} + \sqrt{R^{(2)}(g)})^2$ for
    $J = J(f \circ g)(x)$: Prop. 4.1 for the value that the Jacobian gives. The limit is not checked.

    The networks are nonlinear, with $k$ units at the seam, where the pseudo-determinants multiply.
    Proof: the concatenation computes $f \circ g$ near $x$, and
    bottleneck.second-correction-of-the-jacobian.
    """
    y = g(x)
    first, second = f.jacobian(y), g.jacobian(x)
    net = f.after(g)
    J, noise, L = first @ second, net.jacobian_noise(x), depth(f, g)
    k = linalg.rank(J, noise)
    logs = linalg.log_pseudo_determinant(
        first, f.jacobian_noise(y)
    ) + linalg.log_pseudo_determinant(second, g.jacobian_noise(x))
    more = costs.excess(net, k) - 2 * logs
    full = k == min(first.shape[-2:] + second.shape[-2:])
    return leq(
        costs.second_order(J, L, noise) * linalg.scalar(weight, J),
        more,
        where=full,
        scale=net.cost() + k * net.depth + 2 * logs.abs(),
    )


def between(net: Network, into, out) -> Network:
    """out ∘ net ∘ intoᵀ for isometries: weights and biases of the first and the last layer change."""
    weights, biases = list(net.weights), list(net.biases)
    weights[0] = weights[0] @ into.mT
    weights[-1] = out @ weights[-1]
    biases[-1] = (out @ biases[-1].unsqueeze(-1)).squeeze(-1)
    return net.with_parameters(weights, biases)


@instances
def orthogonal_networks(source: Source):
    """f and g of one depth and slope that read and write orthogonal coordinates, and a point."""
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    into, out, a = orthogonal(source, k + m), orthogonal(source, k + m), slope(source)
    x, y = source.tensor(k), source.tensor(m)
    f = active_network(source, x, rank=k, depth=L, outputs=k, slope=a)
    g = active_network(source, y, rank=m, depth=L, outputs=m, slope=a)
    f = between(f, into[..., :k], out[..., :k])
    g = between(g, into[..., k:], out[..., k:])
    return f, g, (into @ torch.cat((x, y), -1).unsqueeze(-1)).squeeze(-1)


@instances
def orthogonal_powers(source: Source):
    """f and g linear with diagonal layers near 1, between orthogonal planes, at a positive point."""
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    into, out = orthogonal(source, k + m), orthogonal(source, k + m)
    s, t = positive(source, k, **NEAR_ONE), positive(source, m, **NEAR_ONE)
    a = slope(source)
    f = powers(s, L, into[..., :k], out[..., :k], a)
    g = powers(t, L, into[..., k:], out[..., k:], a)
    y = positive(source, k + m)
    return f, g, (into @ y.unsqueeze(-1)).squeeze(-1)


@instances
def lines_at_an_angle(source: Source):
    """f = e_1 e_1ᵀ and g = (ce_1 + se_2) e_2ᵀ in two layers: isometries of images at an angle."""
    t = source.tensor(1, 1, low=0.25, high=0.5)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    one, none = torch.ones_like(t), torch.zeros_like(t)
    f = Network.linear((torch.cat((one, none), -1), torch.cat((one, none), -2)))
    g = Network.linear((torch.cat((none, one), -1), torch.cat((c, s), -2)))
    return f, g, positive(source, 2)


@bound(
    "bottleneck.second-correction-of-sums",
    paper("bottleneck", "Prop. 4.2"),
    instances=orthogonal_networks(),
    tight=orthogonal_powers(),
    needs={"the first corrections add up": lines_at_an_angle()},
    mutants={"2 % more": {"weight": Fraction(51, 50)}},
)
def test_second_correction_of_sums(f, g, x, *, weight=1):
    r"""What networks of f and of g cost beyond two terms bounds the second term of f + g from above.

    Let $\operatorname{rank} J(f + g)(x) = k + m$ with the ranks $k$, $m$ of $Jf(x)$, $Jg(x)$, and
    $|J(f + g)(x)|_+ = |Jf(x)|_+ |Jg(x)|_+$. For networks of depth $L \ge 2$ and the singular values $s_i$
    of $J(f + g)(x)$,
    $$\frac2L \sum_i (\log s_i)^2 \Bigl(1 + \frac2{3L} \log s_i\Bigr)
      \le e_f + e_g + 2 \langle b_{L,f}, b_{L,g} \rangle, \qquad
      e_f = \|\theta_f\|^2 - k L - 2 \log |Jf(x)|_+,$$
    and $e_g$ alike. With $e_f = (R^{(2)}(f) + o(1))/L$, $e_g = (R^{(2)}(g) + o(1))/L$ and orthogonal last biases
    this is $\frac12 \|\log_+ J^T J\|_F^2 \le R^{(2)}(f) + R^{(2)}(g)$ for $J = J(f + g)(x)$: Prop. 4.2 for the
    value that the Jacobian gives. The limit is not checked.

    The networks are nonlinear. The hypothesis makes the images and the row spaces of the two
    Jacobians orthogonal (bottleneck.first-correction-linear-sum), so they read and write orthogonal
    coordinates. Proof: the parallel network of bottleneck.sum, and
    bottleneck.second-correction-of-the-jacobian.
    """
    first, second = f.jacobian(x), g.jacobian(x)
    net = f.add(g)
    J, noise = first + second, net.jacobian_noise(x)
    k, m = linalg.rank(first, f.jacobian_noise(x)), linalg.rank(second, g.jacobian_noise(x))
    logs = linalg.log_pseudo_determinant(
        first, f.jacobian_noise(x)
    ) + linalg.log_pseudo_determinant(second, g.jacobian_noise(x))
    more = costs.excess(net, k + m) - 2 * logs
    return leq(
        costs.second_order(J, net.depth, noise) * linalg.scalar(weight, J),
        more,
        where=linalg.rank(J, noise) == k + m,
        scale=net.cost() + (k + m) * net.depth + 2 * logs.abs(),
    )
