"""The rank of a Jacobian over all regions, as a proof: on balls that are exactly floats."""

import pytest
import torch

from rankcheck import leq
from rankcheck.balls import BallArray, NoBallForm
from rankcheck.engine.counterexamples.judge import judge
from rankcheck.instances import read_choices
from rankcheck.networks import Network
from rankcheck.regions import jacobian_rank, regions
from rankcheck.theory.instances.source import instances


def exactly(net):
    return net.map_arrays(BallArray.exact)


def folded(rows):
    weights = torch.tensor(rows, dtype=torch.float64), torch.ones(2, 2, dtype=torch.float64)
    return Network.linear(weights)


@pytest.mark.parametrize(("rows", "rank"), [([[1, 0], [0, 1]], 1), ([[0, 0], [0, 0]], 0)])
def test_the_rank_is_that_of_the_floats(rows, rank):
    net = folded(rows)
    proved = jacobian_rank(exactly(net), -1, 1)
    assert proved == jacobian_rank(net, -1, 1, exact=True)
    assert (proved.rank, proved.gap) == (rank, float("inf"))
    assert len(regions(exactly(net), -1, 1)) == len(regions(net, -1, 1))


def test_the_corners_may_be_balls():
    low, high = (BallArray.exact(torch.full((2,), x, dtype=torch.float64)) for x in (-1.0, 1.0))
    assert jacobian_rank(exactly(folded([[1, 0], [0, 1]])), low, high).rank == 1


@pytest.mark.parametrize("entry", [BallArray.exact([2.0]).sqrt(), BallArray.exact([1]) / 3])
def test_what_is_no_float_has_no_regions(entry):
    weights = (entry.reshape(1, 1), BallArray.exact([[1.0]]))
    biases = (BallArray.exact([0.0]), BallArray.exact([0.0]))
    with pytest.raises(NoBallForm, match="drawn entries"):
        jacobian_rank(Network(weights, biases), -1, 1)


def test_a_claim_about_the_rank_is_certified(declare):
    """That two layers of width two have rank at most one is false, and proved to be."""

    @instances
    def networks(source):
        return Network.linear((source.tensor(2, 2), source.tensor(2, 2)))

    def body(net):
        return leq(jacobian_rank(net, -1, 1).rank, 1)

    claim = declare(body, networks())
    identities = read_choices(networks(), [[[1, 0], [0, 1]], [[1, 0], [0, 1]]])
    assert judge(claim, identities).finding == "refuted"
    equal = read_choices(networks(), [[[1, 0], [1, 0]], [[1, 0], [0, 1]]])
    assert judge(claim, equal).finding == "satisfied"
