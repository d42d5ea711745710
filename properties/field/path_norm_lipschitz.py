"""Norm-based capacity control: the ℓ₁ path norm bounds how fast a network varies, in the sup norm."""

import math
from fractions import Fraction
from itertools import pairwise

import torch

from rankcheck import Network, bound, costs, leq, paper
from rankcheck.instances import (
    Source,
    draw_widths,
    instances,
    networks_with_inputs,
    positive,
    slope,
    slope_in_range,
)


@instances
def nonnegative_networks(source: Source):
    """Weights, biases and points ≥ 0, and a pair x, x + c(1, …, 1): every path is active."""
    widths = draw_widths(source, (1, 4), (1, 3))
    weights = [source.tensor(n, m, low=0.0, high=2.0) for m, n in pairwise(widths)]
    biases = [source.tensor(n, low=0.0, high=2.0) for n in widths[1:]]
    x, step = source.tensor(widths[0], low=0.0, high=4.0), positive(source, 1)
    return Network(weights, biases, slope(source)), torch.stack((x, x + step), -2)


@instances
def steep_pairs(source: Source):
    """Slopes from 3/2 to 4, and pairs of points."""
    net, x = networks_with_inputs(depth=(2, 3), width=(1, 2), points=(2, 2), slopes="relu")(source)
    steep = slope_in_range(source, low=1.5, high=4.0)
    return Network.unchecked_slope(net.weights, net.biases, steep), x


def largest(differences):
    """The sup norm, along the last axis."""
    return differences.abs().amax(-1)


def mean(differences):
    """The mean of the sizes, along the last axis."""
    return differences.abs().sum(-1) / differences.shape[-1]


@bound(
    "field.path-norm-lipschitz",
    paper("neyshabur2015", "the path regularizer, as recalled"),
    instances=networks_with_inputs(points=(2, 2), differentiable=False),
    tight=nonnegative_networks(),
    needs={"|a| ≤ 1": steep_pairs()},
    mutants={
        "the path norm of exponent 51/50": {"p": Fraction(51, 50)},
        "the largest path alone": {"p": math.inf},
        "the mean change of an input": {"size": mean},
    },
    audit="at pairs: two points, |a| ≤ 1; far apart",
)
def test_path_norm_lipschitz(net, x, *, p=1, size=largest):
    r"""The path norm is a Lipschitz constant from the sup norm to the ℓ₁ norm.

    $\|f(x) - f(y)\|_1 \le \mathrm{path}_1(\theta)\, \|x - y\|_\infty$ for all points $x$, $y$, kinks
    included, and every slope $a \in (-1, 1)$, where $\mathrm{path}_1(\theta)$ is the sum over all paths
    from an input to an output of the product of $|w|$ along the path. The biases may be any, and do not
    enter.

    As each $\sigma_a$ is 1-Lipschitz, $|f(x) - f(y)| \le |W_L| \cdots |W_1| |x - y|$ entry by entry. The
    sides are equal where all weights are $\ge 0$, every unit is active, and all coordinates move by the
    same amount.
    """
    values = net(x)
    change = values[..., 0, :] - values[..., 1, :]
    moved = x[..., 0, :] - x[..., 1, :]
    return leq(change.abs().sum(-1), costs.path_norm(net, p, biases=False) * size(moved))
