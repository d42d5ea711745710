"""Networks of arrays that do not fit: a rule in words, or a network that computes."""

import torch
from hypothesis import strategies as st

from rankcheck.balls import BallArray
from rankcheck.networks import Network

from .cases import cases, refused
from .strategies import SLOPES, STRANGE, arrays

KINDS = (TypeError, ValueError)
POINTS = ("__call__", "jacobian", "pattern", "boundary_distance", "is_differentiable_at")
PARTNERS = ("after", "merged_after", "parallel", "add")
MAKERS = (Network, Network.of, Network.unchecked_slope)


@cases(
    100,
    weights=st.tuples(arrays(3, 2), arrays(1, 3)) | STRANGE,
    biases=st.tuples(arrays(3), arrays(1)) | STRANGE,
    slope=SLOPES,
    make=st.sampled_from(MAKERS),
)
def test_a_network_is_made_or_the_rule_is_said(weights, biases, slope, make):
    made = []
    refused(KINDS, lambda: Network.linear(weights, slope))
    refused(KINDS, lambda: made.append(make(weights, biases, slope)))
    for net in made:
        assert all(w.ndim >= 2 for w in net.weights)
        assert [w.shape[:-1] for w in net.weights] == [b.shape for b in net.biases]
        floats = [a for a in (*net.weights, *net.biases) if not isinstance(a, BallArray)]
        assert all(bool(torch.isfinite(a).all()) for a in floats)
        if make is not Network.unchecked_slope:
            assert bool(torch.as_tensor(abs(net.slope) < 1).all())
        assert net(torch.ones(*net.batch, net.widths[0], dtype=torch.float64)) is not None


@cases(50, x=arrays(2) | arrays(4, 2), method=st.sampled_from(POINTS + PARTNERS))
def test_points_and_partners_fit_or_the_rule_is_said(x, method):
    net = Network.of([[[1, 2], [0, 1], [-1, 1]], [[1, 1, 1]]])
    refused(KINDS, lambda: getattr(net, method)(x))


def test_what_is_not_a_number_is_no_place_where_a_network_is_differentiable():
    net = Network.of([[[1]], [[1]]])
    x = torch.tensor([[float("nan")], [1.0], [0.0]], dtype=torch.float64)
    assert net.is_differentiable_at(x).tolist() == [False, True, False]
