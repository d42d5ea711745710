"""The page of an audit: what it says, that nothing in it is markup, and that odd numbers fit."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rankcheck.audit.result import Balanced, BoundByRank, Quantiles
from rankcheck.report import audit_page
from rankcheck.report.charts.audit import pictures
from rankcheck.report.notebook import html

from .audits import DEPTH, made_up, odd, spectrum, without_data
from .charts.conftest import parse
from .conftest import MARKUP
from .test_page import Page, words


def test_what_a_page_says():
    audit = made_up()
    page = Page(audit_page(audit))
    assert page.open == []
    said = words(page.text)
    for wanted in (
        "Audit of trained.safetensors",
        "widths 10 → 20 (7 times) → 5, slope 0; ‖θ‖² = 17.75;",
        "Inside, every layer has 2 singular values near 1 and no others.",
        "assumed: the file does not name the activation",
        "folded: 1 layer. The parameters as they are stored cost 18.25, and after folding 17.75",
        "1 theorem fails on this network.",
        "not proved",
        "not met the network is balanced largest imbalance 0.07",
        "1 at 16 points, 2 at 220 points, 3 at 4 points; undecided at 4.",
        "some singular value vanishes everywhere",
        "The dead neurons cost 0.125.",
        "the outputs change by 3·10⁻¹⁵ of the largest one",
    ):
        assert wanted in said, wanted
    order = [said.index(one.title, said.index("Theorems")) for one in audit.theorems]
    fails, undecided, holds, large, other = order[4], order[2], order[0], order[3], order[1]
    assert fails < undecided < holds < large < other
    assert len(page.all("id")) == len(set(page.all("id")))
    assert "$" not in page.text


def test_a_network_that_could_not_be_balanced():
    said = words(Page(audit_page(made_up(balanced=Balanced(17.75, 0.0, converged=False)))).text)
    assert "balancing did not converge" in said
    assert "Rescaling single" not in said


def test_without_data_there_is_nothing_of_data():
    said = words(Page(audit_page(without_data())).text)
    assert "Layers" in said
    for absent in ("The data", "energy", "dead", "Theorems", "rank of the Jacobian"):
        assert absent not in said


def test_nothing_of_an_audit_is_markup_or_a_request():
    text = audit_page(odd(MARKUP + "\x1b[2J\x00\udc80"))
    text.encode()
    assert not set("\x1b\x00") & set(text)
    page = Page(text)
    assert page.text.count(MARKUP) > DEPTH
    assert not {"img", "script", "iframe", "object", "embed", "link"} & {t for t, _ in page.tags}
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert not {"src", "srcset", "style", "action", "href"} & set(attributes)


def test_a_notebook_shows_the_same():
    shown = made_up()._repr_html_()
    assert shown == html(made_up())
    assert shown.startswith('<div class="rankcheck audit"><style>')
    whole, part = Page(audit_page(made_up())), Page(shown)
    assert part.open == []
    assert words(part.text.rpartition("}\n")[2])[-1000:] == words(whole.text)[-1000:]


@pytest.fixture(scope="module")
def drawn():
    return {one.name: one for one in pictures(made_up())}


def test_the_spectra_are_those_of_the_layers(drawn):
    """Every singular value is read back from the picture."""
    drawing = parse(drawn["spectra"].svg)
    value = drawing.scale("y", (0, "0"), (1, "1"))
    layer = drawing.scale("x", (1, "1"), (8, "8"))
    first = {(round(layer(x)), value(y)) for x, y in drawing.series("dots", 1)}
    wanted = {(n, s) for n in range(1, DEPTH + 1) for s in spectrum(n)[:2]}
    assert len(first) == len(wanted)
    for (n, s), (m, t) in zip(sorted(first), sorted(wanted), strict=True):
        assert n == m
        assert s == pytest.approx(t, abs=0.004)
    assert max(value(y) for _, y in drawing.series("dots", 2)) < 0.1


def test_the_bars_are_the_costs(drawn):
    """Tops of the bars against ‖W‖² and ‖W‖² + ‖b‖²."""
    drawing = parse(drawn["costs"].svg)
    value = drawing.scale("y", (0, "0"), (2, "2"))
    for series, wanted in (
        (1, [one.weights for one in made_up().layers]),
        (2, [one.weights + one.bias for one in made_up().layers]),
    ):
        (path,) = drawing.all("path", "bars", f"s{series}")
        tops = [float(y) for y in re.findall(r"V([\d.]+)H", path.get("d"))]
        assert [value(y) for y in tops] == pytest.approx(wanted, abs=0.01)


def test_the_excess_is_above_its_bound(drawn):
    drawing = parse(drawn["excess"].svg)
    value = drawing.scale("y", (0, "0"), (10, "10"))
    wanted = made_up().data.bounds
    upper = [value(y) for _, y in drawing.series("dots", 1)]
    lower = [value(y) for _, y in drawing.series("dots", 2)]
    assert upper == pytest.approx([one.excess for one in wanted], abs=0.06)
    assert lower == pytest.approx([one.logs for one in wanted if one.logs is not None], abs=0.06)


def extremes():
    """Audits with numbers at the ends of what occurs, by name."""
    usual = made_up()
    assert usual.data is not None
    first = usual.layers[0]
    zero = replace(first, singular_values=(0.0,) * 10, weights=0.0, bias=0.0, near_one=0,
                   representation=(0.0,), distance=0.0)  # fmt: skip
    huge = replace(first, singular_values=(1e150, 1.0, 1e-150), weights=1e300)
    none = Quantiles(0.0, 0.0, 0.0, 0.0, 0.0)
    bare = replace(usual.data, points=1, ranks={0: 1}, gaps=None, singular_values=(none,),
                   bounds=(BoundByRank(0, 1, 0.0, 0.0),), schatten=none)  # fmt: skip
    wide = replace(first, singular_values=tuple(1 / n for n in range(1, 800)))
    thin = replace(usual.model, depth=1, widths=(1, 1), folded=(), assumed=())
    return {
        "zero": replace(usual, rank=0, layers=(zero,) * 2, model=thin, data=bare),
        "huge": replace(usual, layers=(huge,) * 3),
        "one layer": replace(usual, layers=(first,), model=thin),
        "deep": replace(usual, layers=(wide,) * 200, theorems=usual.theorems * 20),
        "many ranks": replace(
            usual,
            data=replace(
                usual.data,
                ranks=dict.fromkeys(range(0, 500, 7), 1),
                bounds=tuple(BoundByRank(n, 1, -8.0 * n, -9.0 * n) for n in range(0, 500, 7)),
                singular_values=usual.data.singular_values * 100,
            ),
        ),
        "rank of no singular value": replace(usual, rank=50),
        "names of nothing": replace(
            usual, name="", words=(), layers=(replace(first, name=""),), versions={}
        ),
    }


@pytest.mark.parametrize("name", extremes())
def test_odd_numbers_have_a_page(name):
    text = audit_page(extremes()[name])
    assert Page(text).open == []
    assert not re.search(r'd="[^"]*(nan|inf)', text)
    assert len(text) < 1_500_000
