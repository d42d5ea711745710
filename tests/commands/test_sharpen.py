"""What `rankcheck sharpen` prints and writes: its lines in a pipe, its page, the page of a dial."""

import json
from pathlib import Path

import pytest

from rankcheck.files import LEFT
from tests.claim_text import HEAD, claim

CLAIMS = (
    HEAD
    + claim("loose", most="32.0")
    + '''
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
    fast = ("--budget", "0.5", "--limit", "0")
    return lambda name, *arguments: command("sharpen", f"mine.py::test_{name}", *fast, *arguments)


@pytest.mark.slow
def test_a_pipe_and_json_say_the_same(sharpen):
    code, out, err = sharpen("loose", "--json", "a.json", "--html", "a.html")
    assert (code, err, out.endswith("page: a.html\n")) == (0, "", True)
    first, answer, *others = out.splitlines()
    assert first == "sharpening t.loose for 0.5 s, seed 0: x is at most 32.0"
    assert answer.startswith("t.loose: lhs/rhs reaches 0.25: on all that was tried, the right side")
    assert any(line.startswith("  attained by: x = 8 (lhs 8, rhs 32)") for line in others)
    assert f"  record: {LEFT / 'records' / 't.loose.json'}" in others
    [data] = json.loads(Path("a.json").read_text("utf-8"))["sharpenings"]
    assert data["message"] in out


def test_the_page_of_a_dial(sharpen):
    code, out, _ = sharpen("dialled", "--dial", "most=4..16", "--html", "a.html")
    assert code == 0
    assert "t.dialled, most: proved false at all tried from 4 to " in out
    assert "survived at all tried from " in out
    assert "<figure>" in Path("a.html").read_text("utf-8")
    again = sharpen("dialled", "--dial", "most=4..16", "--html", "a.html")
    assert again[0] == 0  # a page is replaced


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--html", "mine.html"], "it exists and is not a page of rankcheck"),
        (["--json", "a.html", "--html", "a.html"], "a.html is named twice"),
        (["--html", "mine.py"], "a page of rankcheck is HTML, and this is a Python file"),
    ],
)
def test_wrong_input_is_one_line_and_loses_nothing(sharpen, arguments, said):
    Path("mine.html").write_text("<p>mine</p>")
    code, _, err = sharpen("dialled", *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert said in err
    assert Path("mine.html").read_text() == "<p>mine</p>"
