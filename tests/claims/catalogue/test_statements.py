"""The indexes of statements: how they are read, and that they leave out no claim."""

import pytest

from rankcheck.claims.catalogue.collect import by_group, project
from rankcheck.claims.catalogue.entry import CatalogueError
from rankcheck.claims.catalogue.statements import INDEX, Statement, statements, unindexed
from rankcheck.claims.reference import OWN, headings
from rankcheck.files import project_folder

CLAIMED = """
[[statement]]
at = "Thm 1"
section = "1 Results"
says = "A cost is not negative."
claims = ["rank.padding"]
"""
DEFINED = """
[[statement]]
at = "Def. 1"
section = "1 Results"
says = "What a cost is."
none = "definition"
"""


@pytest.fixture
def index(tmp_path):
    def read(text):
        (tmp_path / INDEX).write_text(text, encoding="utf-8")
        return statements(tmp_path)

    return read


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (CLAIMED + CLAIMED, "two statements at 'Thm 1'"),
        (CLAIMED + 'none = "definition"', "claims and a reason to have none"),
        (DEFINED.replace("none", "#"), "no claims and no reason"),
        (DEFINED.replace("says", "say"), "the fields of a statement are"),
        (DEFINED.replace('"What a cost is."', '" "'), "says is ' '"),
        (CLAIMED.replace('["rank.padding"]', '"rank.padding"'), "it is a list of ids"),
        (CLAIMED.replace('["rank.padding"]', "[1]"), "it is a list of ids"),
        ("[statement]", "other tables"),
        ("[[claim]]", "other tables"),
        ("statement", "cannot be read"),
    ],
)
def test_what_is_no_index_is_an_error(index, text, why):
    with pytest.raises(CatalogueError, match=why):
        index(text)


def test_claims_that_no_statement_names_are_found():
    entries = [entry for entry in project() if entry.id in ("rank.padding", "rank.bijections")]
    named = Statement("Thm 1", "1", "…", ("rank.padding", "rank.nothing"))
    assert list(unindexed(entries, [named])) == [
        "the statement at 'Thm 1' names rank.nothing, and there is no such claim",
        "rank.bijections (Claim 1, §3) is the claim of no statement of the index",
    ]


@pytest.mark.parametrize("key", [key for key in headings() if key != OWN])
def test_every_claim_of_a_document_stands_in_its_index(key):
    index = statements(project_folder() / key)
    assert not list(unindexed(by_group(project()).get(key, []), index, project()))
