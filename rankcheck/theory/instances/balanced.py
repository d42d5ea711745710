r"""Networks that are balanced neuron by neuron, with points at which they are differentiable.

Balanced means that for every hidden neuron, with a bias that counts,

.. math:: \|W_{\ell, i\cdot}\|^2 + b_{\ell, i}^2 = \|W_{\ell+1, \cdot i}\|^2 = \rho_{\ell, i}^2 .

There are two constructions for any depth.

*Exact.* $W_\ell = U_\ell \operatorname{diag}(\rho_{\ell-1})$ with unit vectors for the columns of
$U_\ell$, each the image of a basis vector under one reflection, $\rho_0 > 0$ drawn; and

.. math:: b = (q/s - s)/2, \quad \rho = (q/s + s)/2 \quad\text{with}\quad
          q = \|W_{\ell, i\cdot}\|^2,\ s > 0,

so that $q + b^2 = \rho^2$. Each b belongs to exactly one s, so every balanced network with
ρ > 0 is of this form. It is a rational function of what is drawn, hence exact on balls. Most of the
time the rank of one layer and the active units at the point are drawn as well, so that the ranks
of the Jacobian up to the least width are all frequent.

*Rescaled.* Any network, balanced by :func:`rankcheck.networks.balance_neurons`: zero layers, dead
units, layers of low rank and networks without biases are among them. It has no ball form, so it is
drawn only where the option `constructions` names it.

The balance is checked again: exactly on balls, up to `RESIDUAL` times the cost in floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import torch

from rankcheck.balls import is_ball
from rankcheck.theory import linalg
from rankcheck.theory.instances.kinks import (
    CLEARANCE,
    active_units,
    full_mostly,
    require_differentiable,
    units_to_turn,
)
from rankcheck.theory.instances.matrices import semi_orthogonal
from rankcheck.theory.instances.networks import (
    DEPTH,
    POINTS,
    SLOPE,
    WIDTH,
    Range,
    Slopes,
    draw_widths,
    network_at_points,
    slope,
)
from rankcheck.theory.instances.promises import Promise, promises
from rankcheck.theory.instances.source import Source, instances
from rankcheck.theory.networks.balancing import balance_neurons, neuron_imbalances
from rankcheck.theory.networks.network import Network, leaky

Construction = Literal["exact", "rescaled"]

#: How often each construction is drawn, relative to the others that are asked for.
WEIGHTS = {"exact": 1, "rescaled": 3, "exact and alive": 4}
#: The largest imbalance in floats, relative to the cost of the network, that counts as balanced.
RESIDUAL = 2.0**-40


def unit_columns(source: Source, m: int, n: int) -> Any:
    """An m × n matrix with columns of length one: column j is a reflection of e_{j mod m}.

    Where the drawn vector is zero, the column is the basis vector itself, so the simplest such
    matrix consists of columns of the identity. Every matrix with unit columns is of this form.
    """
    v = source.tensor(m, n, low=-2.0, high=2.0)
    basis = linalg.eye(m, like=v)[:, torch.arange(n) % m]
    square = (v * v).sum(-2, keepdim=True)
    along = (v * basis).sum(-2, keepdim=True)
    return basis - 2 * v * along / torch.where(square == 0, square.new_ones(()), square)


def balanced_network(
    source: Source,
    points: int | None = None,
    *,
    depth: Range = (1, 4),
    width: Range = (1, 3),
    slopes: Slopes = "any",
    alive: bool = False,
) -> tuple[Network, Any]:
    """A network of the exact construction, and a point (or `points` of them) clear of its kinks.

    Where a unit is closer than `CLEARANCE` to its kink, its s, and with it its bias, is changed:
    for one point by enough to clear it. With several points, a unit may remain too close after all
    changes; such instances are rejected.

    Args:
        alive: whether the rank of one layer and the active units at the first point are drawn, by
            the rules of `networks_at_points`.
    """
    widths = draw_widths(source, depth, width)
    layers = len(widths) - 1
    special = source.integer(0, layers - 1) if alive else -1
    active = active_units(source, widths) if alive else ()
    steepness = slope(source, slopes)
    x = source.tensor(*(() if points is None else (points,)), widths[0])
    rows = x.unsqueeze(-2) if points is None else x
    rho = source.tensor(widths[0], low=0.25, high=2.0)
    alpha, weights, biases = rows, [], []
    for index, (m, n) in enumerate(pairwise(widths)):
        full = min(n, m)
        rank = full_mostly(source, full) if index == special else full
        if rank < full:
            columns = semi_orthogonal(source, n, rank) @ unit_columns(source, rank, m)
        else:
            columns = unit_columns(source, n, m)
        w = columns * rho.unsqueeze(-2)
        weights.append(w)
        if len(weights) == layers:
            biases.append(source.tensor(n, low=-2.0, high=2.0))
            break
        # s is proportional to ρ of the layer before; otherwise ρ would grow like a square.
        near = w.abs().sum(-1)
        near = torch.where(near == 0, rho.sum(-1, keepdim=True) / m, near)
        s = source.tensor(n, low=0.5, high=2.0) * near
        q = (w * w).sum(-1)
        before = alpha @ w.mT
        for factor in (2.0,) if points is None else (2.0, 1.5, 1.25, 1.125):
            distance = (before + ((q / s - s) / 2).unsqueeze(-2)).abs().amin(-2)
            s = torch.where(distance < CLEARANCE, s * factor, s)
        b, rho = (q / s - s) / 2, (q / s + s) / 2
        z = before + b.unsqueeze(-2)
        if active:
            turned = units_to_turn(z[..., 0, :], active[index])
            weights[-1] = torch.where(turned.unsqueeze(-1), -w, w)
            b, z = torch.where(turned, -b, b), torch.where(turned.unsqueeze(-2), -z, z)
        biases.append(b)
        alpha = leaky(z, steepness)
    net = Network(weights, biases, steepness)
    require_differentiable(source, net, x)
    return net, x


def rescaled_network(
    source: Source,
    points: int | None = None,
    *,
    depth: Range = (1, 4),
    width: Range = (1, 3),
    slopes: Slopes = "any",
) -> tuple[Network, Any]:
    """A network balanced by rescaling its neurons, and points at which it is differentiable.

    Dead units are set to zero. Units exactly at their kink then have zero outgoing weights.

    Raises:
        NoBallForm: on balls.
    """
    net, x = network_at_points(source, points, depth=depth, width=width, slopes=slopes, bound=2.0)
    return balance_neurons(net), x


def _is_balanced(net: Network) -> Any:
    """Whether each hidden neuron is balanced: bools (number of hidden neurons)."""
    imbalance: linalg.Array = torch.cat(neuron_imbalances(net), -1)
    if not is_ball(imbalance):
        return imbalance.abs() <= RESIDUAL * net.cost().unsqueeze(-1)
    return imbalance == 0


def _is_smooth(net: Network, x: Any) -> Any:
    """Whether each hidden unit is off its kink, or has no outgoing weight: ([N,] units)."""
    clear = torch.cat([z != 0 for z in net.preactivations(x)[:-1]], -1)
    unseen = torch.cat([(w == 0).all(-2) for w in net.weights[1:]], -1)
    return clear | (unseen.unsqueeze(-2) if clear.ndim > unseen.ndim else unseen)


def _balanced(
    source: Source, constructions: Sequence[Construction], points: int | None, **options: Any
) -> tuple[Network, Any]:
    most = ("exact and alive",) if "exact" in constructions else ()
    weights = [WEIGHTS[kind] for kind in (*constructions, *most)]
    construction = source.choice((*constructions, *most), weights)
    if construction == "rescaled":
        net, x = rescaled_network(source, points, **options)
    else:
        net, x = balanced_network(source, points, alive=construction in most, **options)
    if net.depth > 1:
        source.require(_is_balanced(net), "the network is balanced neuron by neuron")
    return net, x


SMOOTH = Promise(
    "no hidden unit that the next layer sees is at its kink at a point",
    lambda o, net, x: net.depth == 1 or _is_smooth(net, x),
)
CONSTRUCTIONS = Promise(
    'every hidden neuron is balanced; exactly, but for "rescaled"',
    lambda o, net, _: net.depth == 1 or _is_balanced(net),
)


@instances
@promises(SMOOTH, depth=DEPTH, width=WIDTH, slopes=SLOPE, constructions=CONSTRUCTIONS)
def balanced_networks_at_points(
    source: Source,
    *,
    depth: Range = (1, 4),
    width: Range = (1, 3),
    slopes: Slopes = "any",
    constructions: Sequence[Construction] = ("exact",),
) -> tuple[Network, Any]:
    """A balanced network and a point x, shape `(n_0)`, at which it is differentiable.

    A violation on an exact one can be certified. `constructions=("exact", "rescaled")` draws the
    others as well, on which a violation in floats stays undecided. Of those, a unit may be at its
    kink that the next layer does not see.
    """
    return _balanced(source, constructions, None, depth=depth, width=width, slopes=slopes)


@instances
@promises(
    SMOOTH,
    depth=DEPTH,
    width=WIDTH,
    points=POINTS,
    slopes=SLOPE,
    constructions=CONSTRUCTIONS,
)
def balanced_networks_with_inputs(
    source: Source,
    *,
    depth: Range = (1, 4),
    width: Range = (1, 3),
    points: Range = (1, 4),
    slopes: Slopes = "any",
    constructions: Sequence[Construction] = ("exact",),
) -> tuple[Network, Any]:
    """A balanced network and N points, shape `(N, n_0)`, differentiable at each.

    Constructions are those of `balanced_networks_at_points`.
    """
    number = source.integer(*points)
    return _balanced(source, constructions, number, depth=depth, width=width, slopes=slopes)
