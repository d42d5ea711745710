r"""Fewer hidden units with the same outputs at given data, by Carathéodory's theorem.

A network f(x) = Σ_k v_k σ(w_k·x + b_k) + c with D outputs has at N points the values c + Σ_k z_k,
where z_k ∈ ℝ^{ND} has the entries σ(w_k·x_i + b_k) v_{kd}. If the z_k are linearly dependent,
Σ h_k z_k = 0, then with factors t_k = 1 + s h_k of the outer weights v_k the values are the same,
and for one sign of h the cost Σ t_k ‖v_k‖‖w_k‖ does not increase in s ≥ 0. At the largest s for
which all t_k ≥ 0 a unit is gone. In the end at most ND units are left, with independent z_k.

Source: the argument behind Shenouda, Parhi, Lee, Nowak, arXiv 2305.16534, as recalled.
"""

from __future__ import annotations

import torch
from torch import Tensor

from rankcheck.balls import is_ball
from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.network import Network
from rankcheck.theory.networks.units import require_one_hidden_layer, unit_costs

#: In floats an entry of a column is zero up to this share of the largest one.
RELATIVE = 2.0**-44


def fewer_units(net: Network, x: Array, costs: Array | None = None) -> Network:
    """A network with the same values at the points x (*B, N, n_0), and at most N·n_L hidden units.

    Its units are some of those of `net`, with their outer weights times positive numbers, and
    Σ ‖v_k‖‖w_k‖ is not larger. Places behind the last of them have zeros, up to the width
    min(K, N·n_L). On balls the factors are rational; the sign of a change of cost is decided.

    Args:
        costs: of the units, (*B, K); :func:`rankcheck.networks.unit_costs` by default.

    Raises:
        ValueError: unless the depth is two and x is (*B, N, n_0).
        Undecided: on balls, where a change of cost cannot be told from zero.
    """
    _check_points(net, x)
    activations, outer = net.activations(x)[1], net.weights[1]
    columns = (activations.unsqueeze(-2) * outer.unsqueeze(-3)).flatten(-3, -2)
    factors = cheaper_combination(columns, unit_costs(net) if costs is None else costs)
    return _kept(net, factors, min(outer.shape[-1], columns.shape[-2]))


def fewer_units_in_span(net: Network, x: Array) -> Network:
    """The same with at most N·min(N, n_L) units: the v_k are projected before.

    If N < n_L, onto the span of the f(x_i) − c, which keeps the values at x; no ‖v_k‖ increases.
    In N coordinates of that span the network has N outputs.

    Raises:
        ValueError: unless the depth is two and x is (*B, N, n_0).
        Undecided: on balls, where a change of cost cannot be told from zero.
    """
    _check_points(net, x)
    (W, V), (b, c) = net.weights, net.biases
    if x.shape[-2] >= V.shape[-2]:
        return fewer_units(net, x)
    basis = _orthogonal_rows(net.activations(x)[1] @ V.mT)
    square = (basis * basis).sum(-1, keepdim=True)
    lift = (basis / torch.where(square == 0, 1 + 0 * square, square)).mT
    coordinates = basis @ V
    small = net.with_parameters((W, coordinates), (b, 0 * coordinates[..., 0]))
    # The costs before the projection: as rational as the weights make them.
    fewer = fewer_units(small, x, unit_costs(net))
    return net.with_parameters((fewer.weights[0], lift @ fewer.weights[1]), (fewer.biases[0], c))


def _orthogonal_rows(A: Array) -> Array:
    """Gram-Schmidt without roots: orthogonal rows with the same span, some zero if it is small.

    Their largest entries are 1. In floats a row that is nearly a combination of others is zero.
    """
    rows: list[Array] = []
    for row in A.unbind(-2):
        least = 0.0 if is_ball(A) else RELATIVE * row.abs().amax(-1, keepdim=True)
        for _ in range(1 if is_ball(A) else 2):
            for b in rows:
                square = (b * b).sum(-1, keepdim=True)
                along = (row * b).sum(-1, keepdim=True)
                row = row - along / torch.where(square == 0, 1 + 0 * square, square) * b
        largest = row.abs().amax(-1, keepdim=True)
        zero = largest <= least
        rows.append(torch.where(zero, 0 * row, row / torch.where(zero, 1 + 0 * largest, largest)))
    return torch.stack(rows, -2)


def _check_points(net: Network, x: Array) -> None:
    require_one_hidden_layer(net)
    if x.ndim != len(net.batch) + 2:
        raise ValueError(
            f"received points of shape {tuple(x.shape)}; N points for each network are "
            f"{(*net.batch, 'N', net.widths[0])}"
        )


def cheaper_combination(columns: Array, costs: Array) -> Array:
    """t ≥ 0 with Σ t_k z_k = Σ z_k, Σ t_k c_k ≤ Σ c_k, and independent z_k where t_k > 0.

    For columns z_k (*B, R, K) and costs c_k ≥ 0 (*B, K); shape (*B, K). So at most R of the t_k are
    positive: Carathéodory's theorem for cones, with a linear cost. The least cost is not sought.
    """
    t = torch.ones_like(costs)
    for _ in range(columns.shape[-1]):
        live = t > 0
        h = null_vector(columns * t.unsqueeze(-2), live)
        change = (costs * t * h).sum(-1, keepdim=True)
        lowest = h.amin(-1, keepdim=True)
        dearer = (change > 0) | ((change == 0) & (lowest >= 0))
        h = torch.where(dearer, -h, h)
        lowest = h.amin(-1, keepdim=True)
        moves = lowest < 0
        step = h / torch.where(moves, -lowest, 1 + 0 * lowest)
        t = torch.where(live & ~(moves & (h == lowest)), t * (1 + step), 0 * t)
    return t


def null_vector(A: Array, live: Tensor) -> Array:
    """A vector h with Ah = 0, zero outside of the columns `live` (*B, n); h = 0 if there is none.

    A is (*B, m, n). By elimination with the largest pivot, in columns whose largest entry is scaled
    to 1: exact on rationals, and in floats a pivot below a threshold is zero.
    """
    m, n = A.shape[-2:]
    largest = A.abs().amax(-2)
    size = torch.where(largest > 0, largest, 1 + 0 * largest)
    A = torch.where(live.unsqueeze(-2), A / size.unsqueeze(-2), 0 * A)
    least = 0.0 if is_ball(A) else RELATIVE
    rows = torch.ones((*A.shape[:-2], m), dtype=torch.bool, device=live.device)
    columns = live
    pivots: list[tuple[Tensor, Tensor]] = []
    for _ in range(min(m, n)):
        free = rows.unsqueeze(-1) & columns.unsqueeze(-2)
        candidates = torch.where(free, A.abs(), 0 * A).flatten(-2)
        place = candidates.argmax(-1, keepdim=True)
        found = candidates.amax(-1, keepdim=True) > least
        row = (torch.arange(m, device=live.device) == place // n) & found
        column = (torch.arange(n, device=live.device) == place % n) & found
        at = torch.where(row.unsqueeze(-1), A, 0 * A).sum(-2)
        pivot = torch.where(column, at, 0 * at).sum(-1, keepdim=True)
        at = at / torch.where(found, pivot, 1 + 0 * pivot)
        below = torch.where(column.unsqueeze(-2), A, 0 * A).sum(-1)
        reduced = A - below.unsqueeze(-1) * at.unsqueeze(-2)
        A = torch.where(row.unsqueeze(-1), at.unsqueeze(-2), reduced)
        rows, columns = rows & ~row, columns & ~column
        pivots.append((row, column))
    first = columns & (columns.long().cumsum(-1) == 1)
    coefficients = torch.where(first.unsqueeze(-2), A, 0 * A).sum(-1)
    h = torch.where(first, 1 + 0 * size, 0 * size)
    for row, column in pivots:
        own = torch.where(row, coefficients, 0 * coefficients).sum(-1, keepdim=True)
        h = torch.where(column, -own, h)
    if not is_ball(h):
        h = torch.where(h.abs() <= RELATIVE * h.abs().amax(-1, keepdim=True), 0.0, h)
    return h / size


def _kept(net: Network, factors: Array, width: int) -> Network:
    """The units with positive factors first, cut to a width that holds all of them."""
    (W, V), (b, c) = net.weights, net.biases
    live = factors > 0
    order = torch.argsort((~live).long(), dim=-1, stable=True)[..., :width]
    chosen = order.unsqueeze(-1) == torch.arange(W.shape[-2], device=order.device)
    one = torch.ones_like(factors).unsqueeze(-2)
    move = torch.where(chosen & live.unsqueeze(-2), one, 0 * one)
    inner = torch.cat((W, b.unsqueeze(-1)), -1)
    inner = move @ inner
    outer = (V * factors.unsqueeze(-2)) @ move.mT
    return net.with_parameters((inner[..., :-1], outer), (inner[..., -1], c))
