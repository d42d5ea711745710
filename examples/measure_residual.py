"""Train a small residual network with weight decay, and measure it.

The target is f*(x) = x + |⟨a, x⟩| b with eight inputs and outputs: the identity, bent along one
direction. Its Jacobian has rank 8 almost everywhere, and what is added to x has rank 1. Four
residual blocks x + W₂ σ(W₁ x + b₁) + b₂ are trained to it with the cost ‖θ‖² as a penalty, the
usual weight decay. The identity costs them nothing, so that what a block adds should have rank 1 or
be almost zero, and the network should cost far less than any chain of layers, which pays for all
eight.

    python examples/measure_residual.py [--steps N]

It takes some ten seconds of one core.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from rankcheck import measure

#: Inputs and outputs, hidden neurons of a block, blocks.
SIZE, WIDTH, BLOCKS = 8, 16, 4
POINTS, STEPS = 256, 3000
#: The factor of ‖θ‖² beside the mean squared error, and the first learning rate.
RIDGE, RATE = 1e-2, 5e-3


class Block(nn.Module):
    """x + W₂ σ(W₁ x + b₁) + b₂."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(SIZE, WIDTH), nn.Linear(WIDTH, SIZE)

    def forward(self, x: Tensor) -> Tensor:
        added: Tensor = self.down(torch.relu(self.up(x)))
        return x + added


def target(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Points (N, 8), normally distributed, and f*(x) (N, 8) there."""
    X = torch.randn(POINTS, SIZE, generator=generator)
    a, b = nn.functional.normalize(torch.randn(2, SIZE, generator=generator), dim=-1)
    return X, X + (X @ a).abs().unsqueeze(-1) * b


def train(net: nn.Module, X: Tensor, Y: Tensor, steps: int) -> None:
    """Minimise the mean of |f(x) − y|² plus `RIDGE` times ‖θ‖², with Adam on all points."""
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max(steps, 1), RATE / 100)
    for step in range(steps):
        optimiser.zero_grad()
        error = (net(X) - Y).square().sum(-1).mean()
        cost = torch.stack([p.square().sum() for p in net.parameters()]).sum()
        (error + RIDGE * cost).backward()
        optimiser.step()
        schedule.step()
        if step % 500 == 0 or step == steps - 1:
            print(f"step {step:5}: error {error.item():.5f}, cost {cost.item():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", metavar="N", type=int, default=STEPS, help=f"default {STEPS}")
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    X, Y = target(generator)
    torch.manual_seed(0)
    net = nn.Sequential(*[Block() for _ in range(BLOCKS)])
    train(net, X, Y, args.steps)
    found = measure(net, X)
    print(found)
    print(f"\nthe rank of Jf should be {SIZE}, that of what a block adds 1; the blocks add:")
    for one in found.modules:
        if one.kind == "Block" and one.added is not None:
            print(f"  {one.name}: {one.added.text}, for {one.cost:.2f}")


if __name__ == "__main__":
    main()
