"""Pairs of points in one linear region of a network, in neighbouring or in different ones."""

from __future__ import annotations

from typing import Any, Literal

import torch

from rankcheck.theory.instances.kinks import active_units, clear_of_boundaries
from rankcheck.theory.instances.networks import DEPTH, SLOPE, WIDTH, Range, Slopes, network
from rankcheck.theory.instances.promises import Promise, promises
from rankcheck.theory.instances.source import Source, instances
from rankcheck.theory.linalg import Array
from rankcheck.theory.networks.evaluation import leaky_derivative
from rankcheck.theory.networks.network import Network

Regions = Literal["one", "neighbouring", "different"]

#: At both points the hidden pre-activations are at least so large: rounding does not turn a sign.
CLEAR = 2.0**-30
#: How far a point goes at most, as a share of the way to the next boundary.
FARTHEST = 0.875
#: By this factor the time to the second boundary is longer than that to the first.
APART = 1 + 2.0**-20


def _signs(net: Network, x: Any) -> Any:
    """Which hidden units are active at a point, bools (H)."""
    return torch.cat(net.pattern(x), -1)


def _as_said(o: Any, net: Network, x: Any, y: Any) -> Any:
    turned = _signs(net, x) != _signs(net, y)
    if o.regions == "one":
        return ~turned
    if o.regions == "different":
        return turned.any(-1)
    # The unit that differs vanishes between the points, and none of the others turns there.
    z, w = (torch.cat(net.preactivations(point)[:-1], -1) for point in (x, y))
    share = torch.where(turned, z / torch.where(turned, z - w, 1 + 0 * z), 0 * z).sum(-1)
    between = _signs(net, x + share.unsqueeze(-1) * (y - x)) != _signs(net, x)
    return (turned.sum(-1) == 1) & (turned | ~between).all(-1)


@instances
@promises(
    Promise(
        "no hidden unit is at its kink at either point",
        lambda o, net, x, y: net.is_differentiable_at(x) & net.is_differentiable_at(y),
    ),
    regions=Promise(
        'the same hidden units are active at both points for "one", others for "different"; for '
        '"neighbouring" one unit turns between them, and no other one where it does',
        _as_said,
    ),
    depth=DEPTH,
    width=WIDTH,
    slopes=SLOPE,
)
def pairs_of_points(
    source: Source,
    *,
    regions: Regions = "one",
    depth: Range = (2, 4),
    width: Range = (1, 4),
    slopes: Slopes = "any",
) -> tuple[Network, Any, Any]:
    """A network and two points x, y, (n_0), by the linear regions that they lie in.

    In one region, y is anywhere on the ray from x in a drawn direction, up to 7/8 of the way to
    the next boundary. For the others the ray crosses the hyperplane of the first unit, whose
    weights are not zero: y is beyond it, or just beyond the first boundary that the ray meets, so
    that the regions have a facet in common there.

    Raises:
        ValueError: if the depth may be 1; such a network has one region.
    """
    if depth[0] < 2:
        raise ValueError(f"received depth={depth}; a network with regions has depth 2 or more")
    net = network(source, depth=depth, width=width, slopes=slopes)
    W = net.weights[0]
    first = (torch.arange(W.shape[-2], device=W.device) == 0).unsqueeze(-1)
    W = torch.where(first & (W.abs() < 0.125).all(-1, keepdim=True), 1 + 0 * W, W)
    x, u = source.tensor(net.widths[0]), source.tensor(net.widths[0])
    alive = active_units(source, net.widths)
    net = net.with_parameters((W, *net.weights[1:]), map(_not_small, net.biases))
    net = clear_of_boundaries(source, net, x, alive)
    share = source.tensor(low=0.125, high=FARTHEST).unsqueeze(-1)
    if regions != "one":
        u = _towards(net, x, u)
    if regions == "different":
        y = x + (1 + share) * u
    else:
        y = _beside(source, net, x, u, share, cross=regions == "neighbouring")
    clear = (net.boundary_distance(x) > CLEAR) & (net.boundary_distance(y) > CLEAR)
    source.require(clear, "both points are clear of the boundaries")
    return net, x, y


def _not_small(b: Any) -> Any:
    """The biases with 1/8, 2/8, ... in place of those smaller than 1/8.

    Without biases all boundaries of the first layer meet, and where all units of a layer are
    inactive, those of the next are at their kinks.
    """
    eighths = 1 + torch.arange(b.shape[-1], device=b.device)
    return torch.where(b.abs() < 0.125, (eighths + 0 * b) / 8, b)


def _towards(net: Network, x: Any, u: Any) -> Any:
    """The direction u changed along the weights of the first unit, so that x + u is at its kink."""
    w = net.weights[0][..., 0, :]
    z = net.preactivations(x)[0][..., :1]
    return u - w * (z + (w * u).sum(-1, keepdim=True)) / (w * w).sum(-1, keepdim=True)


def _beside(source: Source, net: Network, x: Any, u: Any, share: Any, cross: bool) -> Any:
    """A point of the ray x + tu before the first boundary, or between the first and the second."""
    at = net.preactivations(x)[:-1]
    masks = list(net.masks(x))
    times = _times(at, _rates(net, masks, u))
    least = times.amin(-1, keepdim=True)
    if not cross:
        return x + share * torch.minimum(least, 1 + 0 * least) * u
    met = times <= APART * least
    source.require(met.sum(-1) == 1, "the ray meets one boundary at a time")
    there = x + least * u
    units = met.split([z.shape[-1] for z in at], -1)
    turned = [
        torch.where(unit, leaky_derivative(-z, net.slope), mask)
        for unit, z, mask in zip(units, at, masks, strict=True)
    ]
    # The unit that vanishes there has left its boundary, whatever rounding says.
    left = [
        torch.where(unit, -z, now)
        for unit, z, now in zip(units, at, net.preactivations(there)[:-1], strict=True)
    ]
    following = torch.where(met, 2 + 0 * times, _times(left, _rates(net, turned, u)))
    following = following.amin(-1, keepdim=True)
    return there + share * torch.minimum(following, 1 + 0 * least) * u


def _rates(net: Network, masks: Any, u: Any) -> list[Array]:
    """The derivatives of the hidden pre-activations along u, for masks that do not change."""
    rates, direction = [], u
    for W, mask in zip(net.weights[:-1], masks, strict=True):
        rates.append((W @ direction.unsqueeze(-1)).squeeze(-1))
        direction = mask * rates[-1]
    return rates


def _times(z: Any, rates: Any) -> Any:
    """When each unit vanishes, (H); 2 for those that do not move towards their kink."""
    z, rate = torch.cat(tuple(z), -1), torch.cat(tuple(rates), -1)
    nears = z * rate < 0
    return torch.where(nears, -z / torch.where(nears, rate, 1 + 0 * rate), 2 + 0 * z)
