"""Identities of maxima against loops over permutations, and their networks on every region."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.balls import balls
from rankcheck.regions import regions
from rankcheck.theory.witnesses.maxima import MaxIdentity, MaxTerm
from rankcheck.theory.witnesses.maxima_by_pairs import maximum_by_pairs
from rankcheck.theory.witnesses.maxima_on_orders import is_maximum

from ._plain import plain


def mean_by_hand(identity, x):
    """The mean over all permutations, in fractions."""
    total, count = Fraction(0), 0
    for order in itertools.permutations(range(identity.n)):
        count += 1
        for term in identity.terms:
            left, right = (
                sum(max(x[order[i]] for i in s) for s in side) for side in (term.left, term.right)
            )
            total += term.coefficient * max(left, right)
    return total / count


MAX_OF_FIVE = maximum_by_pairs(5)
SMALL = MaxIdentity(
    4,
    (
        MaxTerm(Fraction(2, 3), [(0, 1)], [(2, 3)]),
        MaxTerm("-1/5", [(0, 1), (0, 1)], [(0, 2), (1, 2)]),
        MaxTerm(3, [(0,), (1, 2)], [(3,), (3, 0)]),
    ),
)


def test_a_mean_over_permutations_by_hand():
    rng = np.random.default_rng(0)
    for identity, count in ((SMALL, 12), (MAX_OF_FIVE, 3)):
        for x in rng.integers(-9, 10, (count, identity.n)).tolist():
            expected = identity.denominator * mean_by_hand(identity, x)
            assert identity(torch.tensor(x, dtype=torch.float64)).item() == expected
            at_balls = identity(balls(torch.tensor(x, dtype=torch.float64)))
            assert str(at_balls.elements.item()) == str(expected)


def test_batches_are_point_by_point():
    x = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    values = SMALL(x)
    assert values.shape == (2, 3)
    assert torch.equal(values[1, 2], SMALL(x[1, 2]))


def test_the_coefficients_of_five_numbers():
    found = {(t.left, t.right): t.coefficient for t in MAX_OF_FIVE.expanded}
    assert len(found) == 105
    assert MAX_OF_FIVE.denominator == 60
    counts = {c: sum(one == c for one in found.values()) for c in set(found.values())}
    assert counts == {
        Fraction(1, 10): 15,
        Fraction(1, 30): 15,
        Fraction(1, 60): 15,
        Fraction(-1, 60): 60,
    }
    assert sum(t.coefficient * len(t.left) for t in MAX_OF_FIVE.expanded) == 1


def test_networks_have_the_value_of_their_identity_in_numpy():
    rng = np.random.default_rng(1)
    for identity in (SMALL, MAX_OF_FIVE, MaxIdentity(2, (MaxTerm(1, [(0,)], [(1,)]),))):
        net = plain(identity.network())
        assert not net.slope
        assert all(np.array_equal(w, np.round(w)) for w in net.weights)
        x = rng.integers(-20, 21, (40, identity.n)).astype(float)
        expected = identity(torch.from_numpy(x)).numpy()
        assert np.array_equal(net(x)[:, 0], expected)
    assert net.widths == (2, 4, 5, 1)
    assert MAX_OF_FIVE.network().widths == (5, 22, 109, 1)


def test_the_network_is_the_maximum_on_each_of_its_regions():
    """All 480 of them in exact arithmetic; without biases, those of a box are all of R^5."""
    net = MAX_OF_FIVE.network()
    assert not any(b.any() for b in net.biases)
    cells = regions(net, -1, 1, exact=True)
    assert len(cells) == 480  # orders, the sign of the sum, and x_1 + x_4 against x_2 + x_3
    assert cells.volume().sum() == pytest.approx(2**5)
    for k in range(len(cells)):
        [gradient] = cells.exact_jacobian(k).tolist()
        [place] = [i for i, entry in enumerate(gradient) if entry != 0]
        assert gradient[place] == 60
        assert not cells.offsets[k].any()
        assert all(vertex[place] == max(vertex) for vertex in cells.exact_vertices(k))


def test_the_identity_is_the_maximum_on_an_order():
    assert is_maximum(MAX_OF_FIVE)
    first, *rest = MAX_OF_FIVE.terms
    other = MaxTerm(first.coefficient + 1, first.left, first.right)
    assert not is_maximum(MaxIdentity(5, (other, *rest)))


def test_what_is_no_identity_is_refused():
    with pytest.raises(ValueError, match=r"received the coefficient 0\.5, a float"):
        MaxTerm(0.5, [(0,)], [(1,)])
    with pytest.raises(ValueError, match=r"received the side \(\); it is one set"):
        MaxTerm(1, [], [(1,)])
    for bad in ((), (-1,), (0, 0)):
        with pytest.raises(ValueError, match="different positions >= 0"):
            MaxTerm(1, [bad], [(1,)])
    with pytest.raises(ValueError, match="received no term"):
        MaxIdentity(3, ())
    with pytest.raises(ValueError, match="received position 3 and n = 3"):
        MaxIdentity(3, (MaxTerm(1, [(0,)], [(3,)]),))
    with pytest.raises(ValueError, match="received 4 numbers; the identity is one of 5"):
        MAX_OF_FIVE(torch.zeros(4, dtype=torch.float64))


def test_what_is_no_network_of_pairs_is_refused():
    with pytest.raises(ValueError, match="received maxima of 3 numbers"):
        MaxIdentity(3, (MaxTerm(1, [(0, 1, 2)], [(0,)]),)).network()
    with pytest.raises(ValueError, match="equally many sets"):
        MaxIdentity(3, (MaxTerm(1, [(0, 1), (2,)], [(0,)]),)).network()
