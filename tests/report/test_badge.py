"""The badge of a ledger: what it says, and that it is well-formed whatever is in the ledger."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

from rankcheck.report.badge import Badge
from rankcheck.verification.ledger import Row

SVG = "{http://www.w3.org/2000/svg}"


def rows(*verdicts):
    """A bound for each verdict; a bound is expected to hold."""
    return [
        Row(id=f"t.n{number}", title="T", kind="bound", verdict=verdict)
        for number, verdict in enumerate(verdicts)
    ]


BADGES = [
    ((), "no claims", "lightgrey"),
    (("holds",), "1 claim as expected", "brightgreen"),
    (("holds",) * 252, "252 claims as expected", "brightgreen"),
    (("holds", "failed"), "1 of 2 claims not as expected", "red"),
    (("holds", "failed", "refuted", "undecided"), "3 of 4 claims not as expected", "red"),
    (("holds", "undecided"), "1 of 2 claims undecided", "yellow"),
    (("undecided",), "1 of 1 claim undecided", "yellow"),
]


@pytest.mark.parametrize(("verdicts", "message", "color"), BADGES)
def test_what_a_badge_says(verdicts, message, color):
    badge = Badge.of(rows(*verdicts))
    assert json.loads(badge.endpoint()) == {
        "schemaVersion": 1,
        "label": "rankcheck",
        "message": message,
        "color": color,
    }
    picture = ElementTree.fromstring(badge.svg())
    assert picture.get("aria-label") == f"rankcheck: {message}"
    assert [text.text for text in picture.iter(f"{SVG}text")] == ["rankcheck", message]


def test_a_refuted_claim_that_is_said_to_be_false_is_as_expected():
    row = Row(id="t.a", title="T", kind="refuted", verdict="refuted")
    assert Badge.of([row]).color == "brightgreen"


def test_colours_differ_and_white_is_legible_on_them():
    """The contrast of WCAG 2, at least 4.5 : 1."""

    def light(colour):
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    seen = set()
    for color in ("brightgreen", "red", "yellow", "lightgrey"):
        picture = ElementTree.fromstring(Badge("m", color).svg())
        label, message = [rect.get("fill") for rect in picture.iter(f"{SVG}rect")][1:]
        seen.add(message)
        assert min(1.05 / (light(fill) + 0.05) for fill in (label, message)) >= 4.5
    assert len(seen) == 4


def test_texts_lie_in_their_parts():
    for text in ("a", "252 claims as expected", "3 of 252 claims not as expected", "W" * 40):
        picture = ElementTree.fromstring(Badge(text, "red").svg())
        parts = list(picture.iter(f"{SVG}rect"))[1:]
        for part, shown in zip(parts, picture.iter(f"{SVG}text"), strict=True):
            left, width = float(part.get("x", 0)), float(part.get("width"))
            middle, length = float(shown.get("x")), float(shown.get("textLength"))
            assert left < middle - length / 2
            assert middle + length / 2 < left + width
        assert left + width == pytest.approx(float(picture.get("width")))


def test_a_message_is_text():
    picture = ElementTree.fromstring(Badge('<b a="1">&', "red").svg())
    assert [text.text for text in picture.iter(f"{SVG}text")][1] == '<b a="1">&'
