"""A certificate as LaTeX."""

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from rankcheck.claims.catalogue.certificates import FORM, read
from rankcheck.claims.catalogue.collect import project
from rankcheck.faces.report.tex import _wider, paragraph
from rankcheck.files import project_folder

CERTIFICATES = sorted(project_folder().glob("*/certificates/*.json"))


ENTRIES = {entry.id: entry for entry in project()}


def test_a_paragraph_has_the_exact_instance_and_both_sides():
    name = "bottleneck.ntk-derivative-as-printed"
    text = paragraph(read(FORM.path(ENTRIES[name])), ENTRIES[name])
    assert rf"\texttt{{{name}}}" in text
    assert r"$W_{1} = \begin{pmatrix}1\end{pmatrix}$" in text
    assert r"  \mathrm{lhs} &= 2, \\" in text
    assert r"  \mathrm{rhs} &= 1," in text
    assert r"\mathrm{lhs} &= 2" in paragraph(read(FORM.path(ENTRIES[name])))


def test_equal_arrays_are_written_once():
    name = "bottleneck.low-dimensional-features-as-printed"
    text = paragraph(read(FORM.path(ENTRIES[name])), ENTRIES[name])
    assert r"$b_{1} = b_{2} = \dots = b_{49} = " in text
    assert text.count("pmatrix") == 2 * 4
    assert r"\in [30019692116.683208 \pm 1.4 \cdot 10^{-8}]" in text


@pytest.mark.parametrize(
    ("middle", "radius", "excess"),
    [
        ("1.41421356237309504880168872420969807856967", "5.89e-39", "0.4"),
        ("-2.4094443304766868556109405245786033093254", "4.1e-37", "3.9"),
        ("8942682974.4340415068710798912453650938996", "2.29e-27", "21077009142"),
        ("1.00000000000000000000000000012345678901", "1e-37", "1e-28"),
        ("0.50000000000000000000000000000000000000", "1e-37", "1e-36"),
    ],
)
def test_a_shorter_enclosure_contains_the_ball(middle, radius, excess):
    short, wide = map(Fraction, _wider(middle, radius, excess))
    assert short - wide <= Fraction(middle) - Fraction(radius)
    assert short + wide >= Fraction(middle) + Fraction(radius)
    assert wide < Fraction(excess) / 2


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_latex_compiles_all_of_them_with_amsmath_alone(tmp_path):
    text = "\n".join(paragraph(read(path), ENTRIES[path.stem]) for path in CERTIFICATES)
    head = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
    (tmp_path / "all.tex").write_text(f"{head}{text}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout[-2000:]


@pytest.mark.parametrize("path", CERTIFICATES, ids=lambda path: path.stem)
def test_braces_dollars_and_environments_match(path: Path):
    text = paragraph(read(path), ENTRIES[path.stem])
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert (text.count("$") - text.count(r"\$")) % 2 == 0
    assert text.count(r"\begin") == text.count(r"\end")
    assert text.isascii()


def test_text_of_a_stranger_stays_text():
    data = dict(read(CERTIFICATES[0]))
    data["statement"] = r"100 % of $\input{/etc/passwd}$ and `\write18` are $x_1$ \input{a}"
    text = paragraph(data)
    assert r"\input" not in text.replace(r"\textbackslash{}input", "")
    assert r"\write" not in text
    assert r"100 \% of" in text
    assert "$x_1$" in text
    assert json.dumps(text)
