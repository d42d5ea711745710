"""Trains the network of tests/audit/bottleneck.npz, in about half a minute:

    PYTHONPATH=. python tests/audit/train.py

A ReLU network of depth 8 and width 10 learns x ↦ |⟨a, x⟩| b at 64 points in eight dimensions, by
20 000 steps of Adam on the mean squared error plus 10⁻³ ‖θ‖², from He-normal weights.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

FILE = Path(__file__).with_name("bottleneck.npz")
WIDTHS = (8, *[10] * 7, 4)
RIDGE = 1e-3
STEPS = 20_000


def main() -> None:
    torch.set_num_threads(1)
    draw = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    X = normal(64, WIDTHS[0])
    Y = (X @ normal(WIDTHS[0], 1)).abs() @ normal(1, WIDTHS[-1])
    Y = Y / Y.std()
    weights = [(normal(n, m) * (2 / m) ** 0.5).requires_grad_() for m, n in pairwise(WIDTHS)]
    biases = [torch.zeros(n, dtype=torch.float64, requires_grad=True) for n in WIDTHS[1:]]
    parameters = [*weights, *biases]
    adam = torch.optim.Adam(parameters, lr=5e-3)
    for step in range(STEPS):
        if step == 0.7 * STEPS:
            adam.param_groups[0]["lr"] /= 10
        h = X
        for index, (w, b) in enumerate(zip(weights, biases, strict=True)):
            h = (torch.relu(h) if index else h) @ w.mT + b
        error = (h - Y).square().sum(-1).mean()
        loss = error + RIDGE * sum(p.square().sum() for p in parameters)
        adam.zero_grad()
        loss.backward()
        adam.step()
    arrays = {f"W_{i}": w.detach().numpy() for i, w in enumerate(weights, 1)}
    arrays |= {f"b_{i}": b.detach().numpy() for i, b in enumerate(biases, 1)}
    np.savez_compressed(FILE, X=X.numpy(), error=error.detach().numpy(), **arrays)


if __name__ == "__main__":
    main()
