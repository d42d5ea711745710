"""The cost per layer of several functions between its two ends, against the depth."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import torch

from rankcheck.linalg import Array, rank, schatten_power
from rankcheck.networks import Network
from rankcheck.report.charts.picture import Picture
from rankcheck.report.svg import Axis, Chart
from rankcheck.witnesses import (
    balanced_cone_network,
    constant_network,
    identity_layers,
    plane_beside_constant,
    shear_network,
)

__all__ = ["layers"]

TITLE = "The cost per layer tends to the rank"
DEPTHS = (4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128)
Witness = Callable[[int], Network]


def layers() -> Picture:
    r"""‖θ‖²/L of a witness above ‖Jf(x)‖_{S^{2/L}}^{2/L}, for functions of rank 0, 1, 2, 3.

    The cost R(f; Ω, L)/L of the function lies between the two.
    """
    chart = Chart(
        TITLE,
        "For five functions of rank 0, 1, 1, 2 and 3, the cost per layer of a network and the "
        "lower bound from the Jacobian, at depths from 4 to 128. Both tend to the rank.",
        Axis(4, 128, "depth L", "log", ticks={n: str(n) for n in (4, 8, 16, 32, 64, 128)}),
        Axis(0, 4.5, "cost per layer"),
        right=170,
    )
    ends: set[int] = set()
    for series, (name, witness, x) in enumerate(_witnesses(), 1):
        nets = [witness(L) for L in DEPTHS]
        upper = [(L, float(net.cost()) / L) for L, net in zip(DEPTHS, nets, strict=True)]
        lower = [(L, _least(net, x)) for L, net in zip(DEPTHS, nets, strict=True)]
        chart.band(upper, lower, series)
        chart.line(upper, series)
        chart.end_label(upper[-1][1], name, series)
        ends.add(int(rank(nets[-1].jacobian(x))))
    for k in ends:
        chart.rule(y=k)
    caption = (
        r"Each line is the cost per layer $\|\theta\|^2/L$ of a network of depth $L$ that computes "
        r"$f$. The band below it ends at $\|Jf(x)\|_{S^{2/L}}^{2/L}$, and $R(f; \Omega, L)/L$ lies "
        "in the band. As the depth grows, both ends tend to the rank of $f$, a dashed line."
    )
    return Picture("layers", TITLE, caption, chart.svg)


def _least(net: Network, x: Array) -> float:
    """‖Jf(x)‖_{S^{2/L}}^{2/L}, a lower bound of R(f; Ω, L)/L."""
    return float(schatten_power(net.jacobian(x), Fraction(2, net.depth), net.jacobian_noise(x)))


def _witnesses() -> list[tuple[str, Witness, Array]]:
    """Names, networks of every even depth >= 4, and a point where each is differentiable."""
    one, two = (torch.tensor(value, dtype=torch.float64) for value in (1.0, 2.0))
    spectrum = torch.tensor([6.0, 1.5], dtype=torch.float64)
    zigzag = Network.of([[[1], [-1]], [[1, 1]]])  # x ↦ |x|
    alone = Network.of([[[1]]])
    like = torch.eye(2, dtype=torch.float64)

    def cone(L: int) -> Network:
        return balanced_cone_network(spectrum ** (1 / L), [like] * (L + 1))

    def sheared(L: int) -> Network:
        return shear_network(L, torch.tensor(float(L) ** -0.75, dtype=torch.float64).exp(), one)

    x = torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64)
    return [
        ("constant", lambda L: constant_network(two, L), x[:1]),
        ("line + offset", lambda L: plane_beside_constant(1, two, L), x[:1]),
        ("|x|", lambda L: identity_layers(alone, zigzag, L, 0 * x[:1]), x[:1]),
        ("linear map", cone, x[:2]),
        ("shear", sheared, x),
    ]
