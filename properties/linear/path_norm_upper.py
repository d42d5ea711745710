"""Theorem, slides B of `linear`: index rank and path norm bound the cost at every depth."""

from fractions import Fraction

import torch

from rankcheck import bound, eq, leq, paper
from rankcheck.costs import egop_root, path_norm, path_norm_lambda, phi_at, two_layer_network
from rankcheck.instances.matrices import positive
from rankcheck.instances.source import Source, instances
from rankcheck.instances.units import (
    between,
    breakpoints,
    law,
    on_the_line,
    signs,
    units_on_a_line,
)
from rankcheck.linalg import eye, power, rank

from ._laws import without_an_end


@instances
def units_and_depths(source: Source):
    """Units with distinct hyperplanes, a law with mass in each region on a line, a depth L ≥ 2."""
    return *units_on_a_line().build(source), source.integer(2, 8)


@instances
def orthogonal_units_on_a_line(source: Source):
    """The same with orthogonal w_k of one length, so that all singular values are equal.

    The ±w_k are multiples of the rows of a reflection v ↦ v − 2⟨u, v⟩u/|u|², whose first column has
    no zero.
    """
    K = source.integer(1, 3)
    u = positive(source, 1, low=0.5, high=1.0)
    if K > 1:
        u = torch.cat((u, positive(source, K - 1, low=1.25, high=2.0)), -1)
    outer = u.unsqueeze(-1) * u.unsqueeze(-2)
    W = eye(K, like=u) - 2 * outer / (u * u).sum(-1)[..., None, None]
    W = positive(source, 1, 1, low=0.5, high=2.0) * signs(source, K).unsqueeze(-1) * W
    bends = breakpoints(source, K)
    x, p = on_the_line(between(bends), K), law(source, K + 1, everywhere=True)
    return W, -W[..., 0] * bends, signs(source, K), x, p, source.integer(2, 8)


@instances
def a_region_without_mass(source: Source):
    """Orthogonal units; the region below all bends, or the one above, has no mass."""
    W, b, a, x, p, L = orthogonal_units_on_a_line().build(source)
    return W, b, a, x, without_an_end(source, p), L


@instances
def split_units(source: Source):
    """The same units, and each once more with −7/8 of its outer weight."""
    W, b, a, x, p, L = units_and_depths().build(source)
    return torch.cat((W, W), -2), torch.cat((b, b), -1), torch.cat((a, -0.875 * a), -1), x, p, L


@bound(
    "linear.path-norm-upper",
    paper("linear", "slides B, Theorem"),
    instances=units_and_depths(),
    tight=orthogonal_units_on_a_line(),
    needs={
        "every region has positive mass": a_region_without_mass(),
        "the units have distinct hyperplanes": split_units(),
    },
    mutants={
        "the path norm with exponent 2.04/L": {"exponent": Fraction(51, 25)},
        "the path norm with exponent 1.96/L": {"exponent": Fraction(49, 25)},
        "the rank with exponent 0.98 (L − 2)/L": {"factor": Fraction(49, 50)},
    },
    witness=path_norm_lambda,
)
def test_path_norm_upper(W, b, a, x, p, L, *, exponent=2, factor=1):
    r"""The index rank and the path norm of a function bound its cost at every depth.

    $R_L(h) \le \operatorname{rank}_I(h)^{(L-2)/L} R_2(h)^{2/L}$ for units with distinct
    hyperplanes and a law with mass in every region. $R_L(h)$ is at most the cost of the units at
    $\lambda_k^2 \propto |a_k| \|w_k\|$, which stands for it here.

    The right side comes from gradients of $h$: the rank of their law, and $R_2(h) = \sum_k \|\nabla
    h(x_k) - \nabla h(x_{k-1})\|$ along a line that crosses each hyperplane once. That sum is the
    path norm of these units. No other network for $h$ has a smaller path norm, since it needs units
    for the jump of $\nabla h$ at every hyperplane (not checked).
    """
    net = two_layer_network(W, b, a)
    gradients = net.jacobian(x).squeeze(-2)
    index_rank = rank(egop_root(gradients, p), net.jacobian_noise(x).amax(-1))
    jumps = gradients[..., 1:, :] - gradients[..., :-1, :]
    cost_of_two = power((jumps * jumps).sum(-1), Fraction(1, 2)).sum(-1)
    count = power(torch.zeros_like(cost_of_two) + index_rank, Fraction(L - 2, L) * factor)
    upper = count * power(cost_of_two, Fraction(exponent, L))
    scale = (a.abs().unsqueeze(-1) * W.abs()).sum((-2, -1))
    return (
        leq(phi_at(W, a, L, path_norm_lambda(W, a)), upper, label="the cost"),
        eq(cost_of_two, path_norm(W, a), scale=scale, label="the path norm"),
    )
