"""“Inner product function approximation” of `separation`: functions of ⟨x, x′⟩ at depth three."""

import math
from fractions import Fraction

import torch

from rankcheck import Erratum, construction, eq, leq, linalg, networks, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, positive, unit_pair

from ._functions import heavier, lipschitz_function, subdivision


@instances
def lipschitz_functions_at_pairs(source: Source):
    """d, ρ = L/ε (rational), a piecewise-linear L-Lipschitz f on [−1, 1], L, and unit vectors."""
    d, ratio = source.integer(2, 4), Fraction(source.integer(2, 16), 4)
    pieces, lipschitz = source.integer(1, 6), positive(source)
    f = lipschitz_function(source, subdivision(source, pieces), lipschitz)
    return (
        d,
        ratio,
        f,
        lipschitz,
        *unit_pair(source, d, witnesses.depth_three_cells(ratio, d, 1)[0]),
    )


def teeth(source: Source, ratio: int):
    """A zigzag with a tooth in each cell of N_f, L, and x, x' with ⟨x, x'⟩ at the tip of a tooth.

    In half of the draws N_f has twice the cells, so it has the slopes of the zigzag and turns with it,
    and ⟨x, x'⟩ is in the middle between two turns.
    """
    d, cells, finer = source.integer(2, 4), source.integer(1, 4), source.choice((1, 2))
    lipschitz = positive(source)
    one, zero = torch.ones_like(lipschitz), torch.zeros_like(lipschitz)
    parts = 2 * cells * finer
    place = linalg.scalar(Fraction(2 * source.integer(0, parts // 2 - 1) + 1, parts), one)
    rest = [zero] * (d - 2)
    x = torch.stack((one, zero, *rest), -1)
    other = torch.stack((one * place, one * torch.sqrt(1 - place * place), *rest), -1)
    f = networks.zigzag(one, lipschitz, cells)
    return d, Fraction(cells * finer), f, lipschitz / ratio, x, other


@instances
def tips_of_teeth(source: Source):
    """The tips of a zigzag of slopes ±L, where N_f errs by ε/2, and its flanks."""
    return teeth(source, 1)


@instances
def steep_teeth(source: Source):
    """A zigzag of slopes ±2L, declared as L-Lipschitz: its tips are twice as far from the chord."""
    return teeth(source, 2)


def unmerged_bias(f, d, inner_cells, outer_cells, radius):
    """N_f on N_i + 1: an error in the last bias of N_i, where the two are joined."""
    pair = witnesses.depth_three(f, d, inner_cells, outer_cells, radius)
    first, last = pair.inner.biases
    return witnesses.DepthThree(
        pair.inner.with_parameters(pair.inner.weights, (first, last + 1)), pair.outer
    )


def coarse_outer_part(f, d, inner_cells, outer_cells, radius):
    """N_f with half of its cells."""
    return witnesses.depth_three(f, d, inner_cells, outer_cells // 2, radius)


def too_many_cells(f, d, inner_cells, outer_cells, radius):
    """Three times the cells of both parts."""
    return witnesses.depth_three(f, d, 3 * inner_cells, 3 * outer_cells, radius)


def with_large_weights(f, d, inner_cells, outer_cells, radius):
    """The same function with weights of 64 in the first layer."""
    return heavier(witnesses.depth_three(f, d, inner_cells, outer_cells, radius), 64)


@construction(
    "separation.depth-three-network",
    paper("separation", "slide: Inner product function approximation"),
    instances=lipschitz_functions_at_pairs(),
    tight=tips_of_teeth(),
    needs={"f is L-Lipschitz": steep_teeth()},
    mutants={
        "a bias lost at the seam": {"witness": unmerged_bias},
        "too few cells of N_f": {"witness": coarse_outer_part},
        "three times the cells": {"witness": too_many_cells},
        "large weights": {"witness": with_large_weights},
        "0.49 of the error": {"share": Fraction(49, 100)},
    },
    loose={
        "the error": "N_i errs by much less than ε/(2L), and only N_f reaches its ε/2",
        "the first width": "cells of twice the length on the slides need half the units",
        "the second width": "cells of twice the length on the slides need half the units",
    },
    witness=witnesses.depth_three,
    errata=Erratum(
        printed=r"“$W_1$, $W'_1 \in [-B, B]^{r\times d}$, $W_2 \in [-B, B]^{r\times r}$, $b_1$, "
        r"$b_2 \in [-B, B]^r$, $b_3 \in [-B, B]$”, for the network $w_3^T \sigma(W_2 \sigma(W_1 x "
        "+ W'_1 x' + b_1) + b_2) + b_3$",
        right=r"$w_3 \in [-B, B]^r$ too, as $w_2$ on the slide before.",
        survives="All of it: the weights of the construction are bounded, the last ones included.",
        place="slide: Depth-3 σ-network",
    ),
)
def test_depth_three_network(
    d, ratio, f, lipschitz, x, other, *, witness=witnesses.depth_three, share=1
):
    r"""A Lipschitz function of the inner product as a network of depth three.

    For an $L$-Lipschitz $f: [-1, 1] \to \mathbb R$ and $\varepsilon > 0$, $N_F = N_f \circ N_i$ is
    a network of depth three with $|N_F(x, x') - f(\langle x, x' \rangle)| \le L\,|N_i - \langle x,
    x' \rangle| + \varepsilon/2 \le \varepsilon$ on $S^{d-1} \times S^{d-1}$, hidden widths at most
    $16d^2L/\varepsilon$ and $4L/\varepsilon$, and weights and biases of absolute value at most
    $\max(4, 2L, |f(0)|)$. $N_i$ may leave $[-1, 1]$; $N_f$ is $L$-Lipschitz there too.

    Checked for piecewise-linear $f$ and pairs $x, x'$ that are aligned, opposite, at knots of
    $N_i$, between knots, at tips of a zigzag, or drawn freely.
    """
    inner_cells, outer_cells = witnesses.depth_three_cells(ratio, d, 1)
    pair = witness(f, d, inner_cells, outer_cells, torch.ones_like(lipschitz))
    joined = torch.cat((x, other), -1)
    near, exact = pair.inner(joined), (x * other).sum(-1, keepdim=True)
    value, target = pair.outer(near).squeeze(-1), f(exact).squeeze(-1)
    outer = pair.outer(exact).squeeze(-1)
    net = pair.network()
    epsilon = lipschitz / linalg.scalar(ratio, lipschitz)
    at_zero = f(torch.zeros_like(exact)).squeeze(-1).abs()
    largest = torch.maximum(2 * lipschitz, at_zero).clamp(min=4.0)
    scale = tolerances.network_scale(net, joined).squeeze(-1) + f.values.abs().amax(-1)
    slip = (near - exact).abs().squeeze(-1)
    return (
        eq(net(joined).squeeze(-1), value, scale=scale, label="one network"),
        leq((value - outer).abs(), lipschitz * slip, scale=scale, label="through N_f"),
        leq((outer - target).abs(), epsilon / 2, scale=scale, label="the error of N_f"),
        leq(
            (value - target).abs(),
            linalg.scalar(share, epsilon) * epsilon,
            scale=scale,
            label="the error",
        ),
        leq(net.widths[1], math.floor(16 * d * d * ratio), label="the first width"),
        leq(net.widths[2], math.floor(4 * ratio), label="the second width"),
        leq(witnesses.largest_parameter(net), largest, label="the weights"),
    )
