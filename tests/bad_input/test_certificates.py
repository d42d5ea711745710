"""Certificates that were changed: what is proved is what their numbers prove, and nothing else.

The numbers are evaluated here once more, in fractions, without anything of rankcheck.
"""

import json
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st

from rankcheck.claims.catalogue.certificates import CertificateError
from rankcheck.engine.counterexamples import replay

from .cases import cases, refused, run
from .strategies import ODD_VALUES, WHOLE_TEXTS, as_bytes, as_text, mutated, signed, torn

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


@st.composite
def by_others(draw, good):
    """A certificate that says it was made by others, so that less is compared."""
    data = draw(mutated({name: good[name] for name in ("smallest", "worst")}))
    made = draw(st.sampled_from([{}, {"rankcheck": "0.0.1"}, good["versions"]]))
    return {**good, **(data if isinstance(data, dict) else {}), "versions": made}


@pytest.fixture
def path(here):
    return here / "good" / "changed.json"


def check(stored, path, data):
    """Replay a certificate in Python; whether it is proved, for the claim as it is."""
    path.write_bytes(as_bytes(data))
    claim, replays = stored.claims["t.norm"], []
    refused((CertificateError,), lambda: replays.append(replay(path, claim=claim)))
    proved = bool(replays) and replays[0].refuted
    if proved:
        assert square(data["smallest"]) > 9
        sections = [data[name] for name in ("smallest", "worst") if data[name] is not None]
        assert replays[0].changed or all(map(attests, sections)), sections
    return proved and not replays[0].changed


@cases(25, data=st.data())
def test_what_is_proved_is_true(stored, path, data):
    good = stored.certificate
    changed = data.draw(mutated(good) | by_others(good))
    check(stored, path, signed(changed) if data.draw(st.integers(0, 7)) else changed)


@cases(8, data=st.data())
def test_the_command_agrees(stored, path, data):
    proved = check(stored, path, signed(data.draw(mutated(stored.certificate))))
    assert (run("replay", path, "--claims", "mine.py").code == 0) == proved
    code = run("replay", path).code
    assert code in (1, 2) or (code == 0 and proved)
    raw = data.draw(torn(json.dumps(stored.certificate)) | WHOLE_TEXTS)
    path.write_bytes(raw)
    same = run("replay", path).code != 2
    assert not same or json.loads(raw.decode("utf-8-sig")) == stored.certificate


@cases(8, data=st.data())
def test_an_instance_that_is_typed(stored, here, data):
    """`certify --instance` certifies what refutes the claim, and nothing else."""
    choices = data.draw(mutated([0, [3, "7/2"], 0]) | ODD_VALUES)
    folder = here / ".rankcheck"
    for old in folder.glob("*.json"):
        old.unlink()
    ended = run("certify", "mine.py::test_norm", f"--instance={as_text(choices)}")
    norm = square({"family": "points()", "instance": choices})
    assert (ended.code == 0) == (norm is not None and norm > 9)
    assert [p.name for p in folder.glob("*.json")] == (["t.norm.json"] if ended.code == 0 else [])


NAMES = st.sampled_from(
    ["../../x", "/etc/passwd", "../../../x.py", "a" * 300 + ".py", "\x00.py", "a\nb.py", "..", "",
     "loop.py", "~/x.py", "t." + "a" * 300, "T.norm", "t.norm ", "t.norm\n"]
)  # fmt: skip


@cases(10, data=st.data())
def test_names_lead_nowhere_else(stored, path, data):
    """The id, the file and the path of a certificate may say anything."""
    loop = path.parent / "loop.py"
    if not loop.is_symlink():
        loop.symlink_to("loop.py")
    fields = data.draw(st.sets(st.sampled_from(["claim", "file", "path"]), min_size=1))
    changed = stored.certificate | {field: data.draw(NAMES) for field in fields}
    path.write_text(json.dumps(signed(changed)), encoding="utf-8")
    before = files()
    ended = run("replay", path)
    assert changed["claim"] == "t.norm" or ended.code == 2
    assert files() == before


def files():
    return {p for p in Path("../..").rglob("*") if "__pycache__" not in p.parts}
