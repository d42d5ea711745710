"""Train a small convolutional network with weight decay, and measure it.

An image of 8 × 8 pixels is cut into 16 patches p of 2 × 2, and each becomes |⟨w, p⟩| v: one number
of a patch is used, and its sign is lost. The Jacobian of this target, 64 × 64, has rank 16 almost
everywhere. Four convolutions with ReLU are trained to it with the cost ‖θ‖² as a penalty, the usual
weight decay. As linear maps they should have 16 singular values, one for each patch, and no others:
of eight channels the signal needs one, and of kernels of 3 × 3 pixels the one in the middle.

    python examples/measure_convolution.py [--steps N]

It takes some fifteen seconds of one core.
"""

from __future__ import annotations

import argparse

import torch
from torch import Tensor, nn

from rankcheck import measure

#: Pixels of a side of an image, and of a patch; channels.
SIDE, PATCH, CHANNELS = 8, 2, 8
IMAGES, STEPS = 64, 3000
#: The factor of ‖θ‖² beside the squared error of a patch, and the first learning rate.
RIDGE, RATE = 2e-2, 5e-3
#: The rank of the target: one for each patch.
RANK = (SIDE // PATCH) ** 2


def target(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Images (N, 1, 8, 8) of normally distributed pixels, and f*(x) (N, 4, 4, 4) there."""
    X = torch.randn(IMAGES, 1, SIDE, SIDE, generator=generator)
    w, v = nn.functional.normalize(torch.randn(2, PATCH**2, generator=generator), dim=-1)
    seen = nn.functional.conv2d(X, w.reshape(1, 1, PATCH, PATCH), stride=PATCH).abs()
    return X, seen * v.reshape(1, -1, 1, 1)


def network() -> nn.Sequential:
    """Four convolutions, the first one of patches, with He's initial weights."""
    net = nn.Sequential(
        nn.Conv2d(1, CHANNELS, PATCH, stride=PATCH),
        nn.ReLU(),
        nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(CHANNELS, PATCH**2, 1),
    )
    for layer in net:
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            assert layer.bias is not None
            nn.init.zeros_(layer.bias)
    return net


def train(net: nn.Module, X: Tensor, Y: Tensor, steps: int) -> None:
    """Minimise the mean of |f(x) − y|² of a patch plus `RIDGE` times ‖θ‖², with Adam."""
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max(steps, 1), RATE / 100)
    for step in range(steps):
        optimiser.zero_grad()
        error = (net(X) - Y).square().sum(1).mean()
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
    X, Y = target(torch.Generator().manual_seed(1))
    torch.manual_seed(1)
    net = network()
    train(net, X, Y, args.steps)
    found = measure(net, X)
    print(found)
    print(f"\nthe rank of Jf should be {RANK}, and so should be those of the convolutions:")
    for one in found.modules:
        if one.jacobian is not None:
            s, k = (*one.jacobian.singular_values, 0.0), RANK
            print(f"  {one.name}: s_{k} is {s[k - 1]:.2f}, and s_{k + 1} {s[k]:.1g}")


if __name__ == "__main__":
    main()
