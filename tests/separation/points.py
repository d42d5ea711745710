"""Random points for the tests of this folder."""

import torch


def sphere(d: int, n: int, generator: torch.Generator) -> torch.Tensor:
    """n independent uniform points of S^{d-1}, shape (n, d)."""
    points = torch.randn(n, d, generator=generator, dtype=torch.float64)
    return points / torch.linalg.vector_norm(points, dim=-1, keepdim=True)
