"""Crossings of paths against exact linear systems, and on cases that are known."""

from fractions import Fraction

import numpy as np
import pytest

from rankcheck.theory.data.crossings import crossing_angles


def exactly_cross(a, b, c, d):
    """Whether a + s(b − a) = c + t(d − c) has one solution, with s and t in (0, 1): by Cramer."""
    a, b, c, d = ([Fraction(float(x)) for x in point] for point in (a, b, c, d))
    (ux, uy), (vx, vy) = ((e[0] - s[0], e[1] - s[1]) for s, e in ((a, b), (c, d)))
    (wx, wy) = c[0] - a[0], c[1] - a[1]
    determinant = uy * vx - ux * vy
    if determinant == 0:
        return False
    s, t = (vx * wy - vy * wx) / determinant, (ux * wy - uy * wx) / determinant
    return 0 < s < 1 and 0 < t < 1


def pairs_by_brute_force(paths):
    count, length = paths.shape[:2]
    return {
        (i, j)
        for i in range(count)
        for j in range(i + 1, count)
        if any(
            exactly_cross(*paths[i, k : k + 2], *paths[j, m : m + 2])
            for k in range(length - 1)
            for m in range(length - 1)
        )
    }


@pytest.mark.oracle("rankcheck.data.crossing_angles", "linear systems in exact fractions")
def test_pairs_against_exact_linear_systems():
    rng = np.random.default_rng(5)
    smooth = rng.normal(size=(12, 4, 2)).cumsum(1)
    # On a small grid segments touch, share ends and lie on one line all the time.
    grid = rng.integers(0, 4, size=(14, 4, 2)).astype(float)
    shifted = grid * 0.1 + 1e9  # the differences of these coordinates are rounded grids
    near = np.stack((grid[..., 0], grid[..., 0] + rng.integers(-1, 2, (14, 4)) * 2.0**-52), -1)
    found = 0
    for paths in (smooth, grid, shifted, near, near + 0.1):
        pairs = set(crossing_angles(paths))
        assert pairs == pairs_by_brute_force(paths)
        found += len(pairs)
    assert found > 40


def test_signs_that_floats_get_wrong_are_decided_exactly():
    """The middle of a segment, moved by less than the determinant of floats can see."""
    a, b = np.array([0.1, 0.1]), np.array([0.3, 0.3])
    below = np.array([0.2, np.nextafter(0.2, 0)])
    for c in (below, below[::-1]):
        away = np.array([1.0, -1.0]) if c[0] < c[1] else np.array([-1.0, 1.0])
        stroke = np.array([c, c + away])
        assert set(crossing_angles(np.array([[a, b], stroke]))) == {(0, 1)}
        other = np.array([c, c - away])
        assert not crossing_angles(np.array([[a, b], other]))


def test_angles_are_those_of_complex_numbers():
    for degrees in (1, 30, 90, 135, 179):
        turned = np.exp(1j * np.radians(degrees))
        line = np.array([[-1.0, 0.0], [1.0, 0.0]])
        stroke = np.array([[-turned.real, -turned.imag], [turned.real, turned.imag]])
        assert crossing_angles(np.array([line, stroke])) == {(0, 1): pytest.approx(degrees)}


def test_the_largest_angle_of_several_crossings_counts():
    flat = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]])
    wave = np.array([[0.5, -0.1], [1.5, 0.1], [1.6, -5.0]])
    (angle,) = crossing_angles(np.array([flat, wave])).values()
    assert angle == pytest.approx(np.degrees(np.arctan2(5.1, 0.1)))


def test_touching_is_no_crossing_and_one_point_is_no_path():
    line = np.array([[0.0, 0.0], [1.0, 0.0]])
    for other in ([[0.5, 0.0], [0.5, 1.0]], [[1.0, 0.0], [2.0, 3.0]], [[0.5, 0.0], [2.0, 0.0]]):
        assert not crossing_angles(np.array([line, np.array(other)]))
    assert not crossing_angles(np.zeros((3, 1, 2)))
    assert not crossing_angles(np.zeros((0, 4, 2)))
    assert not crossing_angles(np.zeros((3, 4, 2)))


@pytest.mark.parametrize(
    "paths", [np.zeros((2, 3)), np.zeros((2, 3, 3)), np.full((2, 2, 2), np.nan)]
)
def test_what_is_no_path_is_refused(paths):
    with pytest.raises(ValueError, match="paths"):
        crossing_angles(paths)
