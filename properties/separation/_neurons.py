"""Networks of depth two on the product of two spheres, in coefficients."""

from fractions import Fraction

import torch

from rankcheck import linalg, separation


def directions(w):
    """w/‖w‖, and the first unit vector where w vanishes."""
    length = linalg.power((w * w).sum(-1, keepdim=True), Fraction(1, 2))
    first = linalg.eye(w.shape[-1], w)[0]
    return torch.where(
        length == 0, first, w / torch.where(length == 0, torch.ones_like(length), length)
    )


def neurons_and_constant(d, degree, w, other, b):
    """r neurons and the constant 1: β (*B, r + 1, K, K), their norms, and v, v' (*B, r + 1, d).

    The coefficients are those of degrees below K = degree + 1; the norms are of whole neurons.
    """
    beta, norms = separation.neuron_coefficients(d, w, other, b, degree, degree + 8)
    v, u = directions(w), directions(other)
    first = linalg.eye(degree + 1, beta)[0]
    constant = torch.zeros_like(beta[..., :1, :, :]) + first.unsqueeze(-1) * first
    beta = torch.cat((beta, constant), -3)
    norms = torch.cat((norms, torch.ones_like(norms[..., :1])), -1)
    v, u = (torch.cat((a, a[..., :1, :]), -2) for a in (v, u))
    return beta, norms, v, u
