"""Train one block of a transformer, and measure it.

Six tokens of four numbers come in: a flag, which is 1 for one of them and −1 for the others, and
three normally distributed numbers. Of all tokens two numbers go out: the first two behind the flag
of the token that has it. Attention has to find that token and to copy. The output depends on two
numbers, so the Jacobian of this target, 12 × 24, has rank 2. The block is
`nn.TransformerEncoderLayer` of torch, with norms in front, between two linear layers, and is trained
with the cost ‖θ‖² as a penalty, the usual weight decay. What needs no layer of its own should cost
nothing: the residual block with the hidden neurons, as only attention moves numbers between tokens.

    python examples/measure_transformer.py [--steps N]

It takes some twenty seconds of one core.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from rankcheck import measure

#: Tokens, numbers of each that come in and that go out; the last is the rank of the target.
TOKENS, IN, RANK = 6, 4, 2
#: Numbers of a token inside, heads, hidden neurons.
SIZE, HEADS, WIDTH = 16, 2, 32
POINTS, BATCH, STEPS = 200, 128, 3000
#: The factor of ‖θ‖² beside the mean squared error, and the first learning rate.
RIDGE, RATE = 1e-3, 1e-2


def target(number: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Points (N, 6, 4), and f*(x) (N, 6, 2) there."""
    X = torch.randn(number, TOKENS, IN, generator=generator)
    places = torch.arange(number), torch.randint(TOKENS, (number,), generator=generator)
    X[:, :, 0] = -1
    X[*places, 0] = 1
    copied = X[*places, 1 : 1 + RANK]
    return X, copied.unsqueeze(1).expand(-1, TOKENS, -1)


def network() -> nn.Sequential:
    """A block between two linear layers, the same for every token."""
    block = nn.TransformerEncoderLayer(
        SIZE, HEADS, WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
    )
    return nn.Sequential(nn.Linear(IN, SIZE), block, nn.Linear(SIZE, RANK))


def train(net: nn.Module, generator: torch.Generator, steps: int) -> None:
    """Minimise the mean of |f(x) − y|² of a token plus `RIDGE` times ‖θ‖², with Adam."""
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max(steps, 1), RATE / 100)
    for step in range(steps):
        X, Y = target(BATCH, generator)
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
    torch.manual_seed(1)
    net = network()
    train(net, generator, args.steps)
    X, _ = target(POINTS, generator)
    print(measure(net, X))
    print(f"\nthe rank of Jf should be {RANK}; without the hidden neurons nothing should be lost")


if __name__ == "__main__":
    main()
