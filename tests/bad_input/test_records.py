"""Files of records that were changed: what is proved is what their numbers prove."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.records.again import prove_again
from rankcheck.engine.records.file import RecordError, Records
from rankcheck.engine.records.renewal import Candidate, keep, renewed
from rankcheck.theory.instances.choices import read_choices

from .cases import cases, refused, run
from .strategies import ODD_VALUES, WHOLE_TEXTS, as_bytes, as_text, mutated, signed, torn


@pytest.fixture(scope="module")
def good(stored, here):
    """Records of `t.true`, a number of [-8, 8] that is at most 8, and where they are."""
    claim = replace(stored.claims["t.true"], tight=None)
    both = [read_choices(claim.instances, [x]) for x in (2, 5)]
    candidates = [
        Candidate(Instance(claim, claim.instances, each), (n,)) for n, each in enumerate(both)
    ]
    path = here / "good" / "t.true.json"
    keep(claim, renewed(claim, Records.none(claim), candidates, ("size",)).records, path)
    return json.loads(path.read_text(encoding="utf-8")), path.with_name("changed.json"), claim


def attests(held):
    """Whether the ratio of an instance, a list of one number, is what it says: x / 8."""
    [number] = held["choices"]
    ratio = Fraction(number) / 8
    return 0 <= ratio - Fraction(Decimal(held["ratio"])) <= abs(ratio) / 10**9


def check(good, data):
    """Prove a file again in Python; whether it is proved."""
    _, path, claim = good
    path.write_bytes(as_bytes(data))
    proved = []
    refused((RecordError,), lambda: proved.append(list(prove_again(path, claim))))
    for relation in data["relations"] if proved else []:
        every = [relation["best"], *(group["best"] for group in relation.get("groups", []))]
        assert all(map(attests, every)), every
    return bool(proved)


@cases(25, data=st.data())
def test_what_is_proved_is_true(good, data):
    changed = data.draw(mutated(good[0]))
    check(good, signed(changed) if data.draw(st.integers(0, 7)) else changed)


@cases(8, data=st.data())
def test_the_commands_refuse_what_is_none(good, data):
    changed, path, _ = signed(data.draw(mutated(good[0]))), good[1], good[2]
    proved = check(good, changed)
    ended = run("replay", path, "--claims", "mine.py")
    assert (ended.code == 0) == (proved and changed.get("claim") == "t.true"), ended
    path.write_bytes(data.draw(torn(json.dumps(good[0])) | WHOLE_TEXTS))
    if run("replay", path).code != 2:
        assert json.loads(path.read_bytes().decode("utf-8-sig")) == good[0]
    run("record", "mine.py::test_true", "--instance", path)


@cases(8, data=st.data())
def test_an_instance_that_is_typed(good, data):
    """What is scored lies in the range of the generator."""
    choices = data.draw(mutated([2]) | mutated({"choices": ["7/2"]}) | ODD_VALUES)
    ended = run("score", "mine.py::test_true", f"--instance={as_text(choices)}")
    if ended.code == 0:
        [number] = choices["choices"] if isinstance(choices, dict) else choices
        assert attests({"choices": [number], "ratio": ended.out.strip()})
