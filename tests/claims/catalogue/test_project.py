"""What every claim of the project has: controls, and whole accusations."""

from rankcheck.audit.theorems.table import LEFT_OUT, theorem_of
from rankcheck.claims.catalogue import collect as catalogue
from rankcheck.claims.kinds import FALSE

DOCS = catalogue.project_folder().parent / "docs"
ENTRIES = catalogue.project()


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


def test_no_certificate_without_a_claim():
    false = {entry.id for entry in ENTRIES if entry.kind in FALSE}
    stored = catalogue.project_folder().glob("*/certificates/*.json")
    assert {path.stem for path in stored} == false


def test_no_record_without_a_claim():
    true = {entry.id for entry in ENTRIES if entry.kind not in (*FALSE, "cited")}
    stored = catalogue.project_folder().glob("*/records/*.json")
    assert {path.stem for path in stored} <= true


def test_what_audits_do_is_said_in_their_words():
    for entry in ENTRIES:
        if entry.audit is not None and not entry.audit.startswith(LEFT_OUT):
            assert theorem_of(entry.id, entry.audit).claim == entry.id


def test_proofs_that_claims_name_exist():
    """A docstring names its proof as docs/proofs/NAME.md, and every proof is named by a claim."""
    text = "".join(entry.statement for entry in ENTRIES)
    pages = {path.name for path in (DOCS / "proofs").glob("*.md")}
    for name in pages:
        assert f"docs/proofs/{name}" in text, name
    named = {word.split(".md")[0] + ".md" for word in text.split("docs/proofs/")[1:]}
    assert named <= pages
