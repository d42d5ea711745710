"""Train one block of a transformer, and audit it.

Six tokens of four numbers come in: a flag, which is 1 for one of them and −1 for the others, and
three normally distributed numbers. Of all tokens two numbers go out: the first two behind the flag
of the token that has it. Attention has to find that token and to copy. The output depends on two
numbers, so the Jacobian of this target, 12 × 24, has rank 2. The block is
`nn.TransformerEncoderLayer` of torch, with norms in front, between two linear layers, and is trained
with the cost ‖θ‖² as a penalty, the usual weight decay. What needs no layer of its own should cost
nothing: the residual block with the hidden neurons, as only attention moves numbers between tokens.

No theorem is about attention, GELU or layer norms, and the audit says so: all is measured.

    python examples/audit_transformer.py [--steps N] [--folder DIR]

It takes some twenty seconds of one core, and leaves in the folder

    audit.html     the page; open it in a browser
    audit.json     the same as plain JSON
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn

from rankcheck.audit import audit
from rankcheck.audit.result import Audit, Quantiles
from rankcheck.files import write_json, write_text
from rankcheck.report import audit_page

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


def say(found: Audit) -> None:
    """What to look at."""
    assert found.data is not None
    print(f"\nthe rank of Jf is {found.rank_text}, that of the target {RANK}")
    print(f"its singular values are {_values(found.data.singular_values)}")
    for block in found.blocks:
        what = "a token" if block.rowwise else f"{TOKENS} tokens"
        print(f"  {block.name} ({block.kind}, of {what}) costs {block.cost:.2f}", end="")
        if block.branch:
            print(f"; what it adds has the singular values {_values(block.branch)}", end="")
        print(f"\n    {block.unclaimed or 'a chain with its map'}", end="")
        print("" if block.least_cost is None else f" costs {block.least_cost:.2f} or more")


def _values(values: tuple[Quantiles, ...]) -> str:
    """The medians of the first ones, as a text."""
    return ", ".join(f"{q.median:.2g}" for q in values[: RANK + 2]) + ", ..."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", metavar="N", type=int, default=STEPS, help=f"default {STEPS}")
    parser.add_argument("--folder", metavar="DIR", type=Path, default=Path("audit-transformer"))
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(1)
    net = network()
    train(net, generator, args.steps)

    args.folder.mkdir(parents=True, exist_ok=True)
    X, _ = target(POINTS, generator)
    found = audit(net.eval(), X, theorems=False)
    write_json(args.folder / "audit.json", found.to_json())
    write_text(args.folder / "audit.html", audit_page(found))
    say(found)
    print(f"\nopen {args.folder / 'audit.html'}")


if __name__ == "__main__":
    main()
