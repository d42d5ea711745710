"""The page of errata: what is wrong is in sight, the worst first, and what explains it is there."""

import importlib
import re

import pytest

from rankcheck.claims.catalogue.collect import project

from .pages import DOCS

PAGE = (DOCS / "errata.md").read_text(encoding="utf-8")


@pytest.fixture
def refutations(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("refutations")


def item(place):
    """What the page says below a heading."""
    return PAGE.partition(f"### {place}\n")[2].partition("\n### ")[0]


def test_the_first_thing_is_wrong_at_a_glance():
    """Prop. 9/18: print and right, its network, both sides as the body writes them."""
    first = PAGE.index("### `")
    assert PAGE[first:].startswith("### `bottleneck`, Prop. 9/18\n")
    shown, folded, rest = item("`bottleneck`, Prop. 9/18").partition("<details>")
    assert folded
    assert "](errata/bottleneck.ntk-derivative-as-printed.svg)" in shown
    assert "`2 * jacobian_power` = **2**<br>" in shown
    assert "`kernel_derivative` = **1**" in shown
    assert "**Read as** for large $L$ only" in rest


def test_every_picture_is_there_and_no_other():
    named = set(re.findall(r"\]\((errata/[^)]*\.svg)\)", PAGE))
    assert named == {f"errata/{file.name}" for file in (DOCS / "errata").iterdir()}


def test_a_certificate_that_refutes_nothing_is_not_shown(refutations, monkeypatch):
    [entry] = [e for e in project() if e.id == "rank.cross-example-as-printed"]
    monkeypatch.setattr(refutations, "_KNOWN", {})
    original = refutations.replay

    def changed(*arguments, **options):
        again = original(*arguments, **options)
        return type(again)(again.claim, again.judgement, True, "", {})

    monkeypatch.setattr(refutations, "replay", changed)
    with pytest.raises(ValueError, match=r"the certificate of .* does not"):
        refutations.found(entry)
