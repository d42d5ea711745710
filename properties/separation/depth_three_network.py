import math
from fractions import Fraction

import torch

from rankcheck import construction, eq, leq, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.matrices import positive
from rankcheck.instances.source import Source, instances
from rankcheck.instances.spheres import unit_pair
from rankcheck.networks.piecewise_linear import PiecewiseLinear, zigzag
from rankcheck.scalars import scalar
from rankcheck.witnesses import inner_product
from rankcheck.witnesses.inner_product import (
    DepthThree,
    depth_three,
    depth_three_cells,
    largest_parameter,
)


@instances
def lipschitz_functions_at_pairs(source: Source):
    """d, ρ = L/ε (rational), a piecewise-linear L-Lipschitz f on [−1, 1], L, and unit vectors."""
    d, ratio = source.integer(2, 4), Fraction(source.integer(2, 16), 4)
    pieces, lipschitz = source.integer(1, 6), positive(source)
    lengths = positive(source, pieces)
    ends = torch.cat((0 * lengths[..., :1], lengths.cumsum(-1)), -1)
    slopes = lipschitz.unsqueeze(-1) * source.tensor(pieces, low=-1.0, high=1.0)
    f = PiecewiseLinear.from_slopes(2 * ends / ends[..., -1:] - 1, slopes, source.tensor())
    return d, ratio, f, lipschitz, *unit_pair(source, d, depth_three_cells(ratio, d, 1)[0])


def teeth(source: Source, ratio: int):
    """A zigzag with a tooth in each cell of N_f, and ⟨x, x'⟩ at the tip of one."""
    d, cells = source.integer(2, 4), source.integer(1, 4)
    lipschitz = positive(source)
    one = 0 * lipschitz + 1
    tip = scalar(Fraction(2 * source.integer(0, cells - 1) + 1, 2 * cells), one)
    rest = [0 * one] * (d - 2)
    x = torch.stack((one, 0 * one, *rest), -1)
    other = torch.stack((one * tip, one * torch.sqrt(1 - tip * tip), *rest), -1)
    return d, Fraction(cells), zigzag(one, lipschitz, cells), lipschitz / ratio, x, other


@instances
def tips_of_teeth(source: Source):
    """Where N_f errs by ε/2: the tips of a zigzag of slopes ±L."""
    return teeth(source, 1)


@instances
def steep_teeth(source: Source):
    """A zigzag of slope 2L where L is declared: its tips are twice as far from the chord."""
    return teeth(source, 2)


def unmerged_bias(f, d, inner_cells, outer_cells, radius):
    """N_f on N_i + 1: the last bias of N_i is lost where the two are joined."""
    pair = depth_three(f, d, inner_cells, outer_cells, radius)
    first, last = pair.inner.biases
    return DepthThree(pair.inner.with_parameters(pair.inner.weights, (first, last + 1)), pair.outer)


def coarse_outer_part(f, d, inner_cells, outer_cells, radius):
    """N_f with too few cells."""
    return depth_three(f, d, inner_cells, outer_cells // 2, radius)


@construction(
    "separation.depth-three-network",
    paper("separation", "slide: Inner product function approximation"),
    instances=lipschitz_functions_at_pairs(),
    tight=tips_of_teeth(),
    needs={"f is L-Lipschitz": steep_teeth()},
    mutants={
        "a bias lost at the seam": {"witness": unmerged_bias},
        "too few cells of N_f": {"witness": coarse_outer_part},
    },
    loose={
        "the error": "N_i errs much less than ε/(2L); N_f alone reaches ε/2",
        "the first width": "cells twice as long as those of the slides take half the units",
        "the second width": "the same",
        "the weights": "a jump of 2L between neighbouring chords is rare, and weights of N_i small",
    },
    witness=inner_product,
)
def test_depth_three_network(d, ratio, f, lipschitz, x, other, *, witness=depth_three):
    r"""A Lipschitz function of the inner product as a network of depth three.

    For $f: [-1, 1] \to \mathbb R$, $L$-Lipschitz, and $\varepsilon > 0$: $N_F = N_f \circ N_i$ has
    $|N_F(x, x') - f(\langle x, x' \rangle)| \le L\,|N_i - \langle x, x' \rangle| + \varepsilon/2 \le
    \varepsilon$ on $S^{d-1} \times S^{d-1}$, hidden widths at most $16d^2L/\varepsilon$ and
    $4L/\varepsilon$, and all weights and biases at most $\max(4, 2L, |f(0)|)$. It is one network of
    depth three. $N_i$ may leave $[-1, 1]$, where $N_f$ is $L$-Lipschitz still.

    $f$ is piecewise linear; the pairs are aligned, opposite, at knots of $N_i$, between them, at
    tips of a zigzag, and drawn.
    """
    inner_cells, outer_cells = depth_three_cells(ratio, d, 1)
    pair = witness(f, d, inner_cells, outer_cells, 0 * lipschitz + 1)
    joined = torch.cat((x, other), -1)
    near, exact = pair.inner(joined), (x * other).sum(-1, keepdim=True)
    value, target = pair.outer(near).squeeze(-1), f(exact).squeeze(-1)
    outer = pair.outer(exact).squeeze(-1)
    net = pair.network()
    epsilon = lipschitz / scalar(ratio, lipschitz)
    at_zero = f(0 * exact).squeeze(-1).abs()
    largest = torch.maximum(torch.maximum(2 * lipschitz, at_zero), 0 * at_zero + 4)
    scale = network_scale(net, joined).squeeze(-1) + f.values.abs().amax(-1)
    slip = (near - exact).abs().squeeze(-1)
    return (
        eq(net(joined).squeeze(-1), value, scale=scale, label="one network"),
        leq((value - outer).abs(), lipschitz * slip, scale=scale, label="through N_f"),
        leq((outer - target).abs(), epsilon / 2, scale=scale, label="the error of N_f"),
        leq((value - target).abs(), epsilon, scale=scale, label="the error"),
        leq(net.widths[1], math.floor(16 * d * d * ratio), label="the first width"),
        leq(net.widths[2], math.floor(4 * ratio), label="the second width"),
        leq(largest_parameter(net), largest, label="the weights"),
    )
