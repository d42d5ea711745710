"""The network of least cost with given kinks: its function, its cost, and wrong input."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from rankcheck.balls import BallArray
from rankcheck.witnesses import kink_network
from tests.draws import normal


@pytest.mark.oracle("rankcheck.witnesses.kink_network", "numpy.interp, scipy's least cost")
def test_the_network_is_the_function_and_no_scaling_is_cheaper():
    kinks, jumps = normal(0, 20, 4).cumsum(-1).sort(-1).values, normal(1, 20, 4)
    net = kink_network(kinks, jumps)
    x = np.linspace(-9, 9, 50)
    values = net(torch.from_numpy(np.broadcast_to(x[:, None], (20, 50, 1)).copy())).squeeze(-1)
    for t, J, f in zip(kinks.numpy(), jumps.numpy(), values.numpy(), strict=True):
        ends = np.array([t[0] - 100, *t, t[-1] + 100])
        knots = np.cumsum([0, 0, *np.cumsum(J) * np.diff(ends[1:])])
        np.testing.assert_allclose(f, np.interp(x, ends, knots), atol=1e-10)
    for t, J in zip(kinks[0].tolist(), jumps[0].tolist(), strict=True):
        alone = kink_network(*torch.tensor([[t], [J]], dtype=torch.float64))
        # The unit (J/w)[w x − w t]_+ has the same function for every w > 0.
        best = minimize_scalar(
            lambda s, t=t, J=J: (J**2 * np.exp(-2 * s) + np.exp(2 * s) * (1 + t**2)) / 2
        )
        assert alone.cost().item() / 2 == pytest.approx(best.fun, rel=1e-9)


def test_no_jump_gives_a_zero_unit_also_on_balls():
    net = kink_network(BallArray.exact([[0.75]]), BallArray.exact([[0.0]]))
    assert (net.cost() == 0).all()
    net = kink_network(BallArray.exact([0.75]), BallArray.exact([0.8]))
    assert net.batch == ()
    assert net.widths == (1, 1, 1)


def test_errors_say_the_rule():
    with pytest.raises(ValueError, match=r"both are \(\*B, K\) with K >= 1"):
        kink_network(torch.zeros(2), torch.zeros(3))
    with pytest.raises(ValueError, match=r"both are \(\*B, K\) with K >= 1"):
        kink_network(torch.zeros(0), torch.zeros(0))
