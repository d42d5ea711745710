"""Networks of counterexamples as pictures: what they show, and when there is none."""

from xml.etree import ElementTree

import pytest

from rankcheck.faces.report.networks import drawing

LEAKY = (
    "depth 2, slope -7/8, W_1 = [[1], [-1]], b_1 = [0, -1/2], W_2 = [[1, 0]], b_2 = [1/3], x = [1]"
)


def texts(description):
    """The words of a drawing, in their order; it is XML."""
    made = drawing(description)
    assert made is not None
    return [text for text in ElementTree.fromstring(str(made)).itertext() if text.strip()]


def test_a_leaky_network_at_a_point():
    """x = 1: 1 and −3/2, which becomes 21/16; the second weight of the last layer is 0."""
    title, *said = texts(LEAKY)
    assert title.endswith("at x = (1) it has the value (4/3)")
    assert said[:2] == ["W₁", "1"]
    assert {"−3/2 → 21/16", "+1/3", "−1/2", "σ, slope −7/8", "4/3"} <= set(said)
    assert str(drawing(LEAKY)).count("<circle") == 4
    edges = [path for path in str(drawing(LEAKY)).split("<path")[1:] if "h0" not in path]
    assert len(edges) == 3 + 2  # and the kinks of two neurons


def test_two_points_and_long_numbers():
    text = "depth 1, slope 0, W_1 = [[123456789/1000000]], b_1 = [0], ends = [[-8], [-1/8]]"
    title, *said = texts(text)
    assert "at x₁ = (−8)" in title
    assert "≈ 123.5" in said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "k = 1, m = 1",
        "depth 1, W_1 = [[1]]",
        "depth 1, slope 0, W_1 = [[1, 2], [3]], b_1 = [0, 0]",
        "depth 1, slope 0, W_1 = [[1.5 ± 1e-9]], b_1 = [0]",
        "depth 2, slope 0, W_1 = [[1]], b_1 = [0], W_2 = [[1, 2]], b_2 = [0]",
        "depth 1, slope 0, W_1 = [[1, 1, 1, 1]], b_1 = [0], x = [1, 1, 1, 1]",
        "W_1 = [" * 50,
        "W_1 = [[]], b_1 = []",
    ],
)
def test_what_is_no_small_network_is_not_drawn(text):
    assert drawing(text) is None
