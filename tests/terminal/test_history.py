"""Audits over time as text, in a terminal and at a prompt."""

from dataclasses import replace

import pytest

from rankcheck.audit.result import GUESSED
from rankcheck.terminal.history import Rows, lines
from tests.report.histories import assumed, comparison, history, odd

from .test_prompt import few


def test_a_row_a_checkpoint():
    said = lines(history())
    assert said[0].split() == (
        ["cost", "a", "layer", "rank", "undec.", "excess", "saved", "s_1", "s_2", "index", "dead"]
    )
    assert said[1].split() == [
        "step_0.pt",
        "50",
        "6.25",
        "4?",
        "100",
        "%",
        "18",
        "10",
        "%",
        "2",
        "1",
        "3",
        "7",
    ]
    assert said[6].split() == [
        "step_500.pt",
        "25",
        "3.125",
        "2",
        "0",
        "%",
        "9",
        "10",
        "%",
        "2",
        "1",
        "3",
        "7",
    ]
    assert said[7] == ("skipped optimizer.pt: 'state' is of the type dict; it must be a tensor")
    text = " ".join(" ".join(said).split())
    assert "run: 6 checkpoints, by the number behind “step” in the names; state dict" in text
    assert "* From step 0 to step 500 the cost falls from 50 to 25." in said
    assert lines(assumed(history()))[0].startswith("ReLU was assumed; --slope 0")


def test_what_is_left_is_said():
    said = "\n".join(lines(history(left=("step_600.pt",))))
    assert "not read: step_600.pt" in said
    none = history((), words=())
    assert lines(none)[-1] == "run: 0 checkpoints"


def test_without_data_there_are_fewer_columns():
    assert lines(history(data=False))[0].split() == [
        "cost",
        "a",
        "layer",
        "rank",
        "excess",
        "saved",
    ]


def test_ranks_are_written_as_audits_write_them():
    """`≥ 24` where only the largest singular values were taken."""
    some = history().checkpoints[:1]
    found = history(checkpoints=(replace(some[0], ranks={"rank": "≥ 24"}),))
    assert " ≥ 24 " in lines(found)[1]
    both = comparison(new=found.checkpoints[0])
    assert any(line.endswith(" ≥ 24") for line in lines(both) if "rank k" in line)


def test_two_checkpoints():
    said = [line.split() for line in lines(comparison())]
    for wanted in (
        "old: step_200.pt, state dict, depth 8, widths 10 → 20 (7 times) → 5, slope 0",
        "cost ‖θ‖² 30 25 -5 (-16.7 %)",
        "rank k of Jf at most points 4? 2 -2",
        "points of undecided rank 100 % 0 % -100 pp",
        "gap s_k/s_(k+1), median 3 80 +77 (×26.7)",
        "cost after balancing 27 22.5 -4.5 (-16.7 %)",
        "saved by balancing 10 % 10 %",
        "the largest output is another one at 3 of 240 points",
        "layers.2 0.5 2 1.5",
        "layers.0 0 1",
        "* The networks are of two kinds: one; two.",
    ):
        assert wanted.split() in said, wanted


@pytest.mark.parametrize("width", [10, 40, 64, 80, 100, 300])
@pytest.mark.parametrize("text", ["x" * 500, "é " * 90])
def test_lines_fit(text, width):
    for found in (history(), assumed(history()), comparison(), *odd(text)):
        assert max(map(len, lines(found, width=width))) <= min(max(width, 40), 100)


def test_control_characters_are_written_out():
    for found in odd("a\x1b[2J\x07\u202eb"):
        assert not {"\x1b", "\x07", "\u202e"} & set("".join(lines(found)))


def test_a_prompt_shows_the_end_and_print_all():
    for found in (history(range(0, 5000, 10)), assumed(history(range(40))), comparison()):
        shown = few(found)
        assert shown[-1] == "print() shows all of it"
        assert str(found).splitlines() == lines(found)
    shown = few(history(range(0, 5000, 10)))
    assert shown[0] == Rows(history().checkpoints[0]).head
    assert any(line.startswith("step_4990.pt") for line in shown)
    assert few(assumed(history()))[0].startswith(GUESSED[:50])
