"""What is counted of the instances of a batch."""

import pytest
import torch

from rankcheck import leq
from rankcheck.claims.claim import ClaimError
from rankcheck.engine.verification.reach import reached
from rankcheck.networks import Network

ALL = torch.tensor([True, True, True])


def net():
    """Three linear maps of the plane, of ranks 2, 1 and 0."""
    W = torch.tensor([[[1.0, 0], [0, 1]], [[1, 1], [1, 1]], [[0, 0], [0, 0]]]).double()
    return Network.linear([W], 0.0)


def body(net, A, x):
    return leq(x, x)


def of(declare, instance, valid=ALL, **attributes):
    claim = declare(body, None, **attributes)
    return reached(claim, instance, (3,), valid)


def test_a_matrix_behind_a_network_counts_unless_it_is_its_inputs(declare):
    A = torch.diag_embed(torch.tensor([[1.0, 0, 0], [1, 2, 0], [1, 2, 3]]).double())
    x = torch.zeros(3, 2).double()
    found = of(declare, (net(), A, x))
    assert found == {
        "depth of net": {1: 3},
        "rank of A": {1: 1, 2: 1, 3: 1},
        "entries of x": {2: 3},
    }
    points = torch.zeros(3, 5, 2).double()  # five inputs of the network for each instance
    found = of(declare, (net(), points, x))
    assert found["rank of Jnet(A)"] == {0: 1, 1: 1, 2: 1}
    assert "rank of A" not in found


def test_rejected_instances_do_not_count(declare):
    found = of(declare, (net(), 4, torch.zeros(3).double()), torch.tensor([True, False, False]))
    assert found == {"depth of net": {1: 1}, "A": {4: 1}}


@pytest.mark.parametrize(
    "returned", [3, {1: 2}, {"a": 0.5}, {"a": torch.tensor([1, 2])}, {"a": "b"}, {"a": None}]
)
def test_what_reach_has_to_return(declare, returned):
    with pytest.raises(ClaimError, match="it returns"):
        of(declare, (net(), 4, torch.zeros(3)), reach=lambda *parts: returned)
