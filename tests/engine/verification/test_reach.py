"""What is counted of the instances of a batch."""

import pytest
import torch

from rankcheck import leq
from rankcheck.claims.claim import ClaimError
from rankcheck.engine.verification.evaluation import Part
from rankcheck.engine.verification.reach import reached
from rankcheck.networks import Network
from rankcheck.theory.instances.record import Entries, Record
from rankcheck.theory.instances.source import instances

ALL = torch.tensor([True, True, True])
#: Three linear maps of the plane, of ranks 2, 1 and 0.
MAPS = torch.tensor([[[1.0, 0], [0, 1]], [[1, 1], [1, 1]], [[0, 0], [0, 0]]]).double()
RANKS = torch.diag_embed(torch.tensor([[1.0, 0, 0], [1, 2, 0], [1, 2, 3]]).double())


@instances
def parts(source, *, shape):
    net = Network.linear([source.tensor(2, 2)])
    return net, source.tensor(*shape) if shape else 4, source.tensor(2)


def body(net, A, x):
    return leq(x, x)


def of(declare, *arrays, shape=(3, 3), valid=ALL, **attributes):
    """What three instances reach."""
    entries = [Entries(a, tuple(a.shape[1:]), -8.0, 8.0) for a in (MAPS, *arrays, 0 * MAPS[:, 0])]
    family = parts(shape=shape)
    part = Part(family, Record(tuple(entries)), torch.arange(3), valid, ())
    return reached(declare(body, family, **attributes), part)


def test_a_matrix_behind_a_network_counts_unless_it_is_its_inputs(declare):
    found = of(declare, RANKS)
    assert found == {
        "depth of net": {1: 3},
        "rank of A": {1: 1, 2: 1, 3: 1},
        "entries of x": {2: 3},
    }
    points = torch.zeros(3, 5, 2).double()  # five inputs of the network for each instance
    found = of(declare, points, shape=(5, 2), id="t.points")
    assert found["rank of Jnet(A)"] == {0: 1, 1: 1, 2: 1}
    assert "rank of A" not in found


def test_rejected_instances_do_not_count(declare):
    found = of(declare, shape=(), valid=torch.tensor([True, False, False]))
    assert found == {"depth of net": {1: 1}, "A": {4: 1}, "entries of x": {2: 1}}


def test_what_a_claim_counts_may_read_values(declare):
    """The body is mapped; what reads a value is counted one instance at a time."""

    def counted(net, A, x):
        return {"largest": round(A.amax().item()), "trace": A.diagonal().sum().long()}

    found = of(declare, RANKS, reach=counted)
    assert found["largest"] == {1: 1, 2: 1, 3: 1}
    assert found["trace"] == {1: 1, 3: 1, 6: 1}
    assert found["rank of A"] == {1: 1, 2: 1, 3: 1}


@pytest.mark.parametrize(
    "returned", [3, {1: 2}, {"a": 0.5}, {"a": torch.tensor([1, 2])}, {"a": "b"}, {"a": None}]
)
def test_what_reach_has_to_return(declare, returned):
    with pytest.raises(ClaimError, match="it returns"):
        of(declare, RANKS, reach=lambda *parts: returned)
