"""Cor. 1 of `rank`: ReLU as a sum of two leaky units."""

import torch

from rankcheck import Erratum, eq, identity, networks, paper
from rankcheck.instances import STEEPEST, Source, instances


@instances
def slopes_and_points(source: Source):
    """A slope a in (−1, 1) and a point."""
    return source.tensor(low=-STEEPEST, high=STEEPEST), source.tensor()


@identity(
    "rank.relu-from-leaky",
    paper("rank", "Cor. 1"),
    instances=slopes_and_points(),
    mutants={"the sign as printed": {"sign": -1}},
    errata=Erratum(
        printed=r"Notice that for any $a \in (-1, 1)$ $\frac{\sigma(x) - a\sigma(-x)}{1 - a^2} = "
        r"\max\{0, x\}$",
        right="The second unit has the factor +a. With −a the sum is $(1 + a^2)/(1 - a^2)$ at $x "
        r"= 1$, or $1/(1 - a^2)$ if $\sigma$ is ReLU; with −a it is the formula for the "
        "activation of slope −a.",
        survives="Corollary 1. With +a, doubling the hidden widths turns a ReLU network into one of "
        "slope a: rank.leaky-representation.",
        weight="misprint",
        place="proof of Cor. 1",
    ),
)
def test_relu_from_leaky(a, x, *, sign=1):
    r"""ReLU is a sum of two leaky units.

    $\max(0, x) = \frac{\sigma_a(x) + a\,\sigma_a(-x)}{1 - a^2}$ for $a \in (-1, 1)$.
    """
    total = networks.leaky(x, a) + sign * a * networks.leaky(-x, a)
    return eq(torch.relu(x), total / (1 - a * a), scale=2 * x.abs() / (1 - a * a))
