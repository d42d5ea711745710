"""Proposition 13 of `bottleneck` sharpened: fewer factors C, and a constant without any C."""

from fractions import Fraction
from typing import Any

import torch

from rankcheck import Network, bound, conjecture, leq, linalg, networks, paper
from rankcheck.instances import Source, instances, orthogonal, positive

from ._two_points import (
    functions_of_one_variable,
    mean_and_gap,
    networks_at_two_points,
    shared_units,
)


def layers_around(depth):
    """Between how many maps a layer's difference of masks stands at most: min(L − 2, 2), or 0."""
    return max(0, min(depth - 2, 2))


def over(gap, size):
    """gap / size, and 0 where both vanish."""
    return gap / torch.where(size == 0, 1.0, size)


@instances
def opposite_slopes(source: Source, *, copies=(1, 1)):
    """W_1 = w(Q, −Q)ᵀ, W_2 = w(I, I), then v, …, v, 2w² = v², at x and −x: Jf(±x) = ±(v^L/2) R Qᵀ.

    Q and R are orthogonal of order k, and each k units of the first layer are active at one point.
    """
    depth, k = source.integer(2, 5), source.integer(*copies)
    into, out = orthogonal(source, k), orthogonal(source, k)
    w, z = positive(source, 1, 1, low=0.25, high=2.0), positive(source, k)
    v, first = linalg.square_root(2, w) * w, w * into.mT
    weights = [w * linalg.eye(k, like=w), *[v * linalg.eye(k, like=w)] * (depth - 2)]
    weights[-1] = weights[-1] @ out
    weights[0] = torch.hstack((weights[0], weights[0]))
    x = into @ z
    return Network.linear((torch.vstack((first, -first)), *weights)), torch.stack((x, -x))


@instances
def drawn_or_opposite(source: Source):
    """A drawn network at two points; one time in four one whose Jacobians there are opposite."""
    families = (networks_at_two_points(slopes="nonnegative"), opposite_slopes(copies=(1, 3)))
    return source.choice(families, (3, 1))(source)


@bound(
    "bottleneck.two-jacobians-sharper",
    paper("bottleneck", "Prop. 13 (sharpened)"),
    instances=drawn_or_opposite(),
    tight=shared_units(),
    needs={"a >= 0": networks_at_two_points(depth=(2, 3), slopes="negative")},
    mutants={
        "C^(-2/5) at depth 3": {
            "factors": lambda L: Fraction(2, 5) if L == 3 else layers_around(L)
        },
        "C^(-1/2) at depth 4": {
            "factors": lambda L: Fraction(1, 2) if L == 4 else layers_around(L)
        },
    },
    audit="at pairs: two points, 0 ≤ a ≤ 1; ranks, heavy",
)
def test_two_jacobians_sharper(net, x, *, factors=layers_around):
    r"""Two different Jacobians cost more than each alone; at depth two no Lipschitz constant enters.

    For a network of slope $0 \le a < 1$ whose maps $\tilde\alpha_\ell$ and $\alpha_\ell \to f$
    are $C$-Lipschitz, with any $C > 0$, and any two points:
    $$\|\theta\|^2 \ge \frac L2 \bigl( \|Jf(x)\|_{S^{2/L}}^{2/L} + \|Jf(y)\|_{S^{2/L}}^{2/L} \bigr)
      + \frac{\|Jf(x) - Jf(y)\|_*}{M_L}, \qquad M_1 = M_2 = 1,\ M_3 = C,\
      M_L = \max(C, C^2) \text{ for } L \ge 4.$$
    For $C \ge 1$ the last term is $C^{-\min(L-2,\,2)} \|Jf(x) - Jf(y)\|_*$ from depth two on, where
    print has $C^{-2}$.

    Checked with a smaller number for $C$: the largest of the operator norms of the Jacobians of
    these maps at $x$ and $y$. The exponents of the mutants are false, $C^{-9/20}$ at depth 3 and
    $C^{-3/5}$ at depth 4 are not known to be.

    Proof: docs/proofs/two-jacobians.md.
    """
    mean, gap = mean_and_gap(net, x)
    square, exponent = networks.lipschitz_square_at(net, x), Fraction(factors(net.depth))
    size = linalg.power(square, exponent / 2)
    if exponent > 1:
        size = torch.maximum(linalg.power(square, Fraction(1, 2)), size)
    return leq(mean + over(gap, size), net.cost())


def claimed(net, x, constant, exponent):
    """The mean of the two costs, and `constant` ‖Jf(x) − Jf(y)‖_* over a power of the norms."""
    mean, gap = mean_and_gap(net, x)
    size = linalg.operator_norm(net.jacobian(x)).amax()
    share = over(gap, linalg.power(size, exponent(net.depth)))
    return mean + constant(net.depth, size) * share


def kappa(depth, like):
    """κ_L = (L/2)(4^{1/L} − 1): 1 at depth two, and log 2 in the limit."""
    return (linalg.power(linalg.scalar(4, like), Fraction(1, depth)) - 1) * depth / 2


def homogeneous(depth):
    """The power of the norms with which both sides scale alike: 1 − 2/L, and 0 at depth one."""
    return max(Fraction(0), 1 - Fraction(2, depth))


#: What makes both claims false that follow.
WEAKER: dict[str, dict[str, Any]] = {
    "1 for κ_L": {"constant": lambda L, like: linalg.scalar(1, like)},
    "0.98 (1 − 2/L)": {"exponent": lambda L: Fraction(49, 50) * homogeneous(L)},
}


@bound(
    "bottleneck.two-slopes",
    paper("bottleneck", "Prop. 13 (for one variable)"),
    instances=functions_of_one_variable(),
    tight=opposite_slopes(),
    needs={"a >= 0": functions_of_one_variable(depth=(2, 3), slopes="negative")},
    mutants=WEAKER,
    audit="at pairs: one input, one output, two points, 0 ≤ a ≤ 1; ranks",
)
def test_two_slopes(net, x, *, constant=kappa, exponent=homogeneous):
    r"""What two different slopes of a function of one variable cost, with the best constant.

    For a network $f: \mathbb R \to \mathbb R$ of slope $0 \le a < 1$ and depth $L$, and any two points,
    $$\|\theta\|^2 \ge L \max\bigl( |f'(x)|, |f'(y)|, |f'(x) - f'(y)| \bigr)^{2/L}
      \ge \frac L2 \bigl( |f'(x)|^{2/L} + |f'(y)|^{2/L} \bigr)
      + \kappa_L \frac{|f'(x) - f'(y)|}{\max(|f'(x)|, |f'(y)|)^{1 - 2/L}}, \qquad
      \kappa_L = \frac L2 \bigl( 4^{1/L} - 1 \bigr),$$
    with 0 for the last term where both slopes vanish. Both are equalities where $f$ has the slopes $\pm p$
    and its weights are balanced, so $\kappa_L$ is the best constant at every depth $L \ge 2$, and
    $x \mapsto |x|$ costs exactly $L\,4^{1/L}$.

    In more variables it is bottleneck.two-jacobians-one-constant, a conjecture.

    Proof: docs/proofs/two-jacobians.md.
    """
    p, q = net.jacobian(x).flatten()
    largest = torch.maximum(torch.maximum(p.abs(), q.abs()), (p - q).abs())
    least = linalg.power(largest, Fraction(2, net.depth)) * net.depth
    return (
        leq(least, net.cost(), label="the largest slope or the difference"),
        leq(claimed(net, x, constant, exponent), net.cost(), label="the two slopes"),
    )


@conjecture(
    "bottleneck.two-jacobians-one-constant",
    paper("bottleneck", "Prop. 13 (sharpened)"),
    instances=networks_at_two_points(depth=(2, 4), slopes="nonnegative"),
    tight=opposite_slopes(copies=(1, 3)),
    needs={"a >= 0": networks_at_two_points(depth=(2, 3), slopes="negative")},
    mutants=WEAKER,
)
def test_two_jacobians_one_constant(net, x, *, constant=kappa, exponent=homogeneous):
    r"""Two different Jacobians cost κ_L times their difference, without a Lipschitz constant.

    For a network of slope $0 \le a < 1$ and depth $L \ge 2$, and any two points,
    $$\|\theta\|^2 \ge \frac L2 \bigl( \|Jf(x)\|_{S^{2/L}}^{2/L} + \|Jf(y)\|_{S^{2/L}}^{2/L} \bigr)
      + \kappa_L \frac{\|Jf(x) - Jf(y)\|_*}{\max(\|Jf(x)\|_{op}, \|Jf(y)\|_{op})^{1 - 2/L}}, \qquad
      \kappa_L = \frac L2 \bigl( 4^{1/L} - 1 \bigr),$$
    with 0 for the last term where both Jacobians vanish.

    At depth two it is bottleneck.two-jacobians-sharper, and for one input and one output
    bottleneck.two-slopes; the rest is open. $\kappa_L$ cannot be larger: the sides agree where
    $Jf(y) = -Jf(x)$ is a multiple of an orthogonal matrix and the weights are balanced. By scaling, no
    other power of the norms is possible.

    What is proved, and what is not: docs/proofs/two-jacobians.md.
    """
    return leq(claimed(net, x, constant, exponent), net.cost())
