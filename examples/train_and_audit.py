"""Train a small network with weight decay, and audit it.

The target is f*(x) = B (|⟨a₁, x⟩|, ⟨a₂, x⟩) with ten inputs and five outputs: its Jacobian has rank
2 almost everywhere. A ReLU network of ten layers is trained to it with the cost ‖θ‖² as a penalty,
the usual weight decay. The theory says that such a network is nearly a bottleneck: in most layers
two singular values near 1 and no others, so that the cost per layer is little more than 2.

    python examples/train_and_audit.py [--steps N] [--folder DIR]

It takes a minute or two of one core, and leaves in the folder

    trained.pt     the state dict of the network
    data.npy       the points, a row for each
    audit.html     the page; open it in a browser
    audit.json     the same as plain JSON
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from rankcheck.audit import audit
from rankcheck.audit.result import Audit
from rankcheck.faces.report import audit_page
from rankcheck.files import write_json, write_text

#: Inputs, hidden neurons of a layer, outputs, layers.
IN, WIDTH, OUT, DEPTH = 10, 20, 5, 10
POINTS, STEPS = 256, 4000
#: The factor of ‖θ‖² beside the mean squared error, and the first learning rate.
RIDGE, RATE = 1e-2, 5e-3
#: The rank of the target.
RANK = 2


def target(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Points (N, 10), normally distributed, and f*(x) (N, 5) there."""
    X = torch.randn(POINTS, IN, generator=generator)
    A, _ = torch.linalg.qr(torch.randn(IN, RANK, generator=generator))
    B, _ = torch.linalg.qr(torch.randn(OUT, RANK, generator=generator))
    first, second = (X @ A).unbind(-1)
    return X, torch.stack((first.abs(), second), -1) @ B.T


def network(generator: torch.Generator) -> nn.Sequential:
    """A ReLU network with He's initial weights, and no biases at first."""
    widths = (IN, *[WIDTH] * (DEPTH - 1), OUT)
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(widths):
        layer = nn.Linear(fan_in, fan_out)
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


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
            print(
                f"step {step:5}: error {error.item():.5f}, cost per layer {cost.item() / DEPTH:.3f}"
            )


def say(found: Audit) -> None:
    """What to look at."""
    inner = found.layers[1:-1]
    near = [sum(abs(s - 1) <= 0.25 for s in layer.singular_values) for layer in inner]
    print(f"\nthe rank of the audit is {found.rank}, that of the target {RANK}")
    print(f"the cost per layer is {found.ceiling:.3f}; its limit for deep networks is the rank")
    print(f"{near.count(RANK)} of {len(inner)} inner layers have {RANK} singular values near 1:")
    for number, layer in enumerate(found.layers, 1):
        values = " ".join(f"{s:.3f}" for s in layer.singular_values[: RANK + 3])
        print(f"  layer {number:2}: {values} ...")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", metavar="N", type=int, default=STEPS, help=f"default {STEPS}")
    parser.add_argument("--folder", metavar="DIR", type=Path, default=Path("audit-example"))
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    X, Y = target(generator)
    net = network(generator)
    train(net, X, Y, args.steps)

    args.folder.mkdir(parents=True, exist_ok=True)
    model, data = args.folder / "trained.pt", args.folder / "data.npy"
    torch.save(net.state_dict(), model)
    np.save(data, X.numpy())

    found = audit(model, data, slope=0)
    write_json(args.folder / "audit.json", found.to_json())
    write_text(args.folder / "audit.html", audit_page(found))
    say(found)
    print(f"\nopen {args.folder / 'audit.html'}, or see the same as text:")
    print(f"  rankcheck audit {model} --slope 0 --data {data}")


if __name__ == "__main__":
    main()
