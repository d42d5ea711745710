"""What claims of `separation` share: functions of one variable, broken networks, neurons, sines."""

from fractions import Fraction

import torch

from rankcheck import linalg, networks, separation
from rankcheck.instances import Source, positive


def subdivision(source: Source, pieces: int, start=-1, length=2):
    """The ends of the pieces of [start, start + length], in order: pieces + 1 numbers."""
    parts = positive(source, pieces)
    ends = torch.cat((torch.zeros_like(parts[:1]), parts.cumsum(-1)))
    return start + length * ends / ends[-1]


def lipschitz_function(source: Source, breakpoints, lipschitz):
    """A piecewise-linear function with these breakpoints, its slopes L times numbers in [−1, 1]."""
    slopes = lipschitz * source.tensor(len(breakpoints) - 1, low=-1.0, high=1.0)
    return networks.PiecewiseLinear.from_slopes(breakpoints, slopes, source.tensor())


def heavier(net, factor: int):
    """The same function of depth two: the first layer times a factor, the second divided by it."""
    (first, second), (b, c) = net.weights, net.biases
    return net.with_parameters((factor * first, second / factor), (factor * b, c))


def directions(w):
    """w/‖w‖ for each row of w, and the first unit vector where it vanishes."""
    length = linalg.power((w * w).sum(-1, keepdim=True), Fraction(1, 2))
    first = linalg.eye(w.shape[-1], w)[0]
    return torch.where(length == 0, first, w / torch.where(length == 0, 1.0, length))


def neurons_and_constant(d, degree, w, other, b):
    """r neurons and the constant 1: β (r + 1, K, K), their norms, and v, v' (r + 1, d).

    The coefficients are those of degrees below K = degree + 1; the norms are of whole neurons.
    """
    beta, norms = separation.neuron_coefficients(d, w, other, b, degree, degree + 8)
    first = linalg.eye(degree + 1, beta)[0]
    beta = torch.cat((beta, torch.outer(first, first).unsqueeze(0)))
    norms = torch.cat((norms, torch.ones_like(norms[:1])))
    v, u = (torch.cat((a, a[:1])) for a in (directions(w), directions(other)))
    return beta, norms, v, u


def distance(d, q, deviation):
    """∫ (sin(π√q t) − p)² dμ_d for p = the best polynomial plus a deviation, in the Legendre basis."""
    best = separation.sine_coefficients(d, q, len(deviation) - 1, deviation)
    p = best + deviation
    return separation.sine_energy(d, q, deviation) - 2 * (best @ p) + p @ p
