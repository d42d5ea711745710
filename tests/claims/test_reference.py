"""The list of documents, and references to them."""

import pytest

from rankcheck.claims.catalogue.collect import project
from rankcheck.claims.reference import OWN, Reference, documents, headings, paper, parsed
from rankcheck.errors import InputError
from rankcheck.files import project_folder

ROW = """
[[document]]
key = "me2027"
authors = "A. Me"
title = "On costs"
venue = "arXiv:2701.00001"
year = 2027
"""
OTHER = ROW.replace("me2027", "you2028")
SHARED = '[folders]\nshelf = "Several papers"\n' + "".join(
    row + 'folder = "shelf"\n' for row in (ROW, OTHER)
)


def test_a_document_has_a_folder_of_its_own_or_shares_one():
    found, titles = parsed(ROW, "list")
    assert [(one.key, one.folder, one.year) for one in found.values()] == [
        ("me2027",) * 2 + (2027,)
    ]
    assert not titles
    found, titles = parsed(SHARED, "list")
    assert {one.folder for one in found.values()} == {"shelf"}
    assert titles == {"shelf": "Several papers"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("document", "cannot be read"),
        ("[[paper]]", "other tables"),
        ("[document]", "other tables"),
        (ROW.replace("year = 2027", ""), "document 1, 'me2027' has no year; the fields of a"),
        (ROW + 'publisher = "P"', "document 1, 'me2027' has 'publisher'; the fields of a"),
        ("document = [1]", "document 1 has no authors, key, title, venue, year"),
        (ROW.replace("= 2027", "= 20277"), "year is 20277; it lies between 1600 and 2199"),
        (ROW.replace("2027\n", '"2027"\n'), "year is '2027'; it is a number"),
        (ROW.replace("A. Me", " "), "authors is ' '; it is a text"),
        (ROW.replace('"me2027"', '"Me 2027"'), "key is 'Me 2027'; it is lower-case"),
        (ROW + 'folder = "../up"', "folder is '../up'; it is lower-case"),
        (ROW + ROW, "two documents 'me2027'"),
        (ROW.replace("me2027", OWN), f"two documents '{OWN}'"),
        (SHARED.partition("\n\n")[2], "the folder shelf has the claims of me2027, you2028 and no"),
        ('[folders]\nshelf = "A"\n' + ROW, "no document is in it"),
        ('[folders]\nme2027 = "A"\n' + ROW, "is the key of a document"),
        ("[folders]\nshelf = 1\n", "has a title, a text"),
    ],
)
def test_what_is_no_list_is_an_error(text, why):
    with pytest.raises(InputError, match=why):
        parsed(text, "list")


def test_every_folder_has_one_heading_and_every_document_a_folder():
    assert set(headings()) == {one.folder for one in documents().values()}
    assert headings()["rank"] == str(documents()["rank"])
    assert headings()["field"] not in map(str, documents().values())
    folders = {path.name for path in project_folder().iterdir() if path.is_dir()}
    assert {name for name in folders if not name.startswith(("_", "."))} == set(headings()) - {OWN}


def test_a_claim_stands_in_the_folder_of_its_document():
    for entry in project():
        if entry.document != OWN:
            assert entry.file.parent.name == entry.group, entry.id
        assert entry.id.startswith(f"{entry.file.parent.name}."), entry.id


def test_a_reference_knows_its_document():
    assert paper("rank", "Thm 1").document is documents()["rank"]
    assert Reference("Me 2027", "Thm 1").document is None
    with pytest.raises(ValueError, match=r"the key of a document is one of rank, .*'me2027'"):
        paper("me2027", "Thm 1")
