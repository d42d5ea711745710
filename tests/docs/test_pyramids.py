"""The figure of the pyramids in the cube: what is drawn is what the proof says of them."""

import importlib
import sys
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay

from .pages import DOCS

sys.path.insert(0, str(DOCS / "_ext"))
pyramids = importlib.import_module("pyramids")
PARTS = [pyramids.facets(i) for i in range(3)]


def corners(i):
    """The corners of a pyramid, without repetition."""
    return np.unique([x for part in PARTS[i] for x in part], axis=0)


def normal(part):
    """A normal vector of a facet; all their planes contain 0 but those of the bases."""
    return np.cross(part[1] - part[0], part[2] - part[0])


def test_three_pyramids_of_a_third_fill_the_cube():
    hulls = [ConvexHull(corners(i)) for i in range(3)]
    assert [hull.volume for hull in hulls] == pytest.approx([1 / 3] * 3)
    for i, hull in enumerate(hulls):  # its facets, two triangles for the base, are those drawn
        assert sum(len(part) - 2 for part in PARTS[i]) == len(hull.simplices)
    points = np.random.default_rng(0).uniform(size=(1000, 3))
    inside = np.array([Delaunay(corners(i)).find_simplex(points) >= 0 for i in range(3)])
    np.testing.assert_array_equal(np.argmax(inside, axis=0), points.argmax(axis=1))
    assert (inside.sum(axis=0) == 1).all()


def test_the_first_two_share_one_facet_and_the_third_has_none_in_its_plane():
    triangles = [{frozenset(map(tuple, part)) for part in PARTS[i]} for i in range(3)]
    common = frozenset(map(tuple, pyramids.COMMON))
    assert triangles[0] & triangles[1] == {common}
    assert not any({x[0] - x[1] for x in part} == {0} for part in PARTS[2])


def test_the_vectors_isolate_the_common_facet():
    """As the proof wants them: f(w) = 0 or f(v) ≠ 0 for each other plane f of a facet."""
    v, w = pyramids.V, pyramids.W
    planes = [normal(part) for parts in PARTS for part in parts]
    isolated = [f for f in planes if f @ w != 0 and f @ v == 0]
    assert len(isolated) == 2  # of the first and of the second pyramid
    for f, g in combinations([*isolated, np.array([1.0, -1.0, 0.0])], 2):
        np.testing.assert_array_equal(np.cross(f, g), 0)


def test_the_directions_on_the_page_are_orthonormal():
    frame = np.array([pyramids.RIGHT, pyramids.UP, pyramids.READER])
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(frame) == pytest.approx(1)


def test_all_of_it_is_in_the_picture():
    [(name, text)] = pyramids.files().items()
    assert (DOCS / "proofs" / name).read_text("utf-8") == text
    root = ElementTree.fromstring(text)
    _, _, wide, high = map(float, root.get("viewBox").split())
    for path in root.findall(".//{*}path"):
        places = [pair.split() for pair in path.get("d").strip("Mz").split("L")]
        assert all(0 < float(x) < wide and 0 < float(y) < high for x, y in places)
    shown = {text.text for text in root.findall(".//{*}text")}
    assert {"β₁", "β₂", "β₃", "b′", "v", "w", "x₁ = x₂"} <= shown
