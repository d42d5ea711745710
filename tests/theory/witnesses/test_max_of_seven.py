"""The maximum of seven numbers by maxima of three and of two."""

import numpy as np
import pytest
import torch

from rankcheck.balls import balls
from rankcheck.witnesses import MAX_OF_SEVEN, MaxIdentity, MaxSum, MaxTerm, is_maximum


def test_it_is_the_maximum_by_another_count():
    """All numbers between −1 and 1, in numpy."""
    x = np.array(np.meshgrid(*[[-1, 0, 1]] * 7)).reshape(7, -1)
    total = np.zeros(x.shape[1], dtype=np.int64)
    for term in MAX_OF_SEVEN.terms:
        sides = [sum(x[list(s)].max(0) for s in side) for side in (term.left, term.right)]
        total += int(2 * term.coefficient) * np.maximum(*sides)
    assert (total == 2 * x.max(0)).all()


def test_its_layers():
    assert MAX_OF_SEVEN.rank == 3
    assert len(MAX_OF_SEVEN.expanded) == 13
    assert len(MAX_OF_SEVEN.sets) == 19
    assert MAX_OF_SEVEN.denominator == 2


def test_so_is_its_mean_over_permutations():
    assert is_maximum(MaxIdentity(7, MAX_OF_SEVEN.terms))


@pytest.mark.parametrize("place", range(13))
def test_every_term_is_needed(place):
    terms = MAX_OF_SEVEN.terms
    assert not is_maximum(MaxSum(7, terms[:place] + terms[place + 1 :]))


def test_a_sum_is_taken_as_it_stands():
    """No mean; equal terms are merged, and what cancels is left out."""
    pair, other = MaxTerm("1/2", [(0, 1)], [(2,)]), MaxTerm(1, [(0,)], [(2,)])
    total = MaxSum(3, (pair, other, pair, MaxTerm(-1, [(2,)], [(0,)])))
    assert total.expanded == (MaxTerm(1, [(0, 1)], [(2,)]),)
    x = torch.tensor([[1.0, 2.0, 3.0], [3.0, 5.0, 4.0]])
    assert total(x).tolist() == [3.0, 5.0]
    assert total(balls(x)).midpoints().tolist() == [3.0, 5.0]


def test_a_position_that_does_not_exist():
    with pytest.raises(ValueError, match="position 3 and n = 3"):
        MaxSum(3, (MaxTerm(1, [(0,)], [(3,)]),))
