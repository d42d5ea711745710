"""Inner products of `separation` as networks of depth two, and functions of them at depth three."""

import math
from dataclasses import replace
from fractions import Fraction

import torch

from rankcheck import Erratum, construction, eq, leq, linalg, networks, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, pair_on_grid, positive, unit_pair

from ._helpers import heavier, lipschitz_function, subdivision


def dimension_and_error(source: Source):
    """d ≥ 2 and δ ≤ 2, a rational number."""
    return source.integer(2, 6), Fraction(source.integer(1, 8), source.choice((4, 8, 40)))


@instances
def pairs_of_unit_vectors(source: Source):
    """d, δ, and unit vectors: free, aligned, opposite, or with sums at or between knots."""
    d, error = dimension_and_error(source)
    return d, error, *unit_pair(source, d, witnesses.inner_product_cells(d, error))


@instances
def sums_between_knots(source: Source):
    """Unit vectors with each x_i + x'_i in the middle of a cell, where the chord errs most."""
    d, error = dimension_and_error(source)
    return d, error, *pair_on_grid(source, d, witnesses.inner_product_cells(d, error), middles=True)


@instances
def long_vectors(source: Source):
    """Unit vectors times 5/4."""
    d, error = dimension_and_error(source)
    x, other = unit_pair(source, d, witnesses.inner_product_cells(d, error))
    return d, error, 5 * x / 4, 5 * other / 4


def half_the_cells(d, cells, like):
    """The network with half as many cells."""
    return witnesses.inner_product_network(d, cells // 2, like)


def without_the_constant(d, cells, like):
    """The network without the −1 of the polarisation."""
    net = witnesses.inner_product_network(d, cells, like)
    return net.with_parameters(net.weights, (net.biases[0], net.biases[1] + 1))


def three_times_the_cells(d, cells, like):
    """The network with cells that are shorter than they need be."""
    return witnesses.inner_product_network(d, 3 * cells, like)


def with_weights_of_four(d, cells, like):
    """The same function with weights of 4 in the first layer."""
    return heavier(witnesses.inner_product_network(d, cells, like), 4)


@construction(
    "separation.inner-product-network",
    paper("separation", "slide: Inner product approximation"),
    instances=pairs_of_unit_vectors(),
    tight=sums_between_knots(),
    needs={"x and x′ are unit vectors": long_vectors()},
    mutants={
        "half the cells": {"witness": half_the_cells},
        "without the −1": {"witness": without_the_constant},
        "three times the cells": {"witness": three_times_the_cells},
        "large weights": {"witness": with_weights_of_four},
        "a thirtieth of the error": {"share": 30},
    },
    loose={
        "the error": "a parabola is smooth: its chords err by at most about δ²/(8d)",
        "the width": "cells of twice the length on the slides need half the units",
        "the weights": "the biases come near −2 only for short cells",
    },
    witness=witnesses.inner_product_network,
)
def test_inner_product_network(
    d, delta, x, other, *, witness=witnesses.inner_product_network, share=1
):
    r"""The inner product of two unit vectors as a network of one hidden layer.

    $\langle x, x' \rangle = \sum_i \frac12 (x_i + x'_i)^2 - 1$ on $S^{d-1} \times S^{d-1}$. So the
    sum of $d$ approximators of the 2-Lipschitz $t^2/2$ on $[-2, 2]$ with error $\delta/d$, minus 1,
    errs by at most $\delta$. Its width is at most $8d^2/\delta$, that is $16d^2L/\varepsilon$ for
    $\delta = \varepsilon/(2L)$; its weights and biases have absolute values of at most 2.

    With $n$ cells on $[0, 2]$ the error is at most $d/(2n^2)$, which is attained.
    """
    cells = witnesses.inner_product_cells(d, delta)
    net = witness(d, cells, x)
    joined, inner = torch.cat((x, other)), x @ other
    error, scale = (net(joined)[0] - inner).abs(), tolerances.network_scale(net, joined)[0]
    polarised = (x + other) @ (x + other) / 2 - 1
    chords = linalg.scalar(Fraction(d, 2 * cells**2), x)
    return (
        eq(polarised, inner, scale=polarised + 2, label="the polarisation"),
        leq(error, chords, scale=scale, label="chords of a parabola"),
        leq(error, linalg.scalar(delta / share, x), scale=scale, label="the error"),
        leq(net.widths[1], math.floor(8 * d * d / delta), label="the width"),
        leq(witnesses.largest_parameter(net), 2, label="the weights"),
    )


@instances
def lipschitz_functions_at_pairs(source: Source):
    """d, ρ = L/ε (rational), a piecewise-linear L-Lipschitz f on [−1, 1], L, and unit vectors."""
    d, ratio = source.integer(2, 4), Fraction(source.integer(2, 16), 4)
    pieces, lipschitz = source.integer(1, 6), positive(source)
    f = lipschitz_function(source, subdivision(source, pieces), lipschitz)
    cells, _ = witnesses.depth_three_cells(ratio, d, 1)
    return d, ratio, f, lipschitz, *unit_pair(source, d, cells)


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
    x = torch.stack((one, *[zero] * (d - 1)))
    other = torch.stack((place, torch.sqrt(1 - place * place), *[zero] * (d - 2)))
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
    moved = pair.inner.with_parameters(pair.inner.weights, (first, last + 1))
    return replace(pair, inner=moved)


def coarse_outer_part(f, d, inner_cells, outer_cells, radius):
    """N_f with half of its cells."""
    return witnesses.depth_three(f, d, inner_cells, outer_cells // 2, radius)


def too_many_cells(f, d, inner_cells, outer_cells, radius):
    """Three times the cells of both parts."""
    return witnesses.depth_three(f, d, 3 * inner_cells, 3 * outer_cells, radius)


def with_large_weights(f, d, inner_cells, outer_cells, radius):
    """The same function with weights of 64 in the first layer."""
    pair = witnesses.depth_three(f, d, inner_cells, outer_cells, radius)
    return replace(pair, inner=heavier(pair.inner, 64))


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
    net, joined = pair.network(), torch.cat((x, other))
    near, exact = pair.inner(joined), (x @ other).unsqueeze(0)
    value, outer, target = pair.outer(near)[0], pair.outer(exact)[0], f(exact)[0]
    epsilon, slip = lipschitz / linalg.scalar(ratio, lipschitz), (near - exact)[0].abs()
    error = linalg.scalar(share, epsilon) * epsilon
    largest = torch.maximum(2 * lipschitz, f(0 * exact)[0].abs()).clamp(min=4.0)
    scale = tolerances.network_scale(net, joined)[0] + f.values.abs().amax()
    return (
        eq(net(joined)[0], value, scale=scale, label="one network"),
        leq((value - outer).abs(), lipschitz * slip, scale=scale, label="through N_f"),
        leq((outer - target).abs(), epsilon / 2, scale=scale, label="the error of N_f"),
        leq((value - target).abs(), error, scale=scale, label="the error"),
        leq(net.widths[1], math.floor(16 * d * d * ratio), label="the first width"),
        leq(net.widths[2], math.floor(4 * ratio), label="the second width"),
        leq(witnesses.largest_parameter(net), largest, label="the weights"),
    )
