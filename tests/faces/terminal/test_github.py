"""Workflow commands and the summary of a job, read back by the rules of GitHub."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rankcheck.faces.terminal.github import (
    SUMMARY,
    Annotation,
    add_summary,
    annotated,
    in_repository,
    summary,
)
from rankcheck.faces.terminal.plain import printable

#: Text as it may stand in an error or a path: with what a workflow command gives a meaning.
TEXTS = st.text(st.sampled_from("%:,\n;=02A5DC a∀") | st.characters(categories=["L", "P", "S"]))


def read(line):
    """A workflow command as the runner of GitHub reads it: level, properties, message."""
    assert "\n" not in line
    assert "\r" not in line
    head, said, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
    properties = dict(pair.split("=", 1) for pair in said.split(","))
    return head, {name: unescaped(text) for name, text in properties.items()}, unescaped(message)


def unescaped(text):
    # ActionCommand.cs of actions/runner: the pairs in this order, the per cent sign last.
    for code, letter in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, letter)
    return text


@given(TEXTS, TEXTS.filter(lambda name: "/" not in name and name.strip(".")))
def test_github_reads_what_was_said(message, name):
    one = Annotation("error", "t.a", "failed", message, Path(f"/nowhere/{name or 'a'}.py"), 12)
    level, properties, read_back = read(str(one))
    assert (level, read_back) == ("error", printable(message))
    assert properties == {
        "file": printable(f"/nowhere/{name or 'a'}.py"),
        "line": "12",
        "title": "t.a: failed",
    }


def test_a_row_as_expected_is_not_annotated(row):
    rows = [
        row(1, kind="bound", verdict="holds"),
        row(2, kind="conjecture", verdict="refuted", messages=("false", "very")),
        row(3, kind="bound", verdict="undecided", messages=()),
        row(4, kind="refuted", verdict="refuted"),
        row(5, kind="refuted", verdict="failed", messages=("\x1b[31mred\r",)),
    ]
    found = annotated(rows, {one.id: (Path(f"{one.id}.py"), 7) for one in rows})
    assert [(one.level, one.id[-1], one.message) for one in found] == [
        ("error", "2", "false\nvery"),
        ("warning", "3", f"{rows[2].id}: undecided"),
        ("error", "5", "\x1b[31mred\r"),
    ]
    assert "\x1b" not in str(found[2])
    assert read(str(found[2]))[2] == r"\x1b[31mred\r"


def test_paths_are_relative_to_the_repository(tmp_path, monkeypatch):
    """A worktree has a file in the place of the folder .git."""
    (tmp_path / "work" / "inner" / "deep").mkdir(parents=True)
    (tmp_path / "work" / ".git").mkdir()
    file = tmp_path / "work" / "inner" / "deep" / "a.py"
    monkeypatch.chdir(tmp_path / "work" / "inner")
    assert in_repository(Path("deep/a.py")) == "inner/deep/a.py" == in_repository(file)
    (tmp_path / "work" / "inner" / ".git").write_text("gitdir: elsewhere")
    assert in_repository(file) == "deep/a.py"
    assert in_repository(Path("/nowhere/a.py")) == "/nowhere/a.py"


def test_the_summary_is_a_table_whatever_is_said():
    rough = r"lhs | rhs `a` *b* _c_ $x_1$ [d](e) <b>&amp; \ ~~f~~" + "\nmore"
    found = [Annotation("error", "t.a", "failed", rough, Path("/n/my_file.py"), 4)]
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    shown = page.render(summary("1 claim: 1 FAILED", found))
    assert shown.count("<td>") == 4
    assert "<h3>rankcheck</h3>\n<p>1 claim: 1 FAILED</p>" in shown
    said = re.findall("<td>(.*?)</td>", shown)
    assert said[:3] == ["t.a", "failed", "/n/my_file.py:4"]
    assert said[3] == (
        r"lhs | rhs `a` *b* _c_ $x_1$ [d](e) &lt;b&gt;&amp;amp; \ ~~f~~"  # as text, and escaped
    )
    assert "<table>" not in page.render(summary("1 claim: 1 hold", []))


def test_a_summary_is_added_to_what_is_there(tmp_path, monkeypatch):
    assert add_summary("no job") is None
    monkeypatch.setenv(SUMMARY, str(tmp_path / "s.md"))
    (tmp_path / "s.md").write_text("of another step\n")
    assert add_summary("one\n") is add_summary("two \udc80\n") is None
    assert (tmp_path / "s.md").read_text() == "of another step\none\ntwo \\udc80\n"


def test_a_summary_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(SUMMARY, "no/s.md")
    problem = add_summary("text")
    assert "cannot be written to no/s.md" in problem
