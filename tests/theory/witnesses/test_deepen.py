"""Deeper networks of the same function."""

from fractions import Fraction

import numpy as np
import pytest

from rankcheck.theory.witnesses.deepen import deepen
from tests.draws import random_network

from ._plain import plain


def test_no_network_gets_shallower():
    with pytest.raises(ValueError, match="received depth 1 for a network of depth 2"):
        deepen(random_network((1, 1, 1)), 1)


@pytest.mark.parametrize("slope", [0, Fraction(1, 3), -0.75])
@pytest.mark.oracle("rankcheck.witnesses.deepen", "both networks evaluated in numpy")
def test_deeper_networks_in_numpy(slope):
    x = np.random.default_rng(0).normal(size=(4, 30, 3)) * 5
    for widths in ((3, 2), (3, 4, 2), (3, 1, 5, 2)):
        net = random_network(widths, slope, batch=(4,))
        for extra in range(4):
            deep = plain(deepen(net, net.depth + extra))
            assert deep.widths == (*widths[:-1], *[4] * extra, 2)
            np.testing.assert_allclose(deep(x), plain(net)(x), rtol=1e-12, atol=1e-11)
