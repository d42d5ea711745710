"""An audit as text."""

from dataclasses import replace

import pytest

from rankcheck.faces.terminal.audit import lines
from rankcheck.faces.terminal.formulas import unicode
from tests.faces.report.audits import made_up, odd, without_data


def test_what_the_lines_say():
    said = "\n".join(lines(made_up()))
    for wanted in (
        "rank 2; cost 17.75, 2.219 a layer, 17.73 after balancing",
        "theorems: 1 not applicable, 1 holds, 1 not evaluated, 1 undecided, 1 fails",
        "1.25 ≤ 1.25, slack -1e-17, not proved in balls",
        "fails: rank.regions-share-balance",
    ):
        assert wanted in said, wanted


def test_activations_that_were_assumed_come_first():
    audit = made_up()
    guess = "ReLU was assumed; --slope 0 says that it is right, --slope A that it is leaky. " * 3
    guessed = replace(audit, model=replace(audit.model, guess=guess.strip()))
    for width in (40, 100):
        said = lines(guessed, width=width)
        assert said[0].startswith("ReLU was assumed; --slope 0 says")
        assert " ".join(" ".join(said).split()).startswith(guessed.headline)
        assert said[-len(lines(audit, width=width)) :] == lines(audit, width=width)


def test_without_data():
    said = "\n".join(lines(without_data()))
    assert "s_1 of Jf" not in said
    assert "dead" not in said
    assert "theorems:" not in said


@pytest.mark.parametrize("width", [10, 40, 50, 64, 80, 100, 300])
@pytest.mark.parametrize("audit", [made_up(), without_data(), odd("x" * 500), odd("é " * 90)])
def test_lines_fit(audit, width):
    found = lines(audit, width=width, readable=unicode)
    assert max(map(len, found)) <= min(max(width, 40), 100)
    wide = [line.split()[0] for line in found if line[:1].isdigit()]
    assert [str(n) for n in range(1, 9)] == [n for n in wide if len(n) == 1]  # a row a layer


def test_control_characters_are_written_out():
    said = "".join(lines(odd("a\x1b[2J\x07\u202eb")))
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
