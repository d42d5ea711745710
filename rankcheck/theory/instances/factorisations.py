"""Functions f = h ∘ g on a box, with g: R^d → R^k and h: R^k → R^m, as pairs of networks."""

from __future__ import annotations

from typing import Any

import torch

from rankcheck.theory.instances.matrices import positive, semi_orthogonal
from rankcheck.theory.instances.networks import Range, Slopes, network, slope
from rankcheck.theory.instances.points import box, point_in
from rankcheck.theory.instances.promises import (
    SLOPES,
    Promise,
    at_most,
    has_slope,
    inside,
    is_identity,
    promises,
)
from rankcheck.theory.instances.source import Source, instances
from rankcheck.theory.networks.bounds import interval_bounds
from rankcheck.theory.networks.network import Network


def factorisation(
    source: Source,
    *,
    inner: Range = (1, 3),
    depth: Range = (1, 3),
    width: Range = (1, 4),
    slopes: Slopes = "any",
) -> tuple[Network, Network]:
    """Networks h and g of one slope with g: R^d → R^k and h: R^k → R^m, k drawn from `inner`."""
    k = source.integer(*inner)
    g = network(source, depth=depth, width=width, outputs=k, slopes=slopes, bound=3.0)
    h = network(source, depth=depth, width=width, inputs=k, slopes="relu", bound=3.0)
    return Network(h.weights, h.biases, g.slope), g


@instances
@promises(
    Promise("g(x) is at least the bound", lambda o, h, g, low, L, x: at_most(low, g(x))),
    extra=Promise(
        "L − L_g − L_h is in the range",
        lambda o, h, g, low, L, x: inside(o.extra, L - h.depth - g.depth),
    ),
    slopes=Promise(
        f"{SLOPES}; g and h have the same one",
        lambda o, h, g, *_: has_slope(o.slopes, g.slope) & torch.as_tensor(h.slope == g.slope),
    ),
)
def factorised_functions(
    source: Source, *, extra: Range = (0, 12), slopes: Slopes = "any"
) -> tuple[Network, Network, Any, int, Any]:
    """h, g, a lower bound of g on a box, a depth L ≥ L_g + L_h, and a point of the box."""
    h, g = factorisation(source, slopes=slopes)
    low, high = box(source, g.widths[0])
    lower, _ = interval_bounds(g, low, high)
    depth = h.depth + g.depth + source.integer(*extra)
    return h, g, lower, depth, point_in(source, low, high)


@instances
@promises(
    Promise("g(x) is less than the number in place of it", lambda o, h, g, low, L, x: g(x) < low),
    Promise("L > L_g + L_h", lambda o, h, g, low, L, x: h.depth + g.depth < L),
)
def unbounded_functions(source: Source) -> tuple[Network, Network, Any, int, Any]:
    """The same with relu(g(x)) + 1 in place of the lower bound, more than g(x) at the point x."""
    h, g, _, depth, x = factorised_functions().build(source)
    return h, g, torch.relu(g(x)) + 1, max(depth, h.depth + g.depth + 1), x


@instances
@promises(
    Promise("g(x) > 0, and its bound is 0", lambda o, h, g, low, L, x: (g(x) > 0) & (low == 0)),
    Promise(
        "g is linear with orthonormal rows, h with orthonormal columns",
        lambda o, h, g, *_: (
            is_identity(g.weights[0] @ g.weights[0].mT)
            & is_identity(h.weights[0].mT @ h.weights[0])
            & (g.biases[0] == 0).all(-1)[..., None, None]
            & (h.biases[0] == 0).all(-1)[..., None, None]
        ),
    ),
    Promise("L ≥ L_g + L_h", lambda o, h, g, low, L, x: h.depth + g.depth <= L),
)
def isometries_in_the_orthant(source: Source) -> tuple[Network, Network, Any, int, Any]:
    """h and g linear, with orthonormal columns and rows, at a point with g > 0: s_i(Jf) = 1."""
    k = source.integer(1, 3)
    into = semi_orthogonal(source, k + source.integer(0, 1), k)
    out = semi_orthogonal(source, k + source.integer(0, 1), k)
    y = positive(source, k)
    g = Network((into.mT,), (into.new_zeros((*source.batch, k)),), slope(source))
    h = Network((out,), (out.new_zeros(out.shape[:-1]),), g.slope)
    x = (into @ y.unsqueeze(-1)).squeeze(-1)
    return h, g, 0 * y, 2 + source.integer(0, 12), x
