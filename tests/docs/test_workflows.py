"""The workflows are YAML that GitHub takes, and their commands are ones that rankcheck has."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from rankcheck.faces.commands.cli import main, parser

from .pages import DOCS, ROOT, blocks
from .test_commands import commands, words

PAGE = (DOCS / "ci.md").read_text("utf-8")
BLOCKS = [block for language, block in blocks(PAGE) if language == "yaml"]
WHOLE, PYTEST, JOB = BLOCKS
CLAIM = '''
from rankcheck import cited, paper

@cited("t.workflow", paper("rank", "p. 1"), reason="too long")
def test_workflow():
    """A long computation."""
'''


def workflow(text):
    """A workflow as GitHub reads it: YAML 1.2, where `on` is a text and no truth value."""
    return yaml.load(text, yaml.BaseLoader)


def runs(steps):
    """The lines of a shell that the steps run."""
    return [line for step in steps for line in step.get("run", "").splitlines()]


def test_the_workflow_of_the_page_runs(tmp_path, monkeypatch, capsys):
    """Its commands, one after the other, write each file that its artifact has."""
    monkeypatch.chdir(tmp_path)
    Path("my_conjectures.py").write_text(CLAIM, "utf-8")
    steps = workflow(WHOLE)["jobs"]["claims"]["steps"]
    ran = [words(line) for line in commands(runs(steps))]
    assert [arguments[0] for arguments in ran] == ["verify", "report"]
    for arguments in ran:
        assert main(arguments) == 0, capsys.readouterr().err
    names = steps[-1]["with"]["path"].split()
    assert {name for name in names if not Path(name).exists()} == {".rankcheck/"}
    moved = [name for line in runs(page_job()["steps"]) for name in re.findall(r"mv (\S+)", line)]
    assert moved
    assert set(moved) <= set(names)


def page_job():
    """The job that publishes the page."""
    return workflow(f"jobs:\n{JOB}")["jobs"]["page"]


def test_the_steps_with_pytest(request):
    steps = workflow(PYTEST)
    [line] = [line for line in runs(steps) if line.startswith("pytest ")]
    known = request.config._parser.parse_known_args(shlex.split(line)[1:])
    assert known.rankcheck_profile == "ci"
    assert known.rankcheck_ledger == "ledger.json"
    unknown = request.config._parser.parse_known_and_unknown_args(shlex.split(line)[1:])[1]
    assert unknown == []


OURS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_workflows_of_this_project(path):
    """Their commands are read, too; a job has a limit, and no right that it does not need."""
    data = workflow(path.read_text("utf-8"))
    assert data["permissions"] == {"contents": "read"}
    for name, job in data["jobs"].items():
        assert int(job["timeout-minutes"]) <= 210
        assert set(job.get("needs", [])) <= set(data["jobs"]) or job["needs"] in data["jobs"]
        assert ("permissions" in job) == (name in ("publish", "notes", "pages"))
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] == "false"
                assert "write" not in job.get("permissions", {}).values()
        for line in commands(runs(job["steps"])):
            parser().parse_args(words(re.sub(r"\$\{\{.*?\}\}", "x", line)))


def test_actions_are_pinned_to_one_commit_each():
    """A tag can be moved; the comment says which version the commit is."""
    uses = [line for path in OURS for line in re.findall(r"uses: (.*)", path.read_text("utf-8"))]
    pins = {re.fullmatch(r"([\w/-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in uses}
    assert len(pins) > 4
    assert None not in pins
    assert len({found[1] for found in pins}) == len({found[0] for found in pins})


def test_the_exit_codes_are_those_of_the_commands():
    from rankcheck.faces.terminal.exits import Exit

    table = PAGE.partition("| `rankcheck verify` | pytest |")[2].partition("\n\n")[0]
    codes = {int(row.split("|")[1]) for row in table.splitlines()[2:]}
    assert codes == {Exit.EXPECTED, Exit.REFUTED, Exit.USAGE, Exit.UNDECIDED, Exit.INTERNAL}
