"""ReLU networks with another slope."""

from fractions import Fraction

import numpy as np
import pytest

from rankcheck.networks import Network
from rankcheck.theory.witnesses.leaky_representation import leaky_representation, with_slope
from tests.draws import random_network

from ._plain import plain


def test_only_relu_networks_are_represented():
    with pytest.raises(ValueError, match=r"received a network of slope 0\.5"):
        leaky_representation(Network.of([[[1]]], slope=0.5), 0.25)
    with pytest.raises(ValueError, match="the slope is 1; it must lie in"):
        leaky_representation(Network.of([[[1]]]), 1)


@pytest.mark.parametrize("slope", [Fraction(1, 2), -0.75, 0])
@pytest.mark.oracle("rankcheck.witnesses.leaky_representation", "both networks in numpy")
def test_both_networks_in_numpy(slope):
    x = np.random.default_rng(0).normal(size=(4, 40, 3)) * 3
    for widths in ((3, 2), (3, 4, 2), (3, 5, 4, 2)):
        net = random_network(widths, batch=(4,))
        leaky = plain(leaky_representation(net, slope))
        assert leaky.slope == float(slope)
        assert leaky.widths == (3, *(2 * n for n in widths[1:-1]), 2)
        np.testing.assert_allclose(leaky(x), plain(net)(x), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("before", "after"), [(0.5, 0), (0.25, -0.75), (-0.5, 0.5), (0.5, 0.5)])
@pytest.mark.oracle("rankcheck.witnesses.with_slope", "both networks in numpy")
def test_two_slopes_in_numpy(before, after):
    x = np.random.default_rng(1).normal(size=(4, 40, 3)) * 3
    for widths in ((3, 2), (3, 4, 2), (3, 5, 4, 2)):
        net = random_network(widths, batch=(4,), slope=before)
        other = plain(with_slope(net, after))
        assert other.slope == float(after)
        np.testing.assert_allclose(other(x), plain(net)(x), rtol=1e-10, atol=1e-10)
