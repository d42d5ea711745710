"""Networks moved off their kinks, so that given points lie inside linear regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from rankcheck.theory.instances.source import Source
from rankcheck.theory.networks.network import Network, leaky

#: A point where a hidden pre-activation is smaller than this counts as on a region's boundary.
CLEARANCE = 2.0**-16
#: How far a unit is moved that is at its kink at one of several points, try by try.
STEPS = (1.0, 0.5, 0.25, 0.125)


def full_mostly(source: Source, most: int) -> int:
    """A rank or a number of units in [1, most]; `most` itself half of the time."""
    return source.integer(1, most, [1] * (most - 1) + [max(1, most - 1)])


def active_units(source: Source, widths: Sequence[int]) -> list[tuple[int, int]]:
    """Which units are to be active: (on, off) for each hidden layer, for `clear_of_boundaries`.

    Of each layer the first k units are active, and in one of the layers no other unit is. k is at
    most the least width, and equal to it half of the time. So a ReLU network with weights of full
    rank has rank Jf = k in general.
    """
    hidden = widths[1:-1]
    if not hidden:
        return []
    place = source.integer(0, len(hidden) - 1)
    k = full_mostly(source, min(widths))
    return [(k, k if index == place else n) for index, n in enumerate(hidden)]


def clear_of_boundaries(
    source: Source, net: Network, x: Any, active: Sequence[tuple[int, int]] = ()
) -> Network:
    """The network with biases moved so that x lies inside a linear region.

    1 is added to the bias of a hidden unit whose pre-activation at x is smaller than `CLEARANCE`,
    so no instance is rejected. With N points, shape `(N, n_0)`, the bias of a unit is moved
    by 1, 1/2, 1/4 and 1/8 until the unit is clear of all points; instances where this does not
    suffice are rejected.

    Args:
        active: for each hidden layer (on, off): at x, or at the first of N points, the first `on`
            units are made active and those from number `off` on inactive. The weights and the bias
            of a unit change their signs for it.
    """
    moved = moved_units(net, x, active, clear=True)
    require_differentiable(source, moved, x)
    return moved


def moved_units(net: Network, x: Any, active: Sequence[tuple[int, int]], clear: bool) -> Network:
    """The network with units turned as `active` says and, if `clear`, off their kinks."""
    alpha, weights, biases = torch.atleast_2d(x), [], []
    for index, (w, b) in enumerate(zip(net.weights[:-1], net.biases[:-1], strict=True)):
        for step in STEPS if x.ndim == 2 else STEPS[:1]:
            near = (alpha @ w.mT + b).abs().amin(-2) < CLEARANCE
            b = torch.where(near, b + step, b) if clear else b
        z = alpha @ w.mT + b
        if active:
            turned = units_to_turn(z[0], active[index])
            w, b = torch.where(turned.unsqueeze(-1), -w, w), torch.where(turned, -b, b)
            z = torch.where(turned, -z, z)
        weights.append(w)
        biases.append(b)
        alpha = leaky(z, net.slope)
    return Network((*weights, net.weights[-1]), (*biases, net.biases[-1]), net.slope)


def units_to_turn(z: Any, active: tuple[int, int]) -> torch.Tensor:
    """Of pre-activations z (n): which of the first `on` are < 0, or from `off` on are > 0."""
    on, off = active
    unit = torch.arange(z.shape[-1], device=z.device)
    turned: torch.Tensor = ((unit < on) & (z < 0)) | ((unit >= off) & (z > 0))
    return turned


def clear_without_biases(
    source: Source, net: Network, x: Any, active: Sequence[tuple[int, int]] = ()
) -> tuple[Network, Any]:
    """A network without biases and its points, moved so that each lies inside a linear region.

    Without biases a network is homogeneous, and at its kink wherever the layer before is zero. So
    1 is added to each coordinate of a point that is zero. The weights of a unit at its kink are
    moved by the signs of the activations before it, times 1, or times 1, 1/2, 1/4 and 1/8 with
    several points. A point at which all units of a layer vanish changes its sign, if that is the
    first layer; in a later one the first unit gets positive weights. Instances where this does not
    suffice are rejected. Where the layer is the last hidden one, all its units may vanish.

    Args:
        active: as for `clear_of_boundaries`.
    """
    if net.depth == 1:
        return net, x
    rows = torch.atleast_2d(x)
    rows = torch.where(_vanishes(rows), rows + 1, rows)
    alpha, weights = rows, []
    for index, w in enumerate(net.weights[:-1]):
        w = _moved_off_kinks(w, alpha)
        z = alpha @ w.mT
        if active:
            turned = units_to_turn(z[0], active[index])
            w, z = torch.where(turned.unsqueeze(-1), -w, w), torch.where(turned, -z, z)
        if index < net.depth - 2:
            lost = _vanishes(leaky(z, net.slope))
            if index == 0:
                rows, z = torch.where(lost, -rows, rows), torch.where(lost, -z, z)
            else:
                w = torch.where(lost.any(-2, keepdim=True), _with_positive_row(w), w)
                z = alpha @ w.mT
            alpha = leaky(z, net.slope)
        weights.append(w)
    moved = Network((*weights, net.weights[-1]), net.biases, net.slope)
    x = rows.reshape(x.shape)
    require_differentiable(source, moved, x)
    return moved, x


def _vanishes(rows: Any) -> Any:
    """Which rows are as good as zero: bools (N, 1)."""
    return rows.abs().sum(-1, keepdim=True) < CLEARANCE


def _moved_off_kinks(w: Any, alpha: Any) -> Any:
    """The layer (n, m) with its units moved that are at their kinks at points (N, m)."""
    points = alpha.shape[-2]
    for step in STEPS if points > 1 else STEPS[:1]:
        for point in range(points):
            at = alpha[..., point, :].unsqueeze(-1)
            near = (w @ at).abs() < CLEARANCE
            away = torch.where(at < 0, -step + 0 * at, step + 0 * at).mT
            w = torch.where(near, w + away, w)
    return w


def _with_positive_row(w: Any) -> Any:
    """The layer with the absolute values of its first row, and 1 for those below 1/8."""
    first = (torch.arange(w.shape[-2], device=w.device) == 0).unsqueeze(-1)
    size = w.abs()
    return torch.where(first, torch.where(size < 0.125, 1 + 0 * w, size), w)


def require_differentiable(source: Source, net: Network, x: Any) -> None:
    """Reject the instances whose network has a unit at its kink at one of the points."""
    if net.depth > 1:
        clear = net.boundary_distance(x) > 0
        source.require(clear, "the network is differentiable at its points")
