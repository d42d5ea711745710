r"""The expected gradient outer product of a two-layer function under a Gaussian law, in floats.

Source: Owen, *Tables for computing bivariate normal probabilities*, 1956; Kahan's formula for
angles.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankcheck.balls import NoBallForm, as_batch, is_ball
from rankcheck.theory.linalg import Array

PAIRS_AT_ONCE = 1 << 22
"""The largest number of entries of the (*B, rows, K, D) differences that are held at a time."""


def egop_gaussian(
    W: Array, b: Array, a: Array, mean: Tensor | None = None, factor: Tensor | None = None
) -> Tensor:
    r"""C_h for h(x) = aᵀ[Wx + b]_+ + c and x = mean + factor·ξ, ξ standard normal; (*B, D, D).

    .. math:: C_h = (D_aW)^\top \Pi\, (D_aW), \qquad \Pi_{kl} = P(z_k > 0,\ z_l > 0),
              \quad z = Wx + b,

    an orthant probability of two Gaussians for each pair of units. W (*B, K, D), a and b (*B, K);
    ``mean`` (D) and ``factor`` (D, D') broadcast, and are 0 and the identity by default. A unit
    that does not depend on ξ is active where z_k ≥ 0. No gradients. Raises NoBallForm on balls.

    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> egop_gaussian(one, 0 * one[0], one[0])  # [x]_+ is active half of the time
    tensor([[0.5000]], dtype=torch.float64)
    """
    if is_ball(W):
        raise NoBallForm("egop_gaussian")
    W, b, a = W.detach(), b.detach(), a.detach()
    center = b if mean is None else b + (W @ mean.detach().unsqueeze(-1)).squeeze(-1)
    rows = W if factor is None else W @ factor.detach()
    spread = torch.linalg.vector_norm(rows, dim=-1)
    fixed = spread == 0
    safe = torch.where(fixed, 1.0, spread)
    h = torch.where(fixed, 0.0, center / safe)
    both = bivariate_normal_cdf(h.unsqueeze(-1), h.unsqueeze(-2), angles(rows / safe.unsqueeze(-1)))
    alone = torch.where(fixed, (center >= 0).to(W.dtype), torch.special.ndtr(h))
    either = fixed.unsqueeze(-1) | fixed.unsqueeze(-2)
    joint = torch.where(either, alone.unsqueeze(-1) * alone.unsqueeze(-2), both)
    B = a.unsqueeze(-1) * W
    C = B.mT @ joint @ B
    return (C + C.mT) / 2


def angles(units: Tensor) -> Tensor:
    """The angles in [0, π] between unit vectors (*B, K, D), shape (*B, K, K), to a few ε each.

    By Kahan's 2 atan2(|u − v|, |u + v|): the arc cosine of uᵀv loses half of the digits at 0 and π.
    """
    *batch, K, D = units.shape
    step = max(1, PAIRS_AT_ONCE // max(1, math.prod(batch) * K * D))
    parts = []
    for first in range(0, K, step):
        u, v = units[..., first : first + step, None, :], units[..., None, :, :]
        apart = torch.linalg.vector_norm(u - v, dim=-1)
        parts.append(2 * torch.atan2(apart, torch.linalg.vector_norm(u + v, dim=-1)))
    return torch.cat(parts, -2)


def _owens_t(h: Tensor, a: Tensor) -> Tensor:
    from scipy.special import owens_t  # 0.1 s, for few claims

    return torch.as_tensor(owens_t(h.cpu().numpy(), a.cpu().numpy()), device=h.device)


def bivariate_normal_cdf(h: Tensor, k: Tensor, angle: Tensor) -> Tensor:
    """P(X ≤ h, Y ≤ k) for standard normals of correlation cos(angle), angle in [0, π].

    By Owen's T function (Owen 1956): ½Φ(h) + ½Φ(k) − T(h, a_h) − T(k, a_k) − δ, where
    a_h = (k − ρh)/(h √(1 − ρ²)), ρ = cos(angle), and δ = ½ if hk < 0, or hk = 0 and h + k < 0; else
    δ = 0. Taking the angle instead of ρ keeps the digits for correlations near ±1, which are
    allowed: as a function of (h, k, angle) the value is well conditioned, and its absolute error is
    about 1e-16. Arguments broadcast.
    """
    h, k, angle = torch.broadcast_tensors(h, k, angle)
    sine = angle.sin()
    # cos(angle) = ±(1 − near), where near is accurate to the last digits.
    positive = angle <= math.pi / 2
    near = 2 * torch.where(positive, angle / 2, (math.pi - angle) / 2).sin() ** 2

    def slope(x: Tensor, y: Tensor) -> Tensor:
        above = torch.where(positive, (y - x) + x * near, (y + x) - x * near)
        # At angle 0 or π the quotient is infinite, or 0 where x and y agree.
        ratio = above / torch.where(sine > 0, sine, 1.0)
        ratio = torch.where((sine > 0) | (above == 0), ratio, above.sign() * math.inf)
        return torch.where(x == 0, above.sign() * math.inf, ratio / torch.where(x == 0, 1.0, x))

    def owen(x: Tensor, y: Tensor) -> Tensor:
        return as_batch(_owens_t, x, slope(x, y))

    product, total = h * k, h + k
    delta = torch.where((product < 0) | ((product == 0) & (total < 0)), 0.5, 0.0)
    value = (torch.special.ndtr(h) + torch.special.ndtr(k)) / 2 - owen(h, k) - owen(k, h) - delta
    value = torch.where((h == 0) & (k == 0), 0.5 - angle / (2 * math.pi), value)
    return value.clamp(0.0, 1.0)
