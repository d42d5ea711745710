"""`rankcheck score`: the certified ratio, and nothing else."""

import io
import json
import sys
from decimal import Decimal
from fractions import Fraction

import pytest

from tests.claim_text import HEAD as NUMBERS

HEAD = (
    NUMBERS
    + '''
from rankcheck import Reference, bound

@instances
def positive(source):
    x = source.tensor(low=-8, high=8)
    source.require(x >= 0, "x is not negative")
    return x

@conjecture("t.one", instances=positive())
def test_one(x):
    r"""$\\sqrt{2} x \\le 1 + x^2$"""
    return leq(x * (x * 0 + 2).sqrt(), 1 + x * x)

@conjecture("t.many", instances=positive(), tight=numbers())
def test_many(x):
    """Several."""
    return (
        leq(x, 9, label="most"),
        eq(x, 2 * x),
        leq(x, x - x, where=x > 20),
    )
'''
)


@pytest.fixture
def score(mine, command, monkeypatch):
    def run(name, *arguments, lines=b""):
        mine(head=HEAD)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
        return command("score", f"mine.py::test_{name}", *arguments)

    return run


def test_a_number_and_nothing_else(score):
    code, out, err = score("one", "--instance", "[1]")
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert Fraction(out.strip()) ** 2 < Fraction(1, 2) < (Fraction(out.strip()) + 1e-16) ** 2


def test_all_relations_as_json(score):
    code, out, _ = score("many", "--instance", "[2]", "--json")
    assert (code, out.count("\n")) == (0, 1)
    figures = json.loads(out)
    assert list(figures) == ["most", "relation 2", "relation 3"]
    most = figures["most"]
    assert (most["kind"], most["bits"]) == ("leq", 128)
    assert Decimal(most["low"]) <= Decimal(2) / 9 <= Decimal(most["high"])
    assert Decimal(most["high"]) - Decimal(most["low"]) < Decimal("1e-16")
    assert figures["relation 2"] == {"kind": "eq", "low": "0.5", "high": "0.5", "bits": 128}
    assert "it is not asserted there" in figures["relation 3"]["reason"]


def test_one_of_several_relations(score):
    code, _, err = score("many", "--instance", "[2]")
    assert code == 2
    assert "has the relations 'most', 'relation 2', 'relation 3'; --json" in err


def test_an_instance_of_another_generator(score):
    given = json.dumps({"family": "numbers()", "choices": [-2]})
    assert score("many", "--instance", "[-2]")[0] == 2
    _, out, _ = score("many", "--instance", given, "--json")
    assert json.loads(out)["relation 2"]["low"] == "0.5"


@pytest.mark.parametrize("given", ["[-1]", "[9]", "[1, 2]", "[1", "gone.json", '{"choices": 3}'])
def test_wrong_input(score, given):
    code, out, err = score("one", "--instance", given)
    assert (code, out, err.startswith("rankcheck: ")) == (2, "", True)


def test_a_line_for_each_line(score):
    lines = b'[1]\n[-1]\n\n\xff[1]\n{"family": "positive()", "choices": ["1/2"]}\nmine.py\n[2]'
    code, out, err = score("one", "--instance", "-", lines=lines)
    assert (code, err) == (0, "")
    one, outside, empty, letters, half, file, two = out.splitlines()
    assert one[:6] == "0.7071"
    assert outside.startswith("error: the instance does not satisfy the hypotheses of t.one")
    assert all(each.startswith("error: ") for each in (empty, letters, file))
    assert (half[:6], two) == ("0.5656", half.replace(half, two))
    assert half == two  # √2 x / (1 + x²) is the same at 1/2 and at 2

    code, out, _ = score("many", "--instance", "-", "--json", lines=b"[2]\n[9]\n[1]\n")
    first, bad, last = map(json.loads, out.splitlines())
    assert (code, first["relation 2"]["low"], list(bad)) == (0, "0.5", ["error"])
    assert last["most"]["low"].startswith("0.1111")


@pytest.mark.slow
def test_a_line_without_end_is_answered_and_the_next_one_read(score, monkeypatch):
    sleepy = "if bool((x > 5).all()): time.sleep(600)\n    return leq(x * (x"
    monkeypatch.setattr(sys.modules[__name__], "HEAD", HEAD.replace("return leq(x * (x", sleepy))
    code, out, _ = score("one", "--instance", "-", "--limit", 2, lines=b"[6]\n[1]\n")
    late, one = out.splitlines()
    assert (code, late.startswith("error: "), "--limit" in late) == (0, True, True)
    assert one[:6] == "0.7071"


def test_no_lines(score):
    assert score("one", "--instance", "-") == (0, "", "")
