"""What every claim of the project has: controls, whole accusations, generated pages."""

from collections import Counter

import pytest

from rankcheck.catalogue import collect as catalogue
from rankcheck.claims.kinds import FALSE
from rankcheck.terminal import catalogue as index
from rankcheck.terminal import errata

DOCS = catalogue.project_folder().parent / "docs"
ENTRIES = catalogue.project()


@pytest.mark.parametrize(
    ("name", "made", "command"),
    [
        ("claims.md", index.markdown, "rankcheck list --markdown > docs/claims.md"),
        ("errata.md", errata.markdown, "rankcheck list --errata > docs/errata.md"),
    ],
)
def test_generated_pages_are_up_to_date(name, made, command):
    assert (DOCS / name).read_text(encoding="utf-8") == made(ENTRIES), f"write it anew: {command}"


def test_every_claim_has_a_control_of_its_own():
    """The derived mutant of an equation is free, and an identity needs more than that."""
    kinds = ("identity", "bound", "construction", "limit", "conjecture")
    bare = [e.id for e in ENTRIES if e.kind in kinds and not (e.needs or e.mutants)]
    assert bare == []


def test_a_conjecture_has_a_guard_of_known_strength():
    weak = [e.id for e in ENTRIES if e.kind == "conjecture" and not (e.tight and e.mutants)]
    assert weak == []


def test_accusations_are_whole():
    for entry in ENTRIES:
        assert "TODO" not in "".join(
            [text for erratum in entry.errata for text in vars(erratum).values() if text]
            + [*entry.readings, *entry.readings.values()]
        ), entry.id
        if entry.kind in FALSE:
            stored = entry.file.parent / "certificates" / f"{entry.id}.json"
            assert stored.exists(), entry.id


def test_every_erratum_is_listed():
    page = errata.markdown(ENTRIES)
    named = [entry.id for entry in ENTRIES for _ in entry.errata]
    for id_, times in Counter(named).items():
        assert page.count(f"`{id_}` (") >= times, id_
    assert page.count("**Printed:**") == len(named)


def test_no_certificate_without_a_claim():
    false = {entry.id for entry in ENTRIES if entry.kind in FALSE}
    stored = catalogue.project_folder().glob("*/certificates/*.json")
    assert {path.stem for path in stored} == false


def test_proofs_that_claims_name_exist():
    """A docstring names its proof as docs/proofs/NAME.md, and every proof is named by a claim."""
    text = "".join(entry.statement for entry in ENTRIES)
    pages = {path.name for path in (DOCS / "proofs").glob("*.md")}
    for name in pages:
        assert f"docs/proofs/{name}" in text, name
    named = {word.split(".md")[0] + ".md" for word in text.split("docs/proofs/")[1:]}
    assert named <= pages
