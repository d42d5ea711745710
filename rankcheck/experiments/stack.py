"""`Stack`: networks of one shape that are trained side by side, along a batch axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from rankcheck.networks.evaluation import leaky
from rankcheck.networks.network import Network

__all__ = ["Stack", "generators"]


def generators(seeds: Sequence[int]) -> list[torch.Generator]:
    """A generator of random numbers for each seed, on the CPU.

    What a run draws from its generator depends neither on the runs beside it nor on the device.
    """
    return [torch.Generator().manual_seed(seed) for seed in seeds]


class Stack:
    """R networks f(x) = W_L σ(··· σ(W_1 x + b_1) ···) + b_L of one shape, as parameters of torch.

    Args:
        weights: L tensors (R, n_l, n_{l−1}).
        biases: of each layer, a tensor (R, n_l), or None for a layer without biases.
        linear: so many of the first hidden layers have no activation.

    The arithmetic is in the type of the weights: float32 in training, which `network` turns into
    float64. The runs do not influence one another.
    """

    def __init__(
        self, weights: Sequence[Tensor], biases: Sequence[Tensor | None], *, linear: int = 0
    ) -> None:
        self.weights, self.biases = list(weights), list(biases)
        self.linear = linear

    @classmethod
    def random(
        cls,
        widths: Sequence[int],
        draws: Sequence[torch.Generator],
        *,
        gain: float = math.sqrt(2),
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> Stack:
        """Independent normal weights of standard deviation gain/√n_{l−1}, and biases 0.

        Run r draws from `draws[r]` alone. The gain √2 is that of He.
        """

        def normal(rows: int, columns: int) -> Tensor:
            drawn = [torch.randn(rows, columns, generator=each) for each in draws]
            return torch.stack(drawn).to(device, dtype) * (gain / math.sqrt(columns))

        weights = [normal(rows, columns) for columns, rows in pairwise(widths)]
        return cls(weights, [torch.zeros_like(W[..., 0]) for W in weights])

    @property
    def depth(self) -> int:
        """L."""
        return len(self.weights)

    @property
    def runs(self) -> int:
        """R."""
        return len(self.weights[0])

    @property
    def parameters(self) -> list[Tensor]:
        """The weights, then the biases that there are."""
        return [*self.weights, *(b for b in self.biases if b is not None)]

    def trainable(self) -> list[Tensor]:
        """The parameters, as leaves with gradients from here on."""
        leaves = [p.detach().requires_grad_() for p in self.parameters]
        rest = iter(leaves)
        self.weights = [next(rest) for _ in self.weights]
        self.biases = [None if b is None else next(rest) for b in self.biases]
        return leaves

    def to(self, device: str) -> Stack:
        """The same networks on a device."""
        weights = [W.to(device) for W in self.weights]
        biases = [None if b is None else b.to(device) for b in self.biases]
        return Stack(weights, biases, linear=self.linear)

    def __call__(self, x: Tensor) -> Tensor:
        """f(x), shape (R, N, n_L), for points (R, N, n_0), or (N, n_0) for all runs."""
        x = x.expand(self.runs, *x.shape[-2:])
        for number, (W, b) in enumerate(self._maps()):
            x = leaky(x, 0.0) if number else x
            x = x @ W.mT if b is None else torch.baddbmm(b.unsqueeze(-2), x, W.mT)
        return x

    def _maps(self) -> list[tuple[Tensor, Tensor | None]]:
        """The affine maps between the activations.

        The linear layers are multiplied out, which moves n_0 columns through them in place of N
        points.
        """
        first, *rest = zip(self.weights, self.biases, strict=True)
        for V, c in rest[: self.linear]:
            W, b = first
            b = None if b is None else (V @ b.unsqueeze(-1)).squeeze(-1)
            first = V @ W, b if c is None else c if b is None else b + c
        return [first, *rest[self.linear :]]

    def costs(self) -> Tensor:
        """‖θ‖² of each run, (R)."""
        return torch.stack([p.flatten(1).square().sum(-1) for p in self.parameters]).sum(0)

    def network(self, run: int) -> Network:
        """One of the networks in float64 on the CPU; its linear layers are multiplied out."""

        def plain(p: Tensor) -> Tensor:
            return p[run : run + 1].detach().to("cpu", torch.float64)

        weights = [plain(W) for W in self.weights]
        biases = [None if b is None else plain(b) for b in self.biases]
        maps = Stack(weights, biases, linear=self.linear)._maps()
        return Network(
            tuple(W[0] for W, _ in maps),
            tuple(W[0, :, 0] * 0 if b is None else b[0] for W, b in maps),
        )
