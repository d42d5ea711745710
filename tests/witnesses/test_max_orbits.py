"""One maximum of two sums of each orbit of permutations."""

import itertools

import pytest

from rankcheck.witnesses import MaxTerm, term_orbits


def images(n, term):
    """By MaxTerm.permuted, one permutation after the other."""
    return frozenset(
        (t.left, t.right) for t in map(term.permuted, itertools.permutations(range(n)))
    )


@pytest.mark.oracle("rankcheck.witnesses.term_orbits", "itertools.permutations of each pair")
@pytest.mark.parametrize(
    ("n", "rank", "summands", "smallest"), [(3, 2, 2, 1), (4, 2, 2, 2), (4, 3, 1, 1), (4, 1, 3, 1)]
)
def test_one_of_each_orbit(n, rank, summands, smallest):
    sets = [s for k in range(smallest, rank + 1) for s in itertools.combinations(range(n), k)]
    sums = [*itertools.combinations_with_replacement(sets, summands)]
    every = {
        images(n, MaxTerm(1, left, right))
        for left in sums
        for right in sums
        if left == right or not {*left} & {*right}
    }
    found = [images(n, term) for term in term_orbits(n, rank, summands, smallest)]
    assert len(found) == len({*found})
    assert {*found} == every


def test_bad_input():
    for arguments in [(3, 4, 1), (3, 2, 0), (3, 2, 1, 3), (3, 2, 1, 0)]:
        with pytest.raises(ValueError, match="1 <= smallest <= rank <= n and summands >= 1"):
            term_orbits(*arguments)
    with pytest.raises(ValueError, match=r"received 43680 sums and 5040 permutations.*fewer"):
        term_orbits(7, 3, 3)
