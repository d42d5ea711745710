"""Random matrices for the tests of this folder."""

import torch


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def uniform(seed: int, *shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def integers(seed: int, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to(torch.float64)


def random_units(seed: int, count: int, K: int, D: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random W and a, with row lengths over about three orders of magnitude."""
    return normal(seed, count, K, D), normal(seed + 1, count, K) * normal(seed + 2, count, K).exp()
