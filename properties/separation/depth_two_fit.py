"""Main result of `separation`, in experiments: fits by networks of depth two with random
neurons."""

from fractions import Fraction

import torch

from rankcheck import leq, paper, statistical
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import eye, power
from rankcheck.separation import (
    best_fit,
    correlations,
    distance_squared,
    main_lower_bound,
    neuron_coefficients,
    separable_gram,
    tail_norm,
)
from rankcheck.separation.oscillation import sine_coefficients

#: A fit of the oscillating example sees degrees up to n plus this.
BEYOND = 6


def weights(source: Source, d: int, r: int):
    """w, w' (r, d) and b (r) of r hidden neurons, with entries in [−2, 2]."""
    shapes = ((r, d), (r, d), (r,))
    return tuple(source.tensor(*shape, low=-2.0, high=2.0) for shape in shapes)


@instances
def fits_of_drawn_functions(source: Source):
    """d, n, the coefficients of F up to degree n + 2, and neurons."""
    d, n = source.integer(2, 4), source.integer(0, 3)
    return d, n, source.tensor(n + 3), *weights(source, d, source.integer(1, 4))


@instances
def fits_of_the_example(source: Source):
    """d, n = d², the coefficients of sin(πd³t) up to degree n + 6, and neurons."""
    d = source.integer(2, 4)
    w, other, b = weights(source, d, source.integer(1, 4))
    alpha = sine_coefficients(d, d**6, d * d + BEYOND, b)
    return d, d * d, alpha + 0 * b[..., :1], w, other, b


def directions(w):
    """w/‖w‖, and the first unit vector where w vanishes."""
    length = power((w * w).sum(-1, keepdim=True), Fraction(1, 2))
    first = eye(w.shape[-1], w)[0]
    return torch.where(
        length == 0, first, w / torch.where(length == 0, torch.ones_like(length), length)
    )


def least_squares(d, degree, alpha, w, other, b):
    """The neurons times their best output weights, and the best constant: β, norms, directions.

    The coefficients β (*B, r + 1, K, K) are those of degrees below K = degree + 1; the norms are of
    whole neurons.
    """
    beta, norms = neuron_coefficients(d, w, other, b, degree, degree + 8)
    v, u = directions(w), directions(other)
    first = eye(degree + 1, beta)[0]
    constant = torch.zeros_like(beta[..., :1, :, :]) + first.unsqueeze(-1) * first
    beta = torch.cat((beta, constant), -3)
    norms = torch.cat((norms, torch.ones_like(norms[..., :1])), -1)
    v, u = (torch.cat((a, a[..., :1, :]), -2) for a in (v, u))
    weight = best_fit(separable_gram(d, beta, v, u), correlations(d, alpha, beta, v, u))
    return weight[..., None, None] * beta, weight.abs() * norms, v, u


def without_neurons(d, n, alpha, norms):
    """‖P_nF‖², the squared distance of F to degrees below n."""
    return tail_norm(alpha, n) ** 2


@statistical(
    "separation.depth-two-fit",
    paper("separation", "slide: Main result"),
    instances=fits_of_drawn_functions(),
    mutants={"without the norms of the neurons": {"lower": without_neurons}},
    no_ball="coefficients of neurons by quadrature, and least squares, in floats",
)
def test_depth_two_fit(d, n, alpha, w, other, b, *, lower=main_lower_bound):
    r"""Least-squares fits with random neurons stay above the lower bound.

    The least-squares fit $N = \sum_j u_j \sigma(\langle w_j, x \rangle + \langle w'_j, x' \rangle +
    b_j) + c$ of $F = \sum_i \alpha_i h_i$ with random hidden neurons, $d = 2, 3, 4$, has
    $\|F - N\|^2 \ge \|P_nF\| (\|P_nF\| - 2 (\sum_j \|u_j \sigma_j\| + |c|)/\sqrt{N_{d,n}})$.

    The error counts harmonics up to the degree of $F$ only, so it is at most the error on the
    sphere; the norms are those of whole neurons. The bound is attained if $F = h_n$ is fitted by
    zero. The hidden weights are random; training them is not tried.
    """
    fit, norms, v, u = least_squares(d, alpha.shape[-1] - 1, alpha, w, other, b)
    size = (alpha * alpha).sum(-1).sqrt() + norms.sum(-1)
    distance = distance_squared(d, alpha, fit, v, u)
    return leq(lower(d, n, alpha, norms), distance, scale=size * size, terms=2**12)


@statistical(
    "separation.depth-two-fit-of-the-example",
    paper("separation", "slide: Example - conclusion"),
    instances=fits_of_the_example(),
    loose={
        "the bound": "the tail is cut off at degree n + 6, and a few neurons fit almost nothing"
    },
    no_ball="coefficients of neurons by quadrature, and least squares, in floats",
    effort=0.4,
)
def test_depth_two_fit_of_the_example(d, n, alpha, w, other, b):
    r"""Random neurons hardly fit the oscillating example.

    The bound of separation.depth-two-fit for $F = \sin(\pi d^3 \langle x, x' \rangle)$, $n = d^2$,
    cut off at degree $n + 6$, with up to four neurons. The bound is positive for nearly all fits in
    $d = 3, 4$, and for a third of those with four neurons in $d = 2$.

    Of 15 000 such fits the best left 0.81, 0.987 and 0.9998 of $\|F\|^2$ in $d = 2, 3, 4$.
    """
    fit, norms, v, u = least_squares(d, alpha.shape[-1] - 1, alpha, w, other, b)
    size = (alpha * alpha).sum(-1).sqrt() + norms.sum(-1)
    distance = distance_squared(d, alpha, fit, v, u)
    lower = main_lower_bound(d, n, alpha, norms)
    return leq(lower, distance, scale=size * size, terms=2**12, label="the bound")
