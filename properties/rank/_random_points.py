"""Random points of the unit cube, and what a piecewise-linear function makes of them."""

import torch

from rankcheck.instances import seed_of


def uniform(count: int, k: int, *key: object) -> torch.Tensor:
    """`count` uniform points of [0, 1]^k, the same for the same key."""
    generator = torch.Generator().manual_seed(seed_of("uniform", k, *key))
    return torch.rand(count, k, dtype=torch.float64, generator=generator)


def discrete(count: int, k: int, *key: object) -> torch.Tensor:
    """Points q_j with probability 2^-j, where the q_j are dense in [0, 1]^k, k ≤ 3.

    The q_j are the multiples of independent irrationals, modulo 1 (Kronecker, Weyl).
    """
    step = torch.tensor([2.0, 3.0, 5.0], dtype=torch.float64)[:k].sqrt()
    chance = uniform(count, 1, "discrete", *key)
    j = 1 + torch.floor(-torch.log2(1 - chance))
    return (j * step) % 1


def folded(x: torch.Tensor, k: int, folds: int) -> torch.Tensor:
    """The first k coordinates of points of the unit cube, each folded t ↦ 1 − |2t − 1| some times.

    The map is onto [0, 1]^k, piecewise linear with 2^(k·folds) linear regions of Jacobian rank k, and
    takes the uniform law to the uniform law.
    """
    y = x[..., :k]
    for _ in range(folds):
        y = 1 - (2 * y - 1).abs()
    return y


def warped(y: torch.Tensor) -> torch.Tensor:
    """Each coordinate in [0, 1] mapped by t ↦ max(t/2, 2t − 1), onto [0, 1]."""
    return torch.maximum(y / 2, 2 * y - 1)
