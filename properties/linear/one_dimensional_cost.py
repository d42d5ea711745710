"""Effect of weight decay (Savarese et al. 2019), slides B of `linear`: the path norm in one
variable."""

from fractions import Fraction

import torch

from rankcheck import cited, costs, eq, identity, linalg, paper, tolerances
from rankcheck.instances import Source, away_from_zero, breakpoints, instances


@instances
def units_in_one_variable(source: Source):
    """Units with breakpoints τ_1 < ... < τ_K: W (K × 1), b, a, c, τ."""
    K = source.integer(1, 6)
    W, a, c = away_from_zero(source, K, 1), source.tensor(K), source.tensor()
    bends = breakpoints(source, K)
    return W, -W[..., 0] * bends, a, c, bends


@instances
def units_that_bend_together(source: Source):
    """The same, and each unit once more, reflected and with −a_k: the two bends cancel."""
    W, b, a, c, bends = units_in_one_variable().build(source)
    return torch.cat((W, -W), -2), torch.cat((b, -b), -1), torch.cat((a, -a), -1), c, bends


@identity(
    "linear.one-dimensional-cost",
    paper("linear", "slides B, Effect of weight decay (Savarese et al. 2019)"),
    instances=units_in_one_variable(),
    needs={"the breakpoints are distinct": units_that_bend_together()},
    mutants={
        "exponent 1.02": {"exponent": Fraction(51, 50)},
        "exponent 0.98": {"exponent": Fraction(49, 50)},
    },
)
def test_one_dimensional_cost(W, b, a, c, bends, *, exponent=1):
    r"""In one variable the path norm is the total variation of the derivative.

    $\sum_k |a_k| |w_k| = \int |f''|$ for $f(x) = \sum_k a_k [w_k x + b_k]_+ + c$ with distinct
    breakpoints.

    The right side is computed twice: from the slopes of the active units beside each breakpoint,
    and from values of $f$ alone, as the jumps of its difference quotients between breakpoints.
    """
    path = linalg.power(costs.path_norm_of_units(W, a), exponent)
    net = costs.two_layer_network(W, b, a, c)
    ends = torch.cat((bends[..., :1] - 1, bends, bends[..., -1:] + 1), -1)
    f = net(ends.unsqueeze(-1)).squeeze(-1)
    lengths = ends[..., 1:] - ends[..., :-1]
    slopes = (f[..., 1:] - f[..., :-1]) / lengths
    variation = (slopes[..., 1:] - slopes[..., :-1]).abs().sum(-1)
    scale = (
        tolerances.network_scale(net, ends.unsqueeze(-1)).sum((-2, -1)) / lengths.amin(-1)
    ).abs()
    return (
        eq(path, costs.total_variation_of_derivative(W, b, a), label="by the active units"),
        eq(path, variation, scale=scale, label="by values of f"),
    )


@cited(
    "linear.radon-total-variation",
    paper("linear", "slides B, Effect of weight decay (Ongie et al. 2019)"),
    reason="the total variation of a distribution on the hyperplanes of R^d, defined by duality; in "
    "one variable it is linear.one-dimensional-cost, and for units with distinct hyperplanes its value "
    "is the path norm, linear.path-norm-of-a-function",
)
def test_radon_total_variation():
    r"""In d variables the cost of two layers is the total variation of a Radon transform.

    Weight decay prefers functions $f: \mathbb R^d \to \mathbb R$ with a small $\|\mathcal
    R(-\Delta)^{(d+1)/2} f\|_{TV}$, $\mathcal R$ the Radon transform. For $f(x) = \sum_k a_k [w_k
    \cdot x + b_k]_+ + c$ with distinct hyperplanes it is $2(2\pi)^{d-1} \sum_k |a_k| \|w_k\|$: each
    unit contributes a point mass at its hyperplane. In one variable it is $\int |f''|$, up to a
    constant. A linear part of $f$ has no mass, but costs something.
    """
