"""Formulas in Unicode, on a terminal alone."""

import io
import re

import pytest

from rankcheck.claims.catalogue.collect import project
from rankcheck.faces.terminal.formulas import unicode
from rankcheck.faces.terminal.plain import say


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        (r"\|\theta\|^2 \le 2L", "‖θ‖² ≤ 2L"),
        (r"\sqrt{1-t}\,C + \sqrt2", "√(1-t) C + √2"),
        (r"\tilde\alpha_{\ell-1}, \hat f', W^\top", "α̃_(ℓ-1), f̂′, Wᵀ"),
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
