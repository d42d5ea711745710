"""`rankcheck sharpen`: what it prints, the files that it writes, its exit codes."""

import json
from pathlib import Path

import pytest

from rankcheck.catalogue.kept import LEFT
from tests.claim_text import HEAD, claim

#: Where one fails, one is loose, one has no ratio, and one fails for some values of its parameter.
CLAIMS = (
    HEAD
    + claim("false", most="4.0")
    + claim("loose", most="32.0")
    + '''
from rankcheck import any_of

@conjecture("t.either", instances=numbers())
def test_either(x):
    """One of two."""
    return any_of(leq(x, 0), leq(-x, 0))

@conjecture("t.dialled", instances=numbers())
def test_dialled(x, *, most=9):
    """x is at most a number."""
    return leq(x, most)
'''
)


@pytest.fixture
def sharpen(mine, command):
    """`sharpen("loose", …)`: in this process, with a budget of half a second."""
    mine(head=CLAIMS)
    fast = ("--budget", "0.5", "--shrink", "0.1", "--limit", "0")
    return lambda name, *arguments: command("sharpen", f"mine.py::test_{name}", *fast, *arguments)


def test_the_constant_and_what_attains_it(sharpen):
    code, out, err = sharpen("loose")
    first, answer, *others = out.splitlines()
    assert (code, err) == (0, "")
    assert first == "sharpening t.loose for 0.5 s, seed 0: x is at most 32.0"
    assert answer.startswith("t.loose: lhs/rhs reaches 0.25: on all that was tried, the right side")
    assert "could be 4 times smaller" in answer
    assert any(line.startswith("  attained by: x = 8 (lhs 8, rhs 32)") for line in others)
    assert f"  record: {LEFT / 'records' / 't.loose.json'}" in others


def test_a_false_statement(sharpen):
    code, out, _ = sharpen("false")
    assert code == 1
    assert (
        "t.false: false as written: lhs/rhs reaches 2; with the right side times 2 nothing" in out
    )
    assert f"certificate: rankcheck replay {LEFT / 't.false.json'}" in out


@pytest.mark.slow
def test_json_and_page_say_the_same(sharpen):
    code, out, err = sharpen("loose", "--json", "a.json", "--html", "a.html")
    assert (code, err, out.endswith("page: a.html\n")) == (0, "", True)
    [data] = json.loads(Path("a.json").read_text("utf-8"))["sharpenings"]
    assert data["message"] in out
    assert "0.25" in Path("a.html").read_text("utf-8")
    assert sharpen("loose", "--json", "a.json", "--html", "a.html")[0] == 0  # replaced


def test_a_dial(sharpen):
    code, out, _ = sharpen("dialled", "--dial", "most=4..16", "--html", "a.html")
    assert code == 0
    assert "t.dialled, most: proved false at all tried from 4 to " in out
    assert "survived at all tried from " in out
    assert "<figure>" in Path("a.html").read_text("utf-8")


def test_without_a_ratio(sharpen):
    code, out, err = sharpen("either")
    assert code in (2, 3)
    assert "disjunction" in out + err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--html", "mine.html"], "it exists and is not a page of rankcheck"),
        (["--json", "a.html", "--html", "a.html"], "a.html is named twice"),
        (["--html", "mine.py"], "a page of rankcheck is HTML, and this is a Python file"),
        (["--dial", "most=4..2"], "it goes from a number to a larger one"),
        (["--dial", "least=1..2"], "least"),
        (["--by", "depth"], "an instance has no size of that name"),
        (["--relation", "upper"], "has no relation 'upper'"),
    ],
)
def test_wrong_input_is_one_line_and_loses_nothing(sharpen, arguments, said):
    Path("mine.html").write_text("<p>mine</p>")
    code, _, err = sharpen("dialled", *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert said in err
    assert Path("mine.html").read_text() == "<p>mine</p>"


def test_a_page_is_of_one_claim(mine, command):
    mine(head=CLAIMS)
    code, _, err = command("sharpen", "mine.py", "--html", "a.html")
    assert (code, "mine.py selects 4 claims; --html is for one" in err) == (2, True)
