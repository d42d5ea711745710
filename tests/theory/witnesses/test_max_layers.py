"""Maxima in few layers: the printed number by logarithms, and the networks on whole numbers."""

from decimal import ROUND_CEILING, Decimal, localcontext

import numpy as np
import pytest

from rankcheck.theory.witnesses.max_layers import least_hidden_layers, maximum_of
from rankcheck.theory.witnesses.piecewise_linear import binary_tree

from ._plain import plain


@pytest.mark.oracle("rankcheck.witnesses.least_hidden_layers", "decimal.Decimal.ln, 60 digits")
def test_the_printed_number_of_layers():
    with localcontext() as context:
        context.prec = 60
        for n in (*range(4, 400), *(3**k + 2 + shift for k in (20, 30, 40) for shift in (-1, 1))):
            if n - 2 in {3**k for k in range(7)}:
                continue  # the quotient of logarithms is whole, and may be rounded up
            logarithm = Decimal(n - 2).ln() / Decimal(3).ln()
            expected = int(logarithm.to_integral_value(ROUND_CEILING)) + 1
            assert least_hidden_layers(n) == expected
    assert [least_hidden_layers(3**k + 2) for k in range(1, 60)] == [k + 1 for k in range(1, 60)]
    assert [least_hidden_layers(n) for n in (1, 2, 3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="received n = 0"):
        least_hidden_layers(0)


@pytest.mark.oracle("rankcheck.witnesses.maximum_of", "numpy.max")
def test_the_maximum_in_few_layers_on_whole_numbers():
    rng = np.random.default_rng(0)
    for n in (*range(1, 31), 50, 51, 72):
        maximum = maximum_of(n)
        x = rng.integers(-20, 21, (20, n)).astype(float)
        net = plain(maximum.network())
        assert np.array_equal(net(x)[:, 0], maximum.times * x.max(-1))
        assert len(net.weights) - 1 == maximum.hidden_layers == least_hidden_layers(n)
        assert all(np.array_equal(w, np.round(w)) for w in net.weights)


def test_where_blocks_do_not_reach_is_said():
    with pytest.raises(ValueError, match=r"received n = 73; with 5 hidden layers, .* reach n = 72"):
        maximum_of(73)


def test_a_tree_of_pairs_takes_more_layers():
    assert [binary_tree(n).hidden_layers - maximum_of(n).hidden_layers for n in (4, 5, 9, 25)] == [
        0,
        1,
        1,
        1,
    ]
