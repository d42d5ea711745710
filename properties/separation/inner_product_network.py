"""“Inner product approximation” of `separation`: the inner product as a network of depth two."""

import math
from fractions import Fraction

import torch

from rankcheck import construction, eq, leq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, pair_on_grid, unit_pair


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


def with_large_weights(d, cells, like):
    """The same function with weights of 4 in the first layer."""
    net = witnesses.inner_product_network(d, cells, like)
    (first, second), (b, c) = net.weights, net.biases
    return net.with_parameters((4 * first, second / 4), (4 * b, c))


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
        "large weights": {"witness": with_large_weights},
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
    joined = torch.cat((x, other), -1)
    inner = (x * other).sum(-1)
    error = (net(joined).squeeze(-1) - inner).abs()
    scale = tolerances.network_scale(net, joined).squeeze(-1)
    polarised = ((x + other) ** 2).sum(-1) / 2 - 1
    return (
        eq(polarised, inner, scale=polarised + 2, label="the polarisation"),
        leq(
            error,
            linalg.scalar(Fraction(d, 2 * cells**2), x),
            scale=scale,
            label="chords of a parabola",
        ),
        leq(error, linalg.scalar(delta / share, x), scale=scale, label="the error"),
        leq(net.widths[1], math.floor(8 * d * d / delta), label="the width"),
        leq(witnesses.largest_parameter(net), 2, label="the weights"),
    )
