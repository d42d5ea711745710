"""Networks convex in their input: numerically, along segments, and on balls."""

from fractions import Fraction

import torch

from rankcheck.balls import BallArray
from rankcheck.instances import input_convex_networks
from rankcheck.instances.drivers import ReplaySource
from rankcheck.networks import Network


def above_its_chords(net, number=64):
    """By how much f exceeds its chords at most, relative to its size: shape (*B)."""
    draw = torch.Generator().manual_seed(0)
    shape = (*net.batch, number, net.widths[0])
    x, y = (8 * torch.randn(shape, generator=draw, dtype=torch.float64) for _ in range(2))
    t = torch.rand(*net.batch, number, 1, generator=draw, dtype=torch.float64)
    between, chord = net(t * x + (1 - t) * y), t * net(x) + (1 - t) * net(y)
    size = 1 + between.abs().amax((-2, -1)) + chord.abs().amax((-2, -1))
    return (between - chord).amax((-2, -1)) / size, (chord - between).amax((-2, -1)) / size


def test_they_are_convex_along_segments(swept):
    depths, bent = set(), 0
    for source, (net, x) in swept(input_convex_networks(), 25):
        above, below = above_its_chords(net)
        assert (above < 1e-12).all()
        assert net.is_differentiable_at(x)[source.valid].all()
        depths.add(net.depth)
        bent += int((below > 1e-3).sum())
    assert depths == {1, 2, 3, 4}
    assert bent > 300  # most of those of depth 2 or more are not affine


def test_with_a_negative_weight_they_are_not(swept):
    lost = 0
    for _, (net, _) in swept(input_convex_networks(depth=(2, 3)), 10):
        weights = (*net.weights[:-1], -net.weights[-1])
        above, _ = above_its_chords(Network(weights, net.biases, net.slope))
        lost += int((above > 1e-3).sum())
    assert lost > 100


def test_gradients_are_subgradients_exactly_on_balls(swept):
    """f(y) ≥ f(x) + Jf(x)(y − x) between any two of the points."""
    for source, (_, _) in swept(input_convex_networks(points=(2, 2)), 12):
        index = int(source.valid.nonzero()[0])
        net, points = input_convex_networks(points=(2, 2))(
            ReplaySource(source.record.instance(index), BallArray.exact)
        )
        x, y = points[0], points[1]
        tangent = net(x) + (net.jacobian(x) @ (y - x).unsqueeze(-1)).squeeze(-1)
        assert all(Fraction(z) >= 0 for z in (net(y) - tangent).lower())
