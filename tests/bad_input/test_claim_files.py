"""Claim files that were changed in a few places: claims with a row each, or one line."""

import contextlib
import random
import sys

import pytest
from hypothesis import strategies as st

from rankcheck.claims.catalogue.loader import load_each
from rankcheck.claims.catalogue.selection import select
from rankcheck.engine.verification.ledger import Row
from rankcheck.engine.verification.one import verify_entry
from rankcheck.errors import InputError
from tests import claim_text

from .cases import cases, refused, run
from .conftest import CLAIMS, SMALL, forget

GOOD = CLAIMS.read_text(encoding="utf-8")
#: What is written in place of a word, or between two.
WORDS = [
    "None", "True", "0", "-1", "1.5", "''", "'a'", "[]", "{}", "()", "x", "y", "self",
    "lambda:", "*", "**", ",", ")", "(", "]", "[", "}", "{", ":", "=", "==", ".", "@", "#",
    '"', "'''", "\\", "\n", "\x00", "\ufeff", "\udc80", "é", "return", "raise", "yield",
    "await", "async", "class", "def", "del", "pass", "import", "if", "else", "while",
    "source.tensor()", "source.integer(1,2)", "points()", "numbers", "numbers()", "points",
    "eq", "leq", "bound", "paper", "__file__", "1/0", "1j", "1e400", "0x", "sys.exit()",
    "Erratum", "refuted", "conjecture", "instances=", "tight=", "reason=", "needs=",
    "effort=-1", "effort='x'", "mutants=3", "no_ball=1", "loose=[]", "**{}",
    "*[]", "'t.norm'", "'../../x'", "float('nan')"
]  # fmt: skip


@st.composite
def changed_files(draw):
    """A good file with one to three words, lines or bytes changed."""
    text = GOOD
    for _ in range(draw(st.integers(1, 3))):
        lines = text.split("\n")
        i, j = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        match draw(st.sampled_from(["word"] * 3 + ["drop", "swap", "double", "indent", "cut"])):
            case "word":
                parts = lines[i].replace("(", " ( ").replace(",", " , ").split(" ")
                parts[draw(st.integers(0, len(parts) - 1))] = draw(st.sampled_from(WORDS))
                lines[i] = " ".join(parts)
            case "drop":
                del lines[i]
            case "swap":
                lines[i], lines[j] = lines[j], lines[i]
            case "double":
                lines[i:i] = lines[i : i + 12]
            case "indent":
                lines[i] = draw(st.sampled_from(["", " ", "    ", "\t"])) + lines[i].lstrip()
            case "cut":
                lines[i] = lines[i][: len(lines[i]) // 2]
        text = "\n".join(lines)
    return text


@pytest.fixture(scope="module")
def mine(here):
    """The path of a file that is not `mine.py`, whose claims are in use."""
    (here / "changed").mkdir()
    forget()
    return here / "changed" / "other.py"


@cases(10, text=changed_files(), command=st.sampled_from(["list", "show"]))
def test_it_is_listed_without_being_run(mine, text, command):
    mine.write_text("open('ran', 'w')\n" + text, encoding="utf-8", errors="surrogatepass")
    assert run(command, mine).code in (0, 2)
    assert not (mine.parent.parent / "ran").exists()


@cases(10, text=changed_files())
def test_each_claim_has_a_row(mine, text):
    """Or the file is refused with its place."""
    mine.write_text(text, encoding="utf-8", errors="surrogatepass")
    rows = []

    def verify():
        entries = select([str(mine)])
        for entry, claim in zip(entries, load_each(entries), strict=True):
            rows.append(verify_entry(entry, claim, SMALL))

    try:
        with contextlib.suppress(InputError):
            verify()
    finally:
        forget()
    for row in rows:
        assert Row.from_json(row.to_json()).verdict == row.verdict
        assert not any("Traceback" in message for message in row.messages)


DEEP = {
    "parentheses": "(" * 3000 + ")" * 3000,
    "minus": "-" * 20_000 + "1",
    "attributes": "a" + ".b" * 20_000,
    "lambdas": "lambda:" * 20_000 + "1",
    "minus in reach": "-" * 400 + "1",
    "digits": "1" * 5000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_what_is_too_deep_for_the_parser(mine, kind):
    """In an argument of a decorator, which is read, and in a body, which is not."""
    for place in ("eights()", "leq(x, most)"):
        mine.write_text(DEEP[kind].join(GOOD.rpartition(place)[::2]))
        assert run("list", mine).code == 2 or kind == "minus in reach"
        try:
            refused((InputError,), lambda: list(load_each(select([str(mine)]))))
        finally:
            forget()


@pytest.mark.parametrize("seed", range(5))
def test_bytes_that_are_no_text(mine, seed):
    mine.write_bytes(b"import rankcheck\n" + random.Random(seed).randbytes(200))
    assert run("list", mine).code == 2


@pytest.mark.parametrize(
    "line",
    [
        'sys.modules["torch"] = None',
        'del sys.modules["numpy"]',
        'sys.modules["flint"] = type(sys)("flint")',
        'sys.modules["rankcheck.engine.verification.check"] = None',
        'sys.modules["a_module_that_comes_later"] = None',
        'sys.modules["json"] = None',
        "sys.modules.clear()",
    ],
)
def test_a_file_that_hides_a_module_is_to_blame(here, command, line):
    path = here / "hides.py"
    path.write_text(f"{claim_text.HEAD}\n{claim_text.claim('hides')}\n{line}\n", encoding="utf-8")
    before = dict(sys.modules)
    code, _, err = command("verify", path, "--workers", 1, "--limit", 0)
    assert code == 2
    assert "hides.py: the file cannot be imported" in err
    assert "hides or replaces " in err
    assert all(sys.modules[name] is module for name, module in before.items())
    forget()
