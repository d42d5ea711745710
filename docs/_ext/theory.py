"""The figures of docs/theory.md: costs, ranks, regions and widths, drawn from the library.

Quantities come from `rankcheck`; a figure computes none of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import torch
from cycler import cycler
from drawing import COLOURS, GREY, STYLE, written
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rankcheck.costs import cost_expansion, sandwich, winning_threshold
from rankcheck.costs import excess as beyond
from rankcheck.costs.two_layer import unit_rank
from rankcheck.linalg import Array, log_pseudo_determinant, rank, schatten_power, singular_values
from rankcheck.networks import Network, balance_neurons
from rankcheck.regions import Regions
from rankcheck.regions import regions as linear_regions
from rankcheck.separation.widths import depth_three_width, depth_two_width, sharper_width
from rankcheck.witnesses import (
    balanced_cone_network,
    cone_network,
    constant_network,
    identity_layers,
    interpolated_shares,
    plane_beside_constant,
    shear_network,
)
from rankcheck.witnesses.projections import bottleneck, one_sided_distances

__all__ = ["FIGURES", "files"]

DEPTHS = (4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128)
#: The depths of Φ, the exponents γ of the stretch exp(L^−γ) of the shear, the depth of `singular`,
#: half the side of the square of `regions`, and the dimensions of `widths`.
PHI, GAMMAS, DEPTH, SIDE = (2, 3, 4, 5, 6, 8, 11, 16, 23, 32), (0.75, 0.9), 20, 4
DIMENSIONS = range(2, 61)
LOOK = STYLE | {"axes.prop_cycle": cycler(color=COLOURS)}


def layers(axes: Axes) -> None:
    r"""‖θ‖²/L of a witness above ‖Jf(x)‖_{S^{2/L}}^{2/L}, for functions of rank 0, 1, 1, 2, 3.

    The cost R(f; Ω, L)/L of the function lies between the two.
    """
    for name, witness, x in _witnesses():
        nets = [witness(L) for L in DEPTHS]
        upper = [float(net.cost()) / net.depth for net in nets]
        lower = [_least(net, x) for net in nets]
        [line] = axes.plot(DEPTHS, upper, label=name)
        axes.fill_between(DEPTHS, lower, upper, color=line.get_color(), alpha=0.25, linewidth=0)
        axes.axhline(int(rank(nets[-1].jacobian(x))), color=GREY, linewidth=0.5, dashes=(6, 4))
    _depths(axes, DEPTHS)
    axes.set(ylim=(0, 4.5), ylabel="cost per layer")
    axes.legend()


def _least(net: Network, x: Array) -> float:
    """‖Jf(x)‖_{S^{2/L}}^{2/L}, a lower bound of R(f; Ω, L)/L."""
    return float(schatten_power(net.jacobian(x), Fraction(2, net.depth), net.jacobian_noise(x)))


def _witnesses() -> list[tuple[str, Callable[[int], Network], Array]]:
    """Names, networks of every even depth >= 4, and a point where each is differentiable."""
    one, two = (torch.tensor(value, dtype=torch.float64) for value in (1.0, 2.0))
    spectrum = torch.tensor([6.0, 1.5], dtype=torch.float64)
    zigzag = Network.of([[[1], [-1]], [[1, 1]]])  # x ↦ |x|
    alone = Network.of([[[1]]])
    like = torch.eye(2, dtype=torch.float64)
    x = torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64)

    def cone(L: int) -> Network:
        return balanced_cone_network(spectrum ** (1 / L), [like] * (L + 1))

    return [
        ("constant", lambda L: constant_network(two, L), x[:1]),
        ("line + offset", lambda L: plane_beside_constant(1, two, L), x[:1]),
        ("|x|", lambda L: identity_layers(alone, zigzag, L, 0 * x[:1]), x[:1]),
        ("linear map", cone, x[:2]),
        ("shear", lambda L: shear_network(L, (one * float(L) ** -0.75).exp(), one), x),
    ]


def phi(axes: Axes) -> None:
    """Φ_L and its bounds for two functions; the one of lower rank is cheaper at large depth."""
    low, high = _functions()
    for W, a in (high, low):
        ends = sandwich(W, a, PHI)
        lower = torch.maximum(ends.lower, ends.path)
        assert ends.phi_upper is not None
        count = int(unit_rank(W, a))
        [line] = axes.plot(PHI, ends.phi_upper.tolist(), marker="o", ms=3, label=f"rank {count}")
        colour = line.get_color()
        axes.fill_between(PHI, lower.tolist(), ends.upper.tolist(), color=colour, alpha=0.25, lw=0)
        axes.axhline(count, color=colour, linewidth=0.5, dashes=(6, 4))
    T = float(winning_threshold(*low, *high))
    axes.axvline(T, color=GREY, linewidth=0.5)
    axes.annotate("rank 1 is cheaper", (T * 1.03, 12.5))
    _depths(axes, (2, 4, 8, 16, 32))
    axes.set(ylim=(0, 14), ylabel=r"$\Phi_L$")
    axes.legend()


def _functions() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """W and a of a function of rank one, and of one of rank three."""
    line = torch.tensor([[3.0, 0, 0], [2, 0, 0], [0, 0, 0]], dtype=torch.float64)
    space = torch.tensor(
        [[1.0, 0.5, 0], [1, -0.5, 0], [1, 0, 0.5], [1, 0, -0.5]], dtype=torch.float64
    )
    return (line, torch.tensor([2.0, 3, 1], dtype=torch.float64)), (
        space,
        torch.tensor([1.0, 1, 1, 1], dtype=torch.float64),
    )


def excess(axes: Axes) -> None:
    """‖θ‖² − kL of networks of rank k, against the depth, with the limits 2 log|A|_+ and 0."""
    A = torch.diag(torch.tensor([4.0, 1.5], dtype=torch.float64))
    identity, roots = torch.eye(2, dtype=torch.float64), A.diagonal()
    one = roots.new_ones(())
    ways: dict[str, Callable[[int], Network]] = {
        "interpolated": lambda L: cone_network(
            A, identity, identity, identity, interpolated_shares(L)
        ),
        "balanced": lambda L: balanced_cone_network(roots ** (1 / L), [identity] * (L + 1)),
    }
    for gamma in GAMMAS:
        ways[f"shear, γ = {gamma:g}"] = lambda L, gamma=gamma: shear_network(
            L, (one * float(L) ** -gamma).exp(), one
        )
    for name, network in ways.items():
        k = 3 if "shear" in name else 2
        axes.plot(DEPTHS, [float(beyond(network(L), k)) for L in DEPTHS], label=name)
    expansion = [float(cost_expansion(A, L)) - 2 * L for L in DEPTHS]
    axes.plot(DEPTHS, expansion, "--", color=GREY, label="expansion")
    limit = 2 * float(log_pseudo_determinant(A))
    axes.axhline(limit, color=GREY, linewidth=0.5, dashes=(6, 4))
    _depths(axes, DEPTHS)
    axes.set(ylim=(0, 7), ylabel=r"$\Vert\theta\Vert^2 - kL$")
    axes.legend()


def singular(axes: Axes) -> None:
    """The singular values of every layer of a balanced network of rank 2 and of depth 20.

    With them, the distance of each layer from the nearest partial isometry of rank 2.
    """
    net, x = _through_the_plane()
    at = bottleneck(net, x)
    k, numbers = int(at.rank), range(1, DEPTH + 1)
    values = [singular_values(W).tolist() for W in net.weights]
    for i in range(max(map(len, values))):
        points = [(n, s[i]) for n, s in enumerate(values, 1) if i < len(s)]
        label = {0: f"the first {k} singular values", k: "the others"}.get(i)
        colour = "#0072b2" if i < k else "#009e73"
        axes.plot(*zip(*points, strict=True), "o", ms=3, color=colour, label=label)
    distances = one_sided_distances(net, x, at.rank).clamp(min=0).sqrt().tolist()
    axes.plot(numbers, distances, color="#d55e00", label="distance from an isometry")
    mean = math.sqrt(float(at.slack) / DEPTH)
    axes.axhline(mean, color="#d55e00", dashes=(6, 4), linewidth=0.8, label="bound of its mean")
    axes.axhline(1, color=GREY, linewidth=0.5)
    axes.set(xlabel="layer", xticks=(1, 5, 10, 15, 20), ylim=(0, 1.9))
    axes.legend(ncols=2)


def _through_the_plane() -> tuple[Network, torch.Tensor]:
    """A network through R² with 16 identity layers, balanced, and a point in its domain x ≥ 0."""
    g = Network.of([[[2, 0, 1], [0, 2, -1], [1, 1, 1], [1, -1, 0]], [[1, 0, 1, 0], [0, 3, 0, 3]]])
    h = Network.of([[[1, 0], [0, 1], [1, -1]], [[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 2]]])
    x = torch.ones(3, dtype=torch.float64)
    return balance_neurons(identity_layers(h, g, DEPTH, torch.zeros_like(x[:2]))), x


def regions(axes: Axes) -> None:
    """The linear regions of a network of widths 2, 7, 4, 2 in a square; the ranks are exact."""
    cells = linear_regions(_seven_and_four(), -SIDE, SIDE)
    ranks = [int(cells.exact_jacobian(region).rank()) for region in range(len(cells))]
    area = cells.volume() / cells.volume().sum()
    for k, colour in enumerate((GREY, "#009e73", "#0072b2")):
        those = [region for region, each in enumerate(ranks) if each == k]
        label = f"rank {k}: {len(those)} regions, {float(area[those].sum()):.0%}"
        for region in those:
            corners = _polygon(cells, region)
            axes.fill(*corners.T, fc=colour, alpha=0.5, ec="black", lw=0.5, label=label)
            label = "_" + label.lstrip("_")
    axes.set(aspect="equal")
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def _polygon(cells: Regions, region: int) -> np.ndarray:
    """The vertices of a region in their order around it."""
    centre, corners = cells.interior[region], cells.vertices(region)
    angles = np.arctan2(*(corners - centre).T[::-1])
    return np.asarray(corners[np.argsort(angles)])


def _seven_and_four() -> Network:
    """A network whose Jacobian has every rank on a good part of the square."""
    return Network.of(
        [
            [
                [1, 0],
                [1, 1],
                [0.5, 1.25],
                [-0.5, 0.25],
                [-0.75, -1.5],
                [-1.25, -0.25],
                [-0.25, 0.5],
            ],
            [
                [2, 0.75, -1.25, 0, 0.25, 0.5, -0.5],
                [-0.75, -2, 0, 1, -1.25, 0.25, -0.25],
                [0, 0.5, -0.25, 0.5, -0.25, -2.25, -0.75],
                [-0.5, 0.25, -1, -1, 0.75, -0.25, -0.75],
            ],
            [[-0.25, -2, -0.25, -0.25], [-1.25, -1, 1.25, 1]],
        ],
        [[-2, 2.5, 0, 1, 0.5, -3, 1], [-0.75, -0.25, -1, 0], [0.5, 0.25]],
    )


def crossover(width: Callable[[int], int]) -> int:
    """The least dimension from which a width for depth two is beyond that of depth three."""
    return max(d for d in DIMENSIONS if width(d) <= depth_three_width(d)) + 1


def widths(axes: Axes) -> None:
    """Widths that are necessary at depth two, and one that suffices at depth three."""
    bounds = {"depth 2, slides": depth_two_width, "depth 2, sharper": sharper_width}
    for name, width in bounds.items():
        needed = [(d, width(d)) for d in DIMENSIONS if width(d) >= 1]
        d = crossover(width)
        [line] = axes.plot(*zip(*needed, strict=True), label=f"{name}: beyond from d = {d}")
        axes.plot([d], [width(d)], "o", ms=4, color=line.get_color())
    axes.plot(DIMENSIONS, [depth_three_width(d) for d in DIMENSIONS], label="depth 3")
    axes.set(xlabel="dimension d", ylabel="width", yscale="log", ylim=(1, 1e28), xlim=(0, None))
    axes.legend()


#: In the order of the page.
FIGURES: dict[str, Callable[[Axes], None]] = {
    draw.__name__: draw for draw in (layers, phi, excess, singular, regions, widths)
}


def _depths(axes: Axes, ticks: tuple[int, ...]) -> None:
    """A logarithmic axis of depths."""
    axes.set(xscale="log", xlabel="depth L", xlim=(ticks[0], ticks[-1]))
    axes.set_xticks([n for n in ticks if n & (n - 1) == 0], minor=False)
    axes.set_xticks([], minor=True)
    axes.xaxis.set_major_formatter("{x:g}")


def files() -> dict[str, str]:
    """The SVG files of the folder `theory`, by name."""
    out = {}
    for name, draw in FIGURES.items():
        with rc_context(LOOK):
            figure = Figure(figsize=(6.4, 3.6), layout="constrained")
            draw(figure.subplots())
            out[f"{name}.svg"] = written(figure, "svg").decode()
    return out
