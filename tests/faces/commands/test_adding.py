"""Making room for a new document: the list, the folder and the index, or nothing at all."""

import pytest

from rankcheck.claims.catalogue.statements import INDEX, statements
from rankcheck.claims.reference import REFERENCES, Document, parsed
from rankcheck.errors import InputError
from rankcheck.faces.commands import new as adding

LISTED = """
[folders]
shelf = "Several papers"

[[document]]
key = "first"
authors = "A. First"
title = "One"
venue = "here"
year = 2020
folder = "shelf"
"""


def new(key="me2027", folder=None, title='On "costs" \\ and {ranks}'):
    return Document(key, "A. Me, B. Yoü", title, "arXiv:2701.1", 2027, folder or key)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The folder of claims of a checkout with one document."""
    (tmp_path / "pyproject.toml").touch()
    folder = tmp_path / "properties"
    folder.mkdir()
    (folder / REFERENCES).write_text(LISTED, encoding="utf-8")
    monkeypatch.setattr(adding, "project_folder", lambda: folder)
    return folder


def listed(root):
    return parsed((root / REFERENCES).read_text(encoding="utf-8"), "list")[0]


def test_a_document_is_listed_and_has_a_folder_and_an_empty_index(root):
    assert adding.add_document(new()) == [root / REFERENCES, root / "me2027" / INDEX]
    assert list(listed(root).values())[1:] == [new()]
    assert (root / REFERENCES).read_text(encoding="utf-8").startswith(LISTED)
    assert statements(root / "me2027") == []
    text = (root / "me2027" / INDEX).read_text(encoding="utf-8")
    example = text.partition(":\n#\n")[2].replace("# ", "").replace("#", "")
    (root / "me2027" / INDEX).write_text(example, encoding="utf-8")
    claimed, defined = statements(root / "me2027")
    assert (claimed.claims, defined.none) == (("me2027.my-claim",), "definition")


def test_what_is_in_a_folder_stays(root):
    index = root / "shelf" / INDEX
    index.parent.mkdir()
    index.write_text("# mine\n")
    assert adding.add_document(new(folder="shelf")) == [root / REFERENCES]
    assert index.read_text() == "# mine\n"
    assert listed(root)["me2027"].folder == "shelf"


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (new("first"), "'first' is the key of a document already"),
        (new("rankcheck"), "'rankcheck' is the key of a document already"),
        (new("Me"), "lower-case"),
        (new(folder="other"), "no title"),
        (new(title=" "), "it is a text"),
    ],
)
def test_nothing_is_written_if_it_does_not_fit(root, document, why):
    with pytest.raises(InputError, match=why):
        adding.add_document(document)
    assert (root / REFERENCES).read_text(encoding="utf-8") == LISTED
    assert [path.name for path in root.iterdir()] == [REFERENCES]
