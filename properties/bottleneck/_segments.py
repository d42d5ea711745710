"""Networks on segments on which the activation pattern is constant."""

from fractions import Fraction

import torch

from rankcheck import Network, linalg, networks
from rankcheck.instances import Range, Slopes, Source, instances, network

#: How far the ends of a segment are from the kinks, in families whose units vanish there.
INSIDE = Fraction(1, 2**24)
#: A unit whose sign differs at the two ends is moved this far beyond its kink at both.
BEYOND = 0.125


@instances
def networks_on_segments(
    source: Source, *, depth: Range = (1, 4), width: Range = (1, 3), slopes: Slopes = "any"
):
    """A network and the ends of a segment, shape (*batch, 2, n_0), with one activation pattern.

    The bias of a unit that changes its sign, or vanishes, is moved. The pattern is then the same at
    both ends and therefore, layer by layer, in between.
    """
    net = network(source, depth=depth, width=width, slopes=slopes)
    ends = source.tensor(2, net.widths[0])
    alpha, biases = ends, []
    a = net.slope if isinstance(net.slope, linalg.Number) else net.slope[..., None, None]
    for w, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
        z = alpha @ w.mT + b.unsqueeze(-2)
        low, high = z.amin(-2), z.amax(-2)
        b = torch.where((low <= 0) & (high >= 0), b + (BEYOND - low), b)
        biases.append(b)
        alpha = networks.leaky(alpha @ w.mT + b.unsqueeze(-2), a)
    return Network(net.weights, (*biases, net.biases[-1]), net.slope), ends
