"""What the Jacobian of a network costs, in `bottleneck`: Theorem 3, and Proposition 4/14 at finite depth."""

from fractions import Fraction

import torch

from rankcheck import Erratum, Network, bound, costs, leq, linalg, paper
from rankcheck.instances import (
    Source,
    balanced_linear_networks,
    instances,
    networks_at_points,
    orthogonal,
    positive,
    semi_orthogonal,
    slope,
)

from ._active import active_network
from ._steep_chains import steep_chains


@bound(
    "bottleneck.regularity-bound",
    paper("bottleneck", "Thm 3"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(scale=(1.0 + 2**-23, 1.0 + 2**-21)),
    needs={"|a| <= 1": steep_chains()},
    mutants={"2.04 log": {"logs": 2.04}, "exponent 2.04/L": {"exponent": Fraction(51, 25)}},
    errata=Erratum(
        printed=r"For all inputs $x$ where $\operatorname{Rank} Jf(x) = R^{(0)}(x)$",
        right=r"$\operatorname{Rank} Jf(x) = R^{(0)}(f; \Omega)$, as in Theorem 11",
        survives="Theorem 3.",
    ),
    audit="at points: |a| ≤ 1; ranks",
)
def test_regularity_bound(net, x, *, logs=2, exponent=2):
    r"""The excess cost of a network bounds the log-determinant of its Jacobian.

    With $k = \operatorname{rank} Jf(x)$ and the singular values $s_i$ of $Jf(x)$, at every depth,
    $\|\theta\|^2 - kL \ge L \sum_{i \le k} (s_i^{2/L} - 1) \ge 2 \log |Jf(x)|_+$.
    """
    J, noise, L = net.jacobian(x), net.jacobian_noise(x), net.depth
    k = linalg.rank(J, noise)
    middle = L * linalg.schatten_power(J, Fraction(exponent) / L, noise) - k * L
    log_det, size = logs * linalg.log_pseudo_determinant(J, noise), net.cost() + k * L
    return (
        leq(middle, costs.excess(net, k), scale=size, label="the excess cost"),
        leq(log_det, middle, scale=size, label="the log-determinant"),
    )


@bound(
    "bottleneck.second-correction-of-the-jacobian",
    paper("rankcheck", "rankcheck.theory.costs.corrections"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(scale=(1 + 2.0**-11, 1 + 2.0**-10)),
    mutants={"2 % more": {"weight": 1.02}},
    audit="at points: |a| ≤ 1; ranks",
)
def test_second_correction_of_the_jacobian(net, x, *, weight=1):
    r"""The Jacobian bounds the second correction where it attains the first.

    With $k = \operatorname{rank} Jf(x)$ and the singular values $s_i > 0$ of $Jf(x)$,
    $$\|\theta\|^2 - kL - 2 \log |Jf(x)|_+
      \ge \frac2L \sum_{i \le k} (\log s_i)^2 \Bigl(1 + \frac{2}{3L} \log s_i\Bigr).$$
    The first term of the right side is $\frac{1}{2L} \|\log_+ Jf(x)^T Jf(x)\|_F^2$. So
    $R^{(2)}(f) \ge \frac12 \|\log_+ Jf(x)^T Jf(x)\|_F^2 \ge 0$ where $R^{(0)}(f) = k$ and
    $R^{(1)}(f) = 2 \log |Jf(x)|_+$: a limit, which is not checked.

    Proof: $\|\theta\|^2 \ge L \sum_i e^{t_i}$ with $t_i = \frac2L \log s_i$
    (bottleneck.regularity-bound), and $e^t \ge 1 + t + t^2/2 + t^3/6$ for every $t$.
    """
    J, noise, L = net.jacobian(x), net.jacobian_noise(x), net.depth
    k, log_det = linalg.rank(J, noise), 2 * linalg.log_pseudo_determinant(J, noise)
    least, size = weight * costs.second_order(J, L, noise), net.cost() + k * L + log_det.abs()
    return leq(least, costs.excess(net, k) - log_det, scale=size)


#: Singular values of a layer in the tight families: the third order in their logarithms is small.
NEAR_ONE = {"low": 1 + 2.0**-11, "high": 1 + 2.0**-10}


def powers(t, depth: int, into, out, a) -> Network:
    """W_L ⋯ W_1 = out T^L intoᵀ with T = diag t in each layer."""
    weights = [torch.diag(t)] * depth
    weights[0] = weights[0] @ into.mT
    weights[-1] = out @ weights[-1]
    return Network.linear(weights, a)


def log_determinant(net: Network, x):
    """log |Jf(x)|_+."""
    return linalg.log_pseudo_determinant(net.jacobian(x), net.jacobian_noise(x))


@instances
def compositions(source: Source):
    """f and g of one slope through k dimensions, and a point x with g(x) > 0."""
    k, a = source.integer(1, 3), slope(source)
    inputs, outputs = k + source.integer(0, 1), k + source.integer(0, 1)
    x, y = source.tensor(inputs), positive(source, k)
    g = active_network(source, x, rank=k, depth=source.integer(1, 3), outputs=k, slope=a, value=y)
    f = active_network(source, y, rank=k, depth=source.integer(1, 3), outputs=outputs, slope=a)
    return f, g, x


@instances
def powers_of_a_diagonal(source: Source):
    """f and g with the same positive diagonal matrix near 1 in each layer, at a positive point."""
    k = source.integer(1, 3)
    t = positive(source, k, **NEAR_ONE)
    into, out = (semi_orthogonal(source, k + source.integer(0, 1), k) for _ in range(2))
    a, one = slope(source), linalg.eye(k, like=t)
    g = powers(t, source.integer(1, 4), into, one, a)
    f = powers(t, source.integer(1, 4), one, out, a)
    return f, g, into @ positive(source, k)


@instances
def projections_at_an_angle(source: Source):
    """(v) and (cu + su⊥): isometries of rank one through two dimensions, whose product is c < 1."""
    t = source.tensor(1, low=0.25, high=0.5)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    g = Network.linear((torch.stack((c, s)),))
    return Network.linear((t.new_tensor([[1.0, 0.0]]),)), g, positive(source, 1)


@bound(
    "bottleneck.second-correction-of-compositions",
    paper("bottleneck", "Prop. 4.1"),
    instances=compositions(),
    tight=powers_of_a_diagonal(),
    needs={"the first corrections add up": projections_at_an_angle()},
    mutants={"2 % more": {"weight": 1.02}, "the depth of f alone": {"depth": lambda f, g: f.depth}},
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
    y, net = g(x), f.after(g)
    first, second = f.jacobian(y), g.jacobian(x)
    J, noise = first @ second, net.jacobian_noise(x)
    k, logs = linalg.rank(J, noise), log_determinant(f, y) + log_determinant(g, x)
    least = weight * costs.second_order(J, depth(f, g), noise)
    full = k == min(first.shape + second.shape)
    size = net.cost() + k * net.depth + 2 * logs.abs()
    return leq(least, costs.excess(net, k) - 2 * logs, where=full, scale=size)


def between(net: Network, into, out) -> Network:
    """out ∘ net ∘ intoᵀ for isometries: weights and biases of the first and the last layer change."""
    weights, biases = list(net.weights), list(net.biases)
    weights[0] = weights[0] @ into.mT
    weights[-1], biases[-1] = out @ weights[-1], out @ biases[-1]
    return net.with_parameters(weights, biases)


@instances
def orthogonal_networks(source: Source):
    """f and g of one depth and slope that read and write orthogonal coordinates, and a point."""
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    into, out, a = orthogonal(source, k + m), orthogonal(source, k + m), slope(source)
    x, y = source.tensor(k), source.tensor(m)
    f = active_network(source, x, rank=k, depth=L, outputs=k, slope=a)
    g = active_network(source, y, rank=m, depth=L, outputs=m, slope=a)
    f, g = between(f, into[:, :k], out[:, :k]), between(g, into[:, k:], out[:, k:])
    return f, g, into @ torch.hstack((x, y))


@instances
def orthogonal_powers(source: Source):
    """f and g linear with diagonal layers near 1, between orthogonal planes, at a positive point."""
    k, m, L = source.integer(1, 2), source.integer(1, 2), source.integer(2, 4)
    into, out = orthogonal(source, k + m), orthogonal(source, k + m)
    s, t = positive(source, k, **NEAR_ONE), positive(source, m, **NEAR_ONE)
    a = slope(source)
    f, g = powers(s, L, into[:, :k], out[:, :k], a), powers(t, L, into[:, k:], out[:, k:], a)
    return f, g, into @ positive(source, k + m)


@instances
def lines_at_an_angle(source: Source):
    """f = e_1 e_1ᵀ and g = (ce_1 + se_2) e_2ᵀ in two layers: isometries of images at an angle."""
    t = source.tensor(1, 1, low=0.25, high=0.5)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    one, other = linalg.eye(2, like=t)[:, None]
    f, g = Network.linear((one, one.mT)), Network.linear((other, torch.vstack((c, s))))
    return f, g, positive(source, 2)


@bound(
    "bottleneck.second-correction-of-sums",
    paper("bottleneck", "Prop. 4.2"),
    instances=orthogonal_networks(),
    tight=orthogonal_powers(),
    needs={"the first corrections add up": lines_at_an_angle()},
    mutants={"2 % more": {"weight": 1.02}},
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
    first, second, net = f.jacobian(x), g.jacobian(x), f.add(g)
    J, noise = first + second, net.jacobian_noise(x)
    k = linalg.rank(first, f.jacobian_noise(x)) + linalg.rank(second, g.jacobian_noise(x))
    logs = log_determinant(f, x) + log_determinant(g, x)
    least = weight * costs.second_order(J, net.depth, noise)
    size, adds_up = net.cost() + k * net.depth + 2 * logs.abs(), linalg.rank(J, noise) == k
    return leq(least, costs.excess(net, k) - 2 * logs, where=adds_up, scale=size)
