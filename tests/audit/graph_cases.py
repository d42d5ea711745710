"""Networks that are no chains, with all that plain torch says of their parts."""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import nn

from rankcheck.audit import audit

from .nets import normal

POINTS = 9


class Residual(nn.Module):
    """x plus a branch of x."""

    def __init__(self, *branch):
        super().__init__()
        self.branch = nn.Sequential(*branch)

    def forward(self, x):
        return x + self.branch(x)


@dataclass(frozen=True)
class Part:
    """A block as the reference knows it.

    Attributes:
        run: what it computes, with points along the first axis.
        parameters: of it.
        depth: the most layers with weights on a path.
        added: what is added to its input, if it is residual.
        claimed: whether a chain of ReLU layers can be compared with it.
        rows: whether a point is one row of what comes in.
    """

    run: object
    parameters: tuple
    depth: int
    added: object = None
    claimed: bool = True
    rows: bool = False


class Case:
    """A network, points, and what has to be found.

    Attributes:
        module, X: the network and its points.
        parts: its blocks, in order.
        matrices: of its linear maps in one copy, and their biases, by name.
        hidden: maps followed by σ: what goes into it, (N, places, units).
        scaled: by map, the squares of what goes into its units and out of them, and whether it can
            be rescaled.
        depth: of the network.
    """

    claimed = True

    @cached_property
    def audit(self):
        return audit(self.module, self.X, theorems=self.claimed)

    @property
    def saved(self):
        """What rescaling units saves of the cost."""
        return balanced_apart(*self.scaled.values())

    @cached_property
    def parameters(self):
        return list(self.module.parameters())

    @cached_property
    def jacobians(self):
        return [jacobian(self.module, x) for x in self.X]

    def inputs(self):
        """Each block with its points."""
        X = self.X
        for part in self.parts:
            rows = X.reshape(-1, X.shape[-1]).unsqueeze(1) if part.rows else X
            yield part, rows
            with torch.no_grad():
                X = part.run(X)


def jacobian(run, x):
    """The Jacobian of one point, row by row."""
    x = x.clone().requires_grad_()
    y = run(x.unsqueeze(0)).flatten()
    rows = [torch.autograd.grad(one, x, retain_graph=True)[0].flatten() for one in y]
    return torch.stack(rows)


def drawn(*layers):
    """A Sequential in float64 and eval mode with random parameters and averages."""
    module = nn.Sequential(*layers).double().eval()
    for index, p in enumerate(module.parameters()):
        p.data = 0.7 * normal(*p.shape, seed=index)
    for index, (name, b) in enumerate(module.named_buffers()):
        if b.is_floating_point():
            b.data = normal(*b.shape, seed=90 + index)
            b.data = b.data.abs() + 0.2 if name.endswith("var") else b.data
    return module


def matrix(layer, shape):
    """The matrix of a linear layer on tensors of a shape, column by column."""
    with torch.no_grad():
        zero = layer(torch.zeros(1, *shape).double()).flatten()
        units = torch.eye(math.prod(shape)).double().reshape(-1, 1, *shape)
        return torch.stack([layer(x).flatten() - zero for x in units], 1)


def through(source, reader):
    """For each unit between two layers, the squares of what goes in, with its bias, and out."""
    enter = source.weight.detach().square().reshape(len(source.weight), -1).sum(1)
    enter = enter if source.bias is None else enter + source.bias.detach().square()
    return enter, reader.weight.detach().square().transpose(0, 1).flatten(1).sum(1)


def balanced_apart(*scaled):
    """What is saved by rescaling units that do not go into one another."""
    return sum(
        float((enter + leave - 2 * (enter * leave).sqrt()).sum())
        for enter, leave, homogeneous in scaled
        if homogeneous
    )


def square(*parameters):
    return sum(float(p.detach().square().sum()) for p in parameters)


class ResidualCase(Case):
    """A residual MLP."""

    depth = 4

    def __init__(self):
        branch = nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 5)
        self.module = first, block, last = drawn(
            nn.Linear(3, 5), Residual(*branch), nn.Linear(5, 2)
        )
        up, _, down = block.branch
        self.X = normal(POINTS, 3, seed=33)
        self.parts = (
            Part(first, (first.weight, first.bias), 1),
            Part(block, tuple(block.parameters()), 2, block.branch),
            Part(last, (last.weight, last.bias), 1),
        )
        layers = {"0": first, "1.branch.0": up, "1.branch.2": down, "2": last}
        self.matrices = {n: (one.weight, one.bias, 1) for n, one in layers.items()}
        self.hidden = {"1.branch.0": lambda X: up(first(X)).unsqueeze(1)}
        self.scaled = {"1.branch.0": (*through(up, down), True)}


class ConvolutionCase(Case):
    """A convolution with a batch norm, a residual block of two convolutions, pooling."""

    depth = 4

    def __init__(self):
        stem = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU())
        branch = nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.ReLU(), nn.Conv2d(4, 3, 1)
        end = nn.Sequential(nn.AvgPool2d(2), nn.Flatten(), nn.Linear(12, 3))
        self.module = drawn(stem, Residual(*branch), end)
        stem, block, end = self.module
        one, _, two = block.branch
        self.X = normal(POINTS, 2, 4, 4, seed=34)
        self.parts = (
            Part(stem, tuple(stem.parameters()), 1, claimed=False),  # σ behind one layer
            Part(block, tuple(block.parameters()), 2, block.branch),
            Part(end, tuple(end.parameters()), 1),
        )
        norm = stem[1]
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        self.matrices = {
            "0.0": (matrix(stem[0], (2, 4, 4)), stem[0].bias, 1),
            "0.1": (torch.diag(scale), norm.bias, 16),
            "1.branch.0": (matrix(one, (3, 4, 4)), None, 1),
            "1.branch.2": (two.weight.flatten(1), two.bias, 16),
            "2.2": (end[2].weight, end[2].bias, 1),
        }
        self.kernels = {"0.0": stem[0], "0.1": norm, "1.branch.0": one}
        self.hidden = {
            "0.0": lambda X: stem[1](stem[0](X)).flatten(2).mT,
            "1.branch.0": lambda X: one(stem(X)).flatten(2).mT,
        }
        self.scaled = {"1.branch.0": (*through(one, two), True)}


class TransformerCase(Case):
    """A block of a transformer between a linear layer for each token and one for all."""

    depth, claimed = 6, False
    size = 6

    def __init__(self):
        block = nn.TransformerEncoderLayer(
            self.size, 2, 5, activation="gelu", batch_first=True, norm_first=True
        )
        end = nn.Sequential(nn.Flatten(), nn.Linear(3 * self.size, 4))
        self.module = drawn(nn.Linear(2, self.size), block, end)
        first, block, end = self.module
        attend = block.self_attn
        self.X = normal(POINTS, 3, 2, seed=35)

        def attended(x):
            y = block.norm1(x)
            return attend(y, y, y, need_weights=True)[0]

        def added(x):
            return block.linear2(nn.functional.gelu(block.linear1(block.norm2(x))))

        mlp = block.norm2, block.linear1, block.linear2
        self.parts = (
            Part(first, tuple(first.parameters()), 1, rows=True),
            Part(
                lambda x: x + attended(x),
                (*block.norm1.parameters(), *attend.parameters()),
                2,
                attended,
                claimed=False,
            ),
            Part(
                lambda x: x + added(x),
                tuple(p for layer in mlp for p in layer.parameters()),
                2,
                added,
                claimed=False,
                rows=True,
            ),
            Part(end, tuple(end.parameters()), 1),
        )
        ways = zip("qkv", attend.in_proj_weight.chunk(3), attend.in_proj_bias.chunk(3), strict=True)
        tokens = {
            "0": (first.weight, first.bias),
            "1.norm1": (torch.diag(block.norm1.weight), block.norm1.bias),
            **{f"1.self_attn.{way}": (weight, bias) for way, weight, bias in ways},
            "1.self_attn.out_proj": (attend.out_proj.weight, attend.out_proj.bias),
            "1.norm2": (torch.diag(block.norm2.weight), block.norm2.bias),
            "1.linear1": (block.linear1.weight, block.linear1.bias),
            "1.linear2": (block.linear2.weight, block.linear2.bias),
        }
        self.matrices = {name: (*pair, 3) for name, pair in tokens.items()}
        self.matrices["2.1"] = end[1].weight, end[1].bias, 1
        self.hidden = {}
        one, two, norm = block.linear1, block.linear2, block.norm2
        scale, shift = block.norm1.weight.detach(), block.norm1.bias.detach()
        numbers = scale.square() + shift.square(), attend.in_proj_weight.detach().square().sum(0)
        self.scaled = {
            "1.norm1": (*numbers, True),
            "1.self_attn.v": (*through(self.values, attend.out_proj), True),
            "1.norm2": (*through(norm, one), True),
            "1.linear1": (*through(one, two), False),  # GELU is not homogeneous
        }

    @property
    def values(self):
        """What makes the values of attention, as a linear layer."""
        attend = self.module[1].self_attn
        layer = nn.Linear(attend.embed_dim, attend.embed_dim)
        layer.weight.data = attend.in_proj_weight.data.chunk(3)[2]
        layer.bias.data = attend.in_proj_bias.data.chunk(3)[2]
        return layer

    @property
    def saved(self):
        """As of a case, but the norm's numbers go into the values, which are rescaled as well."""
        alone = balanced_apart(self.scaled["1.norm2"])
        enter, out = self.scaled["1.norm1"][0], self.scaled["1.self_attn.v"][1]
        queries, values = self.scaled["1.norm1"][1], self.values
        weight, bias = values.weight.detach().square(), values.bias.detach().square()
        queries = queries - weight.sum(0)  # and keys
        u, w = (
            torch.zeros(len(one), dtype=torch.float64, requires_grad=True) for one in (enter, out)
        )

        def cost():
            inside = (weight * (2 * (w.unsqueeze(1) - u)).exp()).sum()
            behind = (bias * (2 * w).exp() + out * (-2 * w).exp()).sum()
            return (enter * (2 * u).exp() + queries * (-2 * u).exp()).sum() + inside + behind

        before = float(cost().detach())
        search = torch.optim.LBFGS(
            (u, w),
            max_iter=1000,
            tolerance_grad=1e-12,
            tolerance_change=0,
            line_search_fn="strong_wolfe",
        )

        def step():
            search.zero_grad()
            value = cost()
            value.backward()
            return value

        search.step(step)
        return alone + before - float(cost().detach())
