"""Prop. 3/7 of `rank`: the parameter norm bounds the Jacobian; §1: that of diagonal networks."""

import math
from fractions import Fraction

import torch

from rankcheck import bound, eq, identity, leq, linalg, paper, tolerances, witnesses
from rankcheck.instances import (
    Source,
    balanced_linear_networks,
    instances,
    network_at_points,
    networks_at_points,
    positive,
    steep_networks,
)


@bound(
    "rank.jacobian-bounds-cost",
    paper("rank", "Prop. 3/7"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(),
    needs={"|a| ≤ 1": steep_networks()},
    mutants={"exponent 2.04/L": {"exponent": Fraction(51, 25)}},
    audit="at points: |a| ≤ 1; ranks",
)
def test_jacobian_bounds_cost(net, x, *, exponent=2):
    r"""The cost per layer bounds the Schatten power of the Jacobian.

    $\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$ for every network and every $x$ where no hidden
    unit is at its kink. Other points are those of rank.jacobian-bounds-cost-at-kinks.
    """
    J, L = net.jacobian(x), net.depth
    power = linalg.schatten_power(J, Fraction(exponent, L), net.jacobian_noise(x))
    return leq(power, net.cost() / L)


def with_zero_units(net, layer, count):
    """The network with zero units in one hidden layer."""
    return witnesses.pad(net, [n + count * (i == layer) for i, n in enumerate(net.widths[1:-1])])


def with_unread_unit(net, layer, x):
    """The network with one more unit in a hidden layer, at its kink at x, that nothing reads."""
    wide, alpha = with_zero_units(net, layer, 1), net.activations(x)[layer]
    square = alpha @ alpha
    row = alpha / torch.where(square == 0, 1 + square, square)  # α·row = 1 unless α = 0
    added = torch.arange(wide.widths[layer + 1], device=x.device) == net.widths[layer + 1]
    weights, biases = list(wide.weights), list(wide.biases)
    weights[layer] = torch.where(added[:, None], row, weights[layer])
    biases[layer] = torch.where(added, -row @ alpha, biases[layer])
    return wide.with_parameters(weights, biases)


@instances
def networks_at_kinks(source: Source):
    """A network with hidden units at their kinks at x; one with the same f and none; x; a step.

    The units at their kinks have zero weights, or zero outgoing weights, or they are the pairs z
    and −z through which the output passes where it is zero.
    """
    kind = source.choice(("pairs", "zero units", "units that are not read"))
    base, x = network_at_points(source, depth=(1 if kind == "pairs" else 2, 4))
    if kind == "pairs":
        *biases, last = base.biases
        base = base.with_parameters(base.weights, (*biases, last - base(x)))  # f(x) = 0
        net = witnesses.deepen(base, base.depth + source.integer(1, 2))
    elif kind == "zero units":
        net = with_zero_units(base, source.integer(0, base.depth - 2), source.integer(1, 2))
    else:
        net = with_unread_unit(base, source.integer(0, base.depth - 2), x)
    reach = 2.0 ** -source.choice((20, 10))
    return net, base, x, reach * source.tensor(base.widths[0], low=-1.0, high=1.0)


@instances
def padded_balanced_networks(source: Source):
    """Networks of least cost for a linear map, with zero units; no step."""
    base, x = balanced_linear_networks(depth=(2, 5))(source)
    return with_zero_units(base, 0, source.integer(1, 2)), base, x, 0 * x


@bound(
    "rank.jacobian-bounds-cost-at-kinks",
    paper("rank", "Prop. 3/7"),
    instances=networks_at_kinks(),
    tight=padded_balanced_networks(),
    mutants={
        "exponent 2.04/L": {"exponent": Fraction(51, 25)},
        "derivative 1 at each kink": {"jacobian": lambda net, base, x: net.jacobian(x)},
    },
    audit="left out: it takes a second network with the same function",
)
def test_jacobian_bounds_cost_at_kinks(
    net, base, x, step, *, exponent=2, jacobian=lambda net, base, x: base.jacobian(x)
):
    r"""The bound also holds where a unit is at its kink and the function is differentiable.

    $\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$ at every $x$ where $f$ is differentiable, also
    where a hidden pre-activation is exactly zero. There $f$ is affine on each region that contains
    $x$ in its closure, with the same Jacobian, so the product of masked weights of one such region
    gives the bound. (With derivative 1 at all kinks the product need not be the Jacobian.)

    The instances compute $f$ as another network does that has no unit at its kink at $x$; this one
    gives $Jf(x)$, and $f(x + v) = f(x) + Jf(x) v$ is checked in its region.
    """
    J, L, y = jacobian(net, base, x), net.depth, x + step
    inside = torch.tensor(True, device=x.device)
    for here, there in zip(base.pattern(x), base.pattern(y), strict=True):
        inside = inside & (here == there).all()
    size = tolerances.network_scale(net, x) + tolerances.network_scale(net, y)
    kink = net.boundary_distance(x)
    reach = torch.cat(net.preactivations(x)).abs().amax() + size.amax()
    power = linalg.schatten_power(J, Fraction(exponent, L), base.jacobian_noise(x))
    return (
        eq(net(y), net(x) + J @ step, where=inside, scale=size, label="f is differentiable"),
        eq(kink, 0 * kink, scale=reach, label="a unit at its kink"),
        leq(power, net.cost() / L, label="the bound"),
    )


@instances
def entrywise_factors(source: Source):
    """Vectors v_1..v_L of one length."""
    depth, n = source.integer(1, 6), source.integer(1, 5)
    return ([source.tensor(n, low=-4.0, high=4.0) for _ in range(depth)],)


@instances
def equal_factors(source: Source):
    """Factors of equal absolute value, entry by entry, with signs; some entries are zero."""
    depth, n = source.integer(1, 6), source.integer(1, 5)
    size = positive(source, n, high=2.0)
    return ([source.choice((1, -1)) * size for _ in range(depth)],)


def quasi_norm(factors, p):
    """‖v_1 ⊙ ··· ⊙ v_L‖_p^p."""
    return linalg.power(math.prod(factors).abs(), p).sum()


@bound(
    "rank.diagonal-network-cost",
    paper("rank", "§1"),
    instances=entrywise_factors(),
    tight=equal_factors(),
    mutants={"exponent 2.04/L": {"exponent": Fraction(51, 25)}},
)
def test_diagonal_network_cost(factors, *, exponent=2):
    r"""No entrywise factorisation into L factors is cheaper than L times the $\ell_p$ power.

    $L\,\|w\|_p^p \le \sum_\ell \|v_\ell\|^2$ with $p = 2/L$ for $w = v_1 \odot \cdots \odot v_L$: in
    each entry the arithmetic mean of the squares is at least their geometric mean.
    """
    L = len(factors)
    return leq(L * quasi_norm(factors, Fraction(exponent, L)), sum(v @ v for v in factors))


@identity(
    "rank.equal-factors-cost",
    paper("rank", "§1"),
    instances=equal_factors(),
    needs={"the factors have equal absolute values": entrywise_factors()},
    mutants={"exponent 2/(L+1)": {"layers": 1}},
)
def test_equal_factors_cost(factors, *, layers=0):
    r"""Factors of equal absolute value attain the least cost.

    $\sum_\ell \|v_\ell\|^2 = L\,\|w\|_p^p$, $p = 2/L$, where $|v_1| = \cdots = |v_L|$.
    """
    L = len(factors)
    return eq(sum(v @ v for v in factors), L * quasi_norm(factors, Fraction(2, L + layers)))
