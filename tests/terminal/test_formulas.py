"""Formulas in Unicode, on a terminal alone."""

import io
import re

import pytest

from rankcheck.catalogue.collect import project
from rankcheck.terminal import catalogue
from rankcheck.terminal.formulas import unicode
from rankcheck.terminal.plain import say


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"\|\theta\|^2 \le 2L", "‖θ‖² ≤ 2L"),
        (r"\sum_{\ell=1}^L \|W_\ell\|_F^2", "Σ_(ℓ=1)ᴸ ‖W_ℓ‖_F²"),
        (
            r"\frac{c \max(1, e^{c_1/k})}{k\,|Jf(x)|_+^{2/k}}",
            "(c max(1, e^(c₁/k)))/(k |Jf(x)|₊^(2/k))",
        ),
        (r"\frac1{NL} \operatorname{tr} \Theta", "1/(NL) tr Θ"),
        (r"\frac12 k\log x", "1/2 k log x"),
        (r"\sqrt{1-t}\,C + \sqrt2", "√(1-t) C + √2"),
        (r"g: \mathbb R^k \to \mathbb{R}", "g: ℝᵏ → ℝ"),
        (r"\tilde\alpha_{\ell-1}, \hat f', W^\top", "α̃_(ℓ-1), f̂′, Wᵀ"),
        (r"\bigl(\{x\}\bigr)_{i,j}", "({x})_(i,j)"),
        (r"\left\lceil x \right\rceil", "⌈ x ⌉"),
    ],
)
def test_a_formula(formula, shown):
    assert unicode(f"so ${formula}$.") == f"so {shown}."


@pytest.mark.parametrize(
    "text", [r"$\unheard{x}$", r"$\frac1$", "$x^{2$", "5 $ and more", r"a \le b"]
)
def test_what_is_not_known_stays(text):
    assert unicode(text) == text


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_a_pipe_gets_what_the_claim_says():
    for stream, shown in ((Terminal(), "x ≤ 2\n"), (io.StringIO(), "$x \\le 2$\n")):
        say(r"$x \le 2$", stream)
        assert stream.getvalue() == shown
    old = Terminal()
    old.encoding = "ascii"
    say(r"$x \le 2$", old)
    assert old.getvalue() == "$x \\le 2$\n"


def test_every_statement_can_be_written():
    """A command that is not in the table would leave its formula as it is."""
    left = [
        (entry.id, formula)
        for entry in project()
        for formula in re.findall(r"\$[^$]*\\[^$]*\$", unicode(f"{entry.title}\n{entry.statement}"))
    ]
    assert left == []


@pytest.mark.parametrize("width", [20, 50, 80, 120])
def test_a_list_fits_its_terminal(width):
    entries = project()
    lines = catalogue.lines(entries, Terminal(), width)
    assert max(map(len, lines)) <= width
    if width >= 80:
        assert all(line.startswith(entry.id) for line, entry in zip(lines, entries, strict=True))
