"""docs/proving.md: the commands print what the page shows, but for the number of paths."""

import re

import pytest

from rankcheck.claims import registry
from rankcheck.faces.commands.cli import main

from .pages import DOCS, blocks

TEXT = (DOCS / "proving.md").read_text("utf-8")


def without_paths(text):
    """The text with no number of paths: another way to the same proof may have more of them."""
    return re.sub(r"on (all [\d ]+ paths|its path) through", "on all paths through", text)


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """The claims of the page in a file, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_claims", {})
    python = [text for language, text in blocks(TEXT) if language == "python"]
    text = "\n".join(python).replace("print(", "# print(")
    (tmp_path / "my_conjectures.py").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_the_answers_of_the_page(mine, capsys):
    first, second = [text for language, text in blocks(TEXT) if language == "text"]
    sizes = ["--entries", "4", "--shape", "rows of A=1", "--shape", "columns of A=2"]
    for name, options, shown in (("sylvester", sizes, first), ("square", [], second)):
        target = f"my_conjectures.py::test_{name}"
        assert main(["prove", target, *options, "--seconds", "200", "--limit", "0"]) == 0
        assert without_paths(shown) in without_paths(capsys.readouterr().out)
