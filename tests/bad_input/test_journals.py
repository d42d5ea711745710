"""Journals that were changed: a hunt goes on from them, or it says which line is wrong.

Whatever a journal says, a claim that is true is not refuted, and a certificate is proved anew.
"""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankcheck.hunt import HuntError, hunt
from rankcheck.hunt.journal import Journal, JournalError

from .cases import cases, refused
from .strategies import ODD_VALUES, WHOLE_TEXTS, as_text, mutated, torn
from .test_certificates import square


def hunted(here, claim, journal):
    """The verdict of a hunt with a journal that leaves little of the budget; empty if refused."""
    found = []

    def go():
        folder = here / ".rankcheck"
        found.append(hunt(claim, 0.05, journal=journal, folder=folder, scope=0, shrink=0.0))

    said = refused("hunts", (HuntError,), go)
    assert said.count("\n") == 0
    return found[0].verdict if found else ""


@pytest.fixture(scope="module")
def journals(here, stored):
    """Lines of the journals of the true claim and of the false one."""
    lines = {}
    for name in ("true", "norm"):
        path = here / "good" / f"{name}.jsonl"
        if not path.exists():
            claim, folder = stored.claims[f"t.{name}"], here / ".rankcheck"
            hunt(claim, None, rounds=1, journal=path, folder=folder, scope=0, shrink=0.0)
        lines[name] = path.read_text(encoding="utf-8").splitlines()
    assert all(len(found) > 1 for found in lines.values())
    return {name: [json.loads(line) for line in found[:8]] for name, found in lines.items()}


@pytest.fixture
def path(here):
    return here / "good" / "changed.jsonl"


def write(path, lines):
    texts = [as_text(line) for line in lines]
    path.write_text("\n".join([*texts, ""]), encoding="utf-8", errors="surrogatepass")


CHANGES = ["change", "change", "outcome", "found", "double", "drop", "move"]


@st.composite
def changed_journals(draw, lines):
    """The lines of a journal; some are changed, doubled, swapped or left out."""
    lines = list(lines)
    for _ in range(draw(st.integers(1, 2))):
        i = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(CHANGES)):
            case "change":
                lines[i] = draw(mutated(lines[i]))
            case "outcome" if isinstance(lines[i], dict) and "outcome" in lines[i]:
                lines[i] = {**lines[i], "outcome": draw(mutated(lines[i]["outcome"]))}
            case "found" if isinstance(lines[i], dict) and isinstance(
                lines[i].get("outcome"), dict
            ):
                outcome = {**lines[i]["outcome"], "found": draw(findings())}
                lines[i] = {**lines[i], "outcome": outcome}
            case "double":
                lines.insert(i, lines[i])
            case "drop" if len(lines) > 1:
                del lines[i]
            case "move":
                lines.append(lines.pop(i))
    return lines


def findings():
    """What a shard may say that it has found, true or not."""
    choices = mutated([8]) | mutated([0, [3, 4], 0]) | ODD_VALUES
    return st.fixed_dictionaries(
        {"choices": choices, "proved": st.just(True), "violation": st.sampled_from([0.5, 1e308])}
    )


def whole(path, head):
    """Whether a journal is accepted."""
    journal = []
    said = refused("journals", (JournalError,), lambda: journal.append(Journal(path, head)))
    for one in journal:
        assert 0 <= one.seconds < math.inf
        one.close()
    assert bool(said) != bool(journal)
    return bool(journal)


@pytest.mark.slow
@cases(60)
@given(data=st.data())
def test_a_changed_journal(journals, path, data):
    lines = journals["true"]
    head = {name: value for name, value in lines[0].items() if name != "journal"}
    changed = data.draw(changed_journals(lines))
    write(path, changed)
    before = path.read_bytes()
    if not whole(path, head):
        assert path.read_bytes() == before


@pytest.mark.slow
@cases(8)
@given(data=st.data())
def test_a_true_claim_is_not_refuted(journals, stored, here, path, data):
    write(path, data.draw(changed_journals(journals["true"])))
    assert hunted(here, stored.claims["t.true"], path) != "refuted"
    assert not (here / ".rankcheck" / "t.true.json").exists()


@pytest.mark.slow
@cases(8)
@given(data=st.data())
def test_a_false_claim_is_refuted_by_true_numbers(journals, stored, here, path, data):
    certificate = here / ".rankcheck" / "t.norm.json"
    certificate.unlink(missing_ok=True)
    write(path, data.draw(changed_journals(journals["norm"])))
    verdict = hunted(here, stored.claims["t.norm"], path)
    assert certificate.exists() == (verdict == "refuted")
    if certificate.exists():
        assert square(json.loads(certificate.read_text())["smallest"]) > 9


@pytest.mark.slow
@cases(40)
@given(data=st.data())
def test_a_torn_journal(journals, path, data):
    lines = journals["true"]
    head = {name: value for name, value in lines[0].items() if name != "journal"}
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    path.write_bytes(data.draw(torn(text) | WHOLE_TEXTS))
    whole(path, head)


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "/dev", ".", "\x00"])
def test_what_is_no_file(here, stored, place):
    assert hunted(here, stored.claims["t.true"], place) == ""
