"""An audit as text."""

import io
from dataclasses import replace

import pytest

from rankcheck.audit.result import Balanced
from rankcheck.terminal import display
from rankcheck.terminal.audit import AuditDisplay, lines
from rankcheck.terminal.formulas import unicode
from tests.report.audits import made_up, odd, without_data


def test_what_the_lines_say():
    said = "\n".join(lines(made_up()))
    for wanted in (
        "trained.safetensors: safetensors, depth 8, widths 10 → 20 (7 times) → 5, slope 0",
        "cost 17.75, 2.219 a layer; rank 2; 17.73 after balancing (the outputs change by 3.0e-15)",
        "cost as stored, before folding: 18.25",
        "1 layers.0                 20×10 2.645      2   2?  17   1.68  0.072  0.01    1      2",
        "encoder.0.0…ry_long_name",
        "1 at 16, 2 at 220, 3 at 4; 4 undecided",
        "k = 3 (4 points): -6.25 against -7.5, slack 1.25",
        "theorems: 1 holds, 1 not applicable, 1 not evaluated, 1 undecided, 1 fails",
        "1.25 ≤ 1.25, slack -1e-17, not proved in balls",
        "2.0312 ≤ 2.2401, slack 0.21, at point 17, proved in balls",
        "not met: the network is balanced (largest imbalance 0.07)",
        "FAILS      rank.regions-share-balance",
        "* Inside, every layer has 2 singular values near $1$ and no others.",
    ):
        assert wanted in said, wanted


def test_balancing_that_did_not_converge():
    said = "\n".join(lines(made_up(balanced=Balanced(17.75, 0.0, converged=False))))
    assert "rank 2; balancing did not converge" in said
    assert "outputs change" not in said


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


def test_progress_on_a_pipe_is_a_line_now_and_then(monkeypatch):
    times = iter(range(0, 1000, 4))
    monkeypatch.setattr(display.time, "monotonic", lambda: next(times))
    stream = io.StringIO()
    with AuditDisplay(stream) as shown:
        for done in range(0, 250_000, 50_000):
            shown.progress("points", done, 200_000)
        shown.interrupted()
    said = stream.getvalue().splitlines()
    assert any(line.startswith("points 50000 of 200k, ") for line in said)
    assert "stopped in points 200k of 200k" in said[-1]
    shown.progress("layers", 0, None)
    assert shown.render().plain.startswith("layers, ")


def test_names_are_cut_where_numbers_are_wide():
    layers = [replace(one, weights=1.2345e12, name="n" * 24) for one in made_up().layers] * 20
    found = lines(made_up(layers=tuple(layers), theorems=()), width=40)
    assert max(map(len, found)) == 40
    assert any(line.startswith("160 nnn") and "…" in line for line in found)


def test_of_a_theorem_that_holds_the_closest_relation_is_shown():
    usual = made_up().theorems[0]
    side = usual.sides[0]
    sides = tuple(
        replace(side, label=name, lhs=lhs, rhs=rhs, slack=rhs - lhs)
        for name, lhs, rhs in (("far", 1e-3, 1.0), ("near", 999.0, 1001.0), ("zero", -1.0, 0.0))
    )
    said = "\n".join(lines(made_up(theorems=(replace(usual, sides=sides),))))
    assert "near: 999 ≤ 1001, slack 2" in said
    assert "far: " not in said
    assert "zero: -1" not in said
