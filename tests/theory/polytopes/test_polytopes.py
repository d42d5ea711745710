"""Exact polytopes against Qhull, and classes against edges that were counted by hand."""

import random
from fractions import Fraction
from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from flint import fmpq
from scipy.spatial import ConvexHull

from rankcheck.theory.polytopes.flags import (
    combined,
    fan_class,
    flag_class,
    graphs,
    on_graph,
    power,
    twisted,
)
from rankcheck.theory.polytopes.polytope import (
    cut,
    dual,
    facets,
    fan,
    image,
    minkowski,
    moment,
    support,
    triangulation,
    wedge,
)

SHAPES = [(2, 5), (2, 9), (3, 4), (3, 7), (3, 12), (4, 6), (4, 9)]


def drawn(m, number, seed=0):
    """Integer points, some of them inside."""
    random_numbers = random.Random(seed + 100 * m + number)
    return [tuple(random_numbers.randint(-4, 4) for _ in range(m)) for _ in range(number)]


def volume(P):
    """m! times the volume of P."""
    return moment(P, (0,) * len(P[0]), 0)


@pytest.mark.parametrize(("m", "number"), SHAPES)
def test_facets_are_those_of_qhull(m, number):
    for seed in range(4):
        P = drawn(m, number, seed)
        hull = ConvexHull(np.array(P))
        planes = {tuple(np.round(e / np.abs(e).max(), 9)) for e in hull.equations}
        found = facets(P)
        assert len(found) == len(planes)
        for form, F in found:
            level = support(P, form)
            assert {sum(a * b for a, b in zip(form, p, strict=True)) for p in F} == {level}
            scaled = np.array([*form, -level], dtype=float)
            assert min(np.abs(scaled / np.abs(scaled).max() - e).max() for e in planes) < 1e-8


@pytest.mark.parametrize(("m", "number"), SHAPES)
def test_triangulations_have_the_volume_of_qhull(m, number):
    P = drawn(m, number)
    size = ConvexHull(np.array(P)).volume * factorial(m)
    assert float(Fraction(int(volume(P).p), int(volume(P).q))) == pytest.approx(size)


@pytest.mark.parametrize("k", range(6))
def test_moments_by_hand(k):
    """∫ x^k over [0, 2]^3, over a triangle by Beta integrals, over a rational segment."""
    cube = list(product((0, 2), repeat=3))
    assert moment(cube, (1, 0, 0), k) == fmpq(factorial(k + 3) * 2 ** (k + 3), factorial(k + 1))
    assert moment([(0, 0), (1, 0), (0, 1)], (1, 0), k) == 1
    assert moment([(fmpq(1, 2),), (2,)], (1,), k) == fmpq(4 ** (k + 1) - 1, 2 ** (k + 1))


@pytest.mark.parametrize(("m", "number"), SHAPES)
def test_moments_are_additive(m, number):
    P, (form, other) = drawn(m, number), drawn(m, 2, seed=9)
    assert sum(moment(part, form, 3) for part in cut(P, other, 1)) == moment(P, form, 3)


def test_flat_and_empty_polytopes_have_no_facets():
    assert (
        facets([]) == facets([(1, 2)]) == facets([(0, 0, 0), (1, 1, 0), (2, 0, 0), (0, 3, 0)]) == []
    )
    assert flag_class([(0, 0), (1, 1), (3, 3)]) == {}
    assert triangulation([(1, 2)]) == triangulation([(0, 0), (1, 1), (3, 3)]) == []


def test_facets_are_in_lowest_terms_and_of_rational_polytopes():
    triangle = [(0, 0), (fmpq(1, 2), 0), (0, fmpq(1, 3))]
    assert {form for form, _ in facets(triangle)} == {(-1, 0), (0, -1), (2, 3)}


@pytest.mark.parametrize(("m", "number"), SHAPES)
def test_the_parts_of_a_cut(m, number):
    P = drawn(m, number)
    form, level = drawn(m, 1, seed=7)[0], fmpq(1, 2)
    below, above = cut(P, form, level)
    assert support(below, form) == level == -support(above, [-c for c in form])
    assert volume(below) + volume(above) == volume(P)


def test_the_parts_of_a_flat_polytope():
    below, above = cut([(0, 0), (2, 2)], (1, 0), 1)
    assert {*below} == {(0, 0), (1, 1)}
    assert {*above} == {(1, 1), (2, 2)}


def test_a_cut_of_a_square_has_no_points_inside():
    square = minkowski([(0, 0), (2, 0)], [(0, 0), (0, 2)])
    below, _ = cut(square, (1, 0), 1)
    assert sorted(below) == [(0, 0), (0, 2), (1, 0), (1, 2)]


def test_pyramids_and_dual_forms():
    _, P, _ = next(fan([(1, 0), (0, 1)]))
    assert sorted(P) == [(0, 0), (1, 0), (1, 1)]
    assert dual([(2, 0), (1, 1)]) == [(fmpq(1, 2), fmpq(-1, 2)), (0, 1)]
    for form, P, _ in fan([(2, 0, 1), (1, 1, 0), (0, 0, 3)]):
        assert support(P, form) == 1
        assert volume(P) == 2 * 6  # a third of 3!·|det|


@pytest.mark.parametrize(
    "basis", [[(-3,)], [(2, 1), (1, 1)], [(2, 0, 1), (1, 1, 0), (0, 0, 3)], np.eye(4, dtype=int)]
)
def test_the_facets_of_pyramids_are_those_of_their_points(basis):
    basis = [tuple(map(int, e)) for e in basis]
    for _, P, known in fan(basis):
        found = dict(facets(P))
        assert {F for _, F in known} == {*found.values()}
        for form, F in known:
            (outer,) = (f for f, G in found.items() if G == F)
            ratios = {fmpq(c) / d for c, d in zip(form, outer, strict=True) if d}
            assert [c for c, d in zip(form, outer, strict=True) if not d and c] == []
            assert len(ratios) == 1
            assert min(ratios) > 0


def test_upper_and_lower_facets():
    """Of the triangle (0, 0), (1, 0), (1, 2) the edge x = 1 is parallel to the last coordinate."""
    found = {(sign, h): F for sign, h, F in graphs(facets([(0, 0), (1, 0), (1, 2)]))}
    assert found == {(1, (2,)): {(0, 0), (1, 2)}, (-1, (0,)): {(0, 0), (1, 0)}}
    assert on_graph((1, 2, 3), (4, 5)) == (13, 17)


def test_images():
    assert image([[0, 1], [1, 0], [1, 1]], [(2, 5)]) == [(5, 2, 7)]


def test_a_wedge_is_above_and_below():
    up, down = wedge([(-1,), (2,)], [3])
    assert volume(up) == 2 * 6
    assert 2 * volume(down) == 2 * 3
    assert support(down, (0, 1)) == 0


def test_the_class_of_a_triangle_by_hand():
    """Upper edges minus lower edges, with their slopes and their lengths in x."""
    assert flag_class([(0, 0), (3, 0), (1, 2)]) == {
        ((0,),): -3,
        ((2,),): 1,
        ((-1,),): 2,
    }


def test_the_class_of_a_simplex_by_hand():
    """Of conv(0, e_i) the upper facet has the slope (−1, −1), the lower one (0, 0)."""
    expected = {((-1, -1), (-1,)): 1, ((-1, -1), (0,)): -1, ((0, 0), (-1,)): -1, ((0, 0), (0,)): 1}
    assert flag_class([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]) == expected


@pytest.mark.parametrize("m", [2, 3, 4])
def test_a_cube_is_zero_and_its_simplices_are_not(m):
    assert flag_class(product((0, 1), repeat=m)) == {}
    simplices = [
        flag_class([tuple(int(i in order[:r]) for i in range(m)) for r in range(m + 1)])
        for order in permutations(range(m))
    ]
    assert all(simplices)
    assert combined(*((1, s) for s in simplices)) == {}


@pytest.mark.parametrize("m", [2, 3, 4])
def test_a_larger_polytope_has_the_class_of_a_larger_one(m):
    """[2P] = 2[P], for h_{2P} = 2 h_P."""
    P = drawn(m, m + 2)
    assert flag_class([tuple(2 * c for c in p) for p in P]) == combined((2, flag_class(P)))


def test_polynomials():
    assert power((1, -3), 2) == {(0, 0): 1, (0, 1): -6, (1, 1): 9}
    assert power((5,), 0) == {(): 1}
    assert twisted({"x": 2}, {"P": 3, "Q": -1}) == {("x", "P"): 6, ("x", "Q"): -2}


def test_the_fan_of_the_plane_by_hand():
    """θ_1 = x ⊗ [0, e_1, e_1 + e_2] + y ⊗ [0, e_2, e_1 + e_2], the second is minus the first."""
    first = flag_class([(0, 0), (1, 0), (1, 1)])
    assert fan_class([(1, 0), (0, 1)], 1) == twisted({(0,): 1, (1,): -1}, first)
    assert fan_class([(1, 0), (0, 1)], 0) == {}
