"""Certificates that were changed: what is proved is what their numbers prove, and nothing else.

The numbers are evaluated here once more, in fractions, without anything of rankcheck.
"""

import json
import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from rankcheck.counterexamples import CertificateError, replay
from rankcheck.counterexamples.certificate import digest
from rankcheck.counterexamples.given import instances_of

from .cases import cases, refused, run, watched
from .strategies import ODD_VALUES, WHOLE_TEXTS, as_text, mutated, torn

NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
BALL = re.compile(r"\[(\S+) \+/- (\S+)\]")


def number(value):
    """A number of an instance; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Fraction(value)
    return Fraction(value) if isinstance(value, str) and NUMBER.fullmatch(value) else None


def square(section):
    """The squared norm of the point of a section; None if its numbers are no instance."""
    match section:
        case {"family": "points()", "instance": [int(kind), [first, second], unused]}:
            read = [number(value) for value in (first, second, unused)]
            inside = all(value is not None and abs(value) <= 8 for value in read)
            if inside and kind in (0, 1) and not isinstance(kind, bool):
                return sum((value + kind) ** 2 for value in read[:2])
    return None


def attests(section):
    """Whether all that a section says is true."""
    norm = square(section)
    if norm is None or norm <= 9 or section["rhs"] != "3":
        return False
    if (section["relation"], section["kind"], section["label"]) != (0, "leq", "the norm"):
        return False
    if (3 + Fraction(section["excess"])) ** 2 > norm:
        return False
    if ball := BALL.fullmatch(section["lhs"]):
        middle, radius = (Fraction(Decimal(text)) for text in ball.groups())
        return (middle - radius) ** 2 <= norm <= (middle + radius) ** 2
    return Fraction(section["lhs"]) ** 2 == norm


def signed(data):
    """With the checksum that belongs to it, if it can have one."""
    if not isinstance(data, dict):
        return data
    fields = {name: value for name, value in data.items() if name != "sha256"}
    try:
        return {**fields, "sha256": digest(fields)}
    except (RecursionError, ValueError):
        return data


@st.composite
def versions(draw, good):
    """A certificate that says it was made by others, so that less is compared."""
    data = draw(mutated({name: good[name] for name in ("smallest", "worst")}))
    made = draw(st.sampled_from([{}, {"rankcheck": "0.0.1"}, good["versions"]]))
    return {**good, **(data if isinstance(data, dict) else {}), "versions": made}


@pytest.fixture
def path(here):
    return here / "good" / "changed.json"


def check(stored, path, data):
    """Replay a certificate in Python, and with the command."""
    path.write_text(as_text(data), encoding="utf-8", errors="surrogatepass")
    claim, found = stored.claims["t.norm"], []
    kinds = (CertificateError,)
    refused("certificates", kinds, lambda: found.append(replay(path, claim=claim)))
    proved = bool(found) and found[0].refuted
    if proved:
        event("proved")
        sections = [data[name] for name in ("smallest", "worst") if data[name] is not None]
        assert square(data["smallest"]) > 9
        if not found[0].changed:
            assert all(attests(section) for section in sections), sections
    return proved and not found[0].changed


@pytest.mark.slow
@cases(80)
@given(data=st.data())
def test_what_is_proved_is_true(stored, path, data):
    good = stored.certificate
    changed = data.draw(mutated(good) | versions(good))
    check(stored, path, signed(changed) if data.draw(st.integers(0, 7)) else changed)


@pytest.mark.slow
@cases(15)
@given(data=st.data())
def test_the_command_agrees(stored, path, data):
    changed = signed(data.draw(mutated(stored.certificate)))
    proved = check(stored, path, changed)
    ended = run("replay", "replay", path, "--claims", "mine.py")
    assert (ended.code == 0) == proved
    ended = run("replay", "replay", path)
    assert ended.code in (0, 1, 2)
    assert not (ended.code == 0 and not proved)


@pytest.mark.slow
@cases(40)
@given(data=st.data())
def test_a_torn_certificate(stored, path, data):
    text = json.dumps(stored.certificate)
    raw = data.draw(torn(text) | WHOLE_TEXTS)
    path.write_bytes(raw)
    ended = run("replay", "replay", path)
    assert ended.code == 2 or json.loads(raw.decode("utf-8-sig")) == stored.certificate


OLD = {
    "integer": {"integer": 0, "low": 0, "high": 1},
    "tensor": {"tensor": ["3", "1"], "shape": [2], "low": "-8", "high": "8"},
    "number": {"tensor": ["0"], "shape": [], "low": "-8", "high": "8"},
}


@pytest.mark.slow
@cases(60)
@given(data=st.data())
def test_a_certificate_of_an_older_schema(path, data):
    """Schema 1 holds records with shapes: of more than 64 axes, of no size, of huge sizes."""
    record = [OLD["integer"], OLD["tensor"], OLD["number"]]
    shapes = st.sampled_from([[1] * 65, [0, 2**70], [2**62, 2**62, 0], [1] * 64, [2, 1], [2]])
    shape = data.draw(shapes)
    record[1] = record[1] | {"shape": shape, "tensor": ["3"] * min(2, math.prod(shape))}
    old = {"schema": 1, "smallest": {"record": record, "family": "points()"}, "worst": None}
    changed = signed(data.draw(mutated(old) | st.just(old)))
    path.write_text(as_text(changed), encoding="utf-8", errors="surrogatepass")
    refused("older schema", (CertificateError,), lambda: instances_of(path))


@pytest.mark.slow
@cases(15)
@given(data=st.data())
def test_an_instance_that_is_typed(stored, here, data):
    """`certify --instance` certifies what refutes the claim, and nothing else."""
    choices = data.draw(mutated([0, [3, "7/2"], 0]) | ODD_VALUES)
    text = as_text(choices)
    folder = here / "certified"
    for old in folder.glob("*.json"):
        old.unlink()
    arguments = ("certify", "mine.py::test_norm", "--folder", folder, f"--instance={text}")
    ended = run("certify", *arguments)
    norm = square({"family": "points()", "instance": choices})
    assert (ended.code == 0) == (norm is not None and norm > 9)
    assert [p.name for p in folder.glob("*")] == (["t.norm.json"] if ended.code == 0 else [])


@pytest.mark.slow
@cases(20)
@given(data=st.data())
def test_names_lead_nowhere_else(stored, path, data):
    """The id, the file and the path of a certificate may say anything."""
    names = st.sampled_from(
        ["../../x", "/etc/passwd", "../../../x.py", "a" * 300 + ".py", "\x00.py", "a\nb.py",
         "..", "", "loop.py", "~/x.py", "t." + "a" * 300, "T.norm", "t.norm ", "t.norm\n"]
    )  # fmt: skip
    loop = path.parent / "loop.py"
    if not loop.is_symlink():
        loop.symlink_to("loop.py")
    changed = {**stored.certificate}
    for field in data.draw(st.sets(st.sampled_from(["claim", "file", "path"]), min_size=1)):
        changed[field] = data.draw(names)
    path.write_text(json.dumps(signed(changed)), encoding="utf-8")
    before = files()
    ended = run("names", "replay", path)
    if changed["claim"] != "t.norm":
        assert ended.code == 2
    with watched("names"):
        assert files() == before


def files():
    return {p for p in Path("../..").rglob("*") if "__pycache__" not in p.parts}
