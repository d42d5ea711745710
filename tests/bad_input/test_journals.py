"""Journals that were changed: a hunt goes on from them, or it says which line is wrong.

Whatever a journal says, a claim that is true is not refuted, and a certificate is proved anew.
"""

import json
import math

import pytest
from hypothesis import strategies as st

from rankcheck.hunt import HuntError, hunt
from rankcheck.hunt.journal import Journal, JournalError

from .cases import cases, refused
from .strategies import ODD_VALUES, WHOLE_TEXTS, as_text, mutated, torn
from .test_certificates import square


def hunted(here, claim, journal):
    """The verdict of a hunt with a journal that leaves little of the budget; empty if refused."""
    hunts = []

    def go():
        folder = here / ".rankcheck"
        hunts.append(hunt(claim, 0.05, journal=journal, folder=folder, scope=0, shrink=0.0))

    assert refused((HuntError,), go).count("\n") == 0
    return hunts[0].verdict if hunts else ""


@pytest.fixture(scope="module")
def journals(here, stored):
    """Lines of the journals of the true claim and of the false one, as JSON."""
    lines = {}
    for name in ("true", "norm"):
        path, claim = here / "good" / f"{name}.jsonl", stored.claims[f"t.{name}"]
        hunt(claim, None, rounds=1, journal=path, folder=here / ".rankcheck", scope=0, shrink=0.0)
        lines[name] = [json.loads(line) for line in path.read_text("utf-8").splitlines()[:8]]
        assert len(lines[name]) > 1
    return lines


@pytest.fixture
def path(here):
    return here / "good" / "changed.jsonl"


def write(path, lines):
    text = "".join(as_text(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")


@st.composite
def changed_journals(draw, lines):
    """The lines of a journal; some are changed, doubled, swapped or left out."""
    lines = list(lines)
    for _ in range(draw(st.integers(1, 2))):
        i = draw(st.integers(0, len(lines) - 1))
        inner = lines[i].get("outcome") if isinstance(lines[i], dict) else None
        match draw(st.sampled_from(["change", "change", "outcome", "found", "double", "move"])):
            case "outcome" if inner:
                lines[i] = {**lines[i], "outcome": draw(mutated(inner))}
            case "found" if isinstance(inner, dict):
                lines[i] = {**lines[i], "outcome": {**inner, "found": draw(FINDINGS)}}
            case "double":
                lines.insert(i, lines[i])
            case "move":
                lines.append(lines.pop(i))
            case _:
                lines[i] = draw(mutated(lines[i]))
    return lines


#: What a shard may say that it has found, true or not.
FINDINGS = st.fixed_dictionaries(
    {
        "choices": mutated([8]) | mutated([0, [3, 4], 0]) | ODD_VALUES,
        "proved": st.just(True),
        "violation": st.sampled_from([0.5, 1e308]),
    }
)


def length(path, head):
    """The number of finished shards in a journal; None if it is refused."""
    journals = []
    head = {name: value for name, value in head.items() if name != "journal"}
    message = refused((JournalError,), lambda: journals.append(Journal(path, head)))
    assert bool(message) != bool(journals)
    for journal in journals:
        assert 0 <= journal.seconds < math.inf
        journal.close()
        return len(journal)
    return None


@cases(50, data=st.data())
def test_a_changed_or_torn_journal(journals, path, data):
    head, *rest = journals["true"]
    write(path, [head, *rest])
    assert length(path, head) == len(rest)
    whole = path.read_text(encoding="utf-8")
    write(path, data.draw(changed_journals(journals["true"])))
    if data.draw(st.booleans()):
        path.write_bytes(data.draw(torn(whole) | WHOLE_TEXTS))
    before = path.read_bytes()
    assert length(path, head) is not None or path.read_bytes() == before


@cases(5, data=st.data())
def test_a_true_claim_is_not_refuted(journals, stored, here, path, data):
    write(path, data.draw(changed_journals(journals["true"])))
    assert hunted(here, stored.claims["t.true"], path) != "refuted"
    assert not (here / ".rankcheck" / "t.true.json").exists()


@cases(5, data=st.data())
def test_a_false_claim_is_refuted_by_true_numbers(journals, stored, here, path, data):
    certificate = here / ".rankcheck" / "t.norm.json"
    certificate.unlink(missing_ok=True)
    write(path, data.draw(changed_journals(journals["norm"])))
    verdict = hunted(here, stored.claims["t.norm"], path)
    assert certificate.exists() == (verdict == "refuted")
    if certificate.exists():
        assert square(json.loads(certificate.read_text())["smallest"]) > 9


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "/dev", ".", "\x00"])
def test_what_is_no_file(here, stored, place):
    assert hunted(here, stored.claims["t.true"], place) == ""
