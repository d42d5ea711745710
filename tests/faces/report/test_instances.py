"""The texts of instances as matrices."""

import pytest

from rankcheck.faces.report.instances import CUT, LARGEST, equation, instance, number

ONE = r"\begin{pmatrix}1\end{pmatrix}"


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("x = 3", "x = 3"),
        ("x_10 = -1/2", "x_{10} = -1/2"),
        ("ab = [[1, 2], [3, 4]]", r"\mathrm{ab} = \begin{pmatrix}1 & 2 \\ 3 & 4\end{pmatrix}"),
        ("x = [0.1234567890123]", r"x = \begin{pmatrix}0.12346\text{…}\end{pmatrix}"),
        ("V = [[[1]], [[2]]]", rf"V = \left[{ONE},\; \begin{{pmatrix}}2\end{{pmatrix}}\right]"),
        ("x = []", r"x = \emptyset"),
        ("x = [[1], [3, 2]]", rf"x = \left[{ONE},\; \begin{{pmatrix}}3 & 2\end{{pmatrix}}\right]"),
        ("depth 1", None),
        ("f = loop(a=1)", None),
        ("x = [1, two]", None),
        ("x = [1", None),
        (f"x = {[0] * (LARGEST + 1)}", None),
        ("x = " + "[" * 3000, None),
        ("x = 1/0", None),
    ],
)  # fmt: skip
def test_equations(text, latex):
    assert equation(text) == latex


def test_an_instance_keeps_what_it_cannot_typeset():
    shown = str(instance("depth 1, f = loop(1, <b>), x = [1, 2]"))
    assert "f = loop(1, &lt;b&gt;)" in shown
    assert shown.count("<math>") == 1
    assert instance("[" * 5000) == "<code>" + "[" * CUT + " …</code>"
    many = f"x = {[0.12345678901] * 30}"
    assert str(instance(many)).startswith("<code>x = [0.12346…, 0.12346…")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("1/3", "1/3"),
        ("10000000001/3", "≈ 3.3333e+9"),
        ("0.333333333333", "≈ 0.33333"),
        ("1e-400", "1e-400"),
        ("[1.50000000000000000 +/- 8.89e-16]", "≈ 1.5"),
        ("[nan +/- inf]", "[nan +/- inf]"),
        ("<b>", "<b>"),
    ],
)
def test_numbers(text, short):
    assert number(text) == short
