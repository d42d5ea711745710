"""Every `rankcheck ...` that a page shows is a command line that the parser takes."""

import argparse
import re
import shlex

import pytest

from rankcheck.errors import InputError
from rankcheck.faces.commands.cli import parser

from .pages import blocks, pages, prose, shown

#: What stands for a number in a line of usage.
NUMBER = re.compile(r"\b(SECONDS|N)\b")
#: Where a shell takes over.
END = re.compile(r"\s(?:&&|\|\||[|;>])\s|\s{2,}")


def commands(lines: list[str]) -> list[str]:
    """The command lines of rankcheck among lines of a shell."""
    parts = [part.strip() for line in lines for part in END.split(line)]
    # In a message a command follows what it is for, as in `typed: rankcheck certify ...`.
    parts = [re.sub(r"^[a-z]+: (?=rankcheck )", "", part) for part in parts]
    return [part for part in parts if re.match(r"rankcheck [a-z]+\b", part)]


def in_blocks(text: str) -> list[str]:
    """The command lines in the blocks of a page; they are complete."""
    shells = [block for language, block in blocks(text) if language in ("", "sh", "text")]
    return commands([line.strip() for block in shells for line in block.splitlines()])


def in_prose(text: str) -> list[str]:
    """The command lines in the code spans of a page; they may lack arguments."""
    return commands([" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(text))])


def words(line: str) -> list[str]:
    """The arguments of a command line; what is optional in a line of usage is left out."""
    line = re.sub(r"\[(?:::\w+|--[^\]]+)\]|\|[A-Z]\w*", "", line.split(" #")[0])
    return shlex.split(NUMBER.sub("1", line))[1:]


def unknown(line: str) -> list[str]:
    """The sub-command and the options of a command line that rankcheck does not have."""
    name, *rest = line.replace("[", " ").replace("]", " ").split()[1:]
    known = subparsers()
    if name not in known:
        return [name]
    options = known[name]._option_string_actions
    return [word for word in rest if word.startswith("--") and word not in options]


def subparsers() -> dict[str, argparse.ArgumentParser]:
    """The parsers of the sub-commands by their names."""
    (action,) = (one for one in parser()._actions if isinstance(one, argparse._SubParsersAction))
    return action.choices


PAGES = {shown(path): path.read_text("utf-8") for path in pages()}
#: Of older versions the changelog says what was there; the latest names what is gone in its items.
PAGES["CHANGELOG.md"] = "\n".join(
    item
    for item in PAGES["CHANGELOG.md"].split("\n## ")[1].split("\n- ")
    if not item.startswith("**Gone**")
)


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if in_blocks(text)])
def test_command_lines_of_blocks(page):
    for line in in_blocks(PAGES[page]):
        try:
            parser().parse_args(words(line))
        except InputError as error:
            pytest.fail(f"{page} shows {line!r}: {error}")


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if in_prose(text)])
def test_command_lines_of_the_prose(page):
    assert {line: unknown(line) for line in in_prose(PAGES[page]) if unknown(line)} == {}
