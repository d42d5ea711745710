"""Interval propagation: it contains the true range, and is exact where it should be."""

import pytest
import torch
from mpmath import iv

from rankcheck.networks import Network
from rankcheck.theory.networks.bounds import interval_bounds
from tests.draws import normal, random_network


def by_intervals(net: Network, low: torch.Tensor, high: torch.Tensor) -> list[tuple[float, float]]:
    """Layer by layer in mpmath's interval arithmetic; an activation is least at an end or at 0."""

    def activated(z):
        (a, b), slope = (float(z.a), float(z.b)), float(net.slope)
        at = [x if x >= 0 else slope * x for x in ((a, b, 0.0) if a < 0 < b else (a, b))]
        return iv.mpf([min(at), max(at)])

    box = [iv.mpf([a, b]) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    for layer, (W, b) in enumerate(zip(net.weights, net.biases, strict=True)):
        if layer:
            box = [activated(z) for z in box]
        box = [
            sum((iv.mpf(w) * z for w, z in zip(row, box, strict=True)), iv.mpf(offset))
            for row, offset in zip(W.tolist(), b.tolist(), strict=True)
        ]
    return [(float(z.a), float(z.b)) for z in box]


@pytest.mark.parametrize("slope", [0.0, 0.4, -0.4, -0.9])
@pytest.mark.parametrize("widths", [(2, 3), (1, 4, 1), (3, 5, 5, 2)])
@pytest.mark.oracle("rankcheck.networks.interval_bounds", "mpmath.iv")
def test_bounds_against_interval_arithmetic(widths, slope):
    net, low = random_network(widths, slope), normal(0, widths[0])
    high = low + normal(1, widths[0]).abs()
    found = torch.stack(interval_bounds(net, low, high), -1)
    expected = torch.tensor(by_intervals(net, low, high), dtype=torch.float64)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-11)


@pytest.mark.parametrize(
    ("slope", "low", "high", "expected"),
    [
        (0.5, -2, 3, (-1, 3)),
        (0.5, -2, -1, (-1, -0.5)),
        (0.0, -2, 3, (0, 3)),
        (-0.5, -2, 3, (0, 3)),
        (-0.5, -8, 3, (0, 4)),
        (-0.5, -2, -1, (0.5, 1)),
        (-0.5, 1, 2, (1, 2)),
    ],
)
def test_the_activation_is_bounded_exactly(slope, low, high, expected):
    for a in (slope, torch.tensor(slope, dtype=torch.float64)):
        net = Network.of([[[1.0]], [[1.0]]], slope=a)
        ends = (torch.tensor([float(z)], dtype=torch.float64) for z in (low, high))
        lowest, highest = interval_bounds(net, *ends)
        assert lowest.item() == pytest.approx(expected[0], abs=1e-13)
        assert highest.item() == pytest.approx(expected[1], abs=1e-13)


def test_rounding_stays_outside():
    """0.1 + 0.2 - 0.3 is 5.6e-17 in doubles, half of that exactly: both are enclosed."""
    net = Network.of([torch.tensor([[0.1, 0.2, -0.3]], dtype=torch.float64)])
    one = torch.ones(3, dtype=torch.float64)
    lowest, highest = interval_bounds(net, one, one)
    assert lowest.item() < 2.7e-17
    assert highest.item() > 5.6e-17
    assert highest.item() - lowest.item() < 1e-14


def test_errors_state_the_rule():
    net = random_network((2, 3), batch=(4,))
    good = torch.zeros(4, 2, dtype=torch.float64)
    with pytest.raises(ValueError, match=r"high has shape \(2,\); expected \(4, 2\)"):
        interval_bounds(net, good, good[0])
