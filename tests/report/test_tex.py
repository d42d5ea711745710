"""A certificate as LaTeX."""

import json
from pathlib import Path

import pytest

from rankcheck.catalogue.collect import project_folder
from rankcheck.claims.reference import Reference
from rankcheck.counterexamples.certificate import read
from rankcheck.report.tex import paragraph

CERTIFICATES = sorted(project_folder().glob("*/certificates/*.json"))


def test_a_paragraph_has_the_exact_instance_and_both_sides():
    [path] = [p for p in CERTIFICATES if p.stem == "bottleneck.ntk-derivative-as-printed"]
    text = paragraph(read(path), Reference("bottleneck", "Prop. 9/18"))
    assert r"\texttt{bottleneck.ntk-derivative-as-printed} (bottleneck, Prop. 9/18)" in text
    assert r"$W_{1} = \begin{pmatrix}1\end{pmatrix}$" in text
    assert r"$\mathrm{lhs} = 2$ and $\mathrm{rhs} = 1$" in text
    assert "Both sides are exact." in text


@pytest.mark.parametrize("path", CERTIFICATES, ids=lambda path: path.stem)
def test_braces_dollars_and_environments_match(path: Path):
    text = paragraph(read(path))
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert (text.count("$") - text.count(r"\$")) % 2 == 0
    assert text.count(r"\begin") == text.count(r"\end")
    assert text.isascii() or not set(text) & set("≤≥±−×…")


def test_text_of_a_stranger_stays_text():
    data = dict(read(CERTIFICATES[0]))
    data["statement"] = r"100 % of $\input{/etc/passwd}$ and `\write18` are $x_1$ \input{a}"
    text = paragraph(data)
    assert r"\input" not in text.replace(r"\textbackslash{}input", "")
    assert r"\write" not in text
    assert r"100 \% of" in text
    assert "$x_1$" in text
    assert json.dumps(text)
