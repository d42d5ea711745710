"""Every Python block of README and docs runs, in order, a page in one namespace.

Sybil finds and compiles the blocks. A page is one test, so that its blocks stay in one process
under pytest-xdist, which would deal out the items of sybil's own plugin one by one.
"""

import importlib
import inspect
import re
import shlex
import sys
import types
from fractions import Fraction
from pathlib import Path

import pytest
import torch
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

import rankcheck
import rankcheck.engine.hunt
from rankcheck.balls.array import FUNCTIONS, BallArray
from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import PROJECT_PACKAGE
from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt import run as hunting
from rankcheck.engine.hunt.strategies import STANDARD
from rankcheck.engine.verification.check import verify_claim
from rankcheck.engine.verification.profiles import Settings
from rankcheck.faces.commands.cli import main
from rankcheck.instances import instances, networks_at_points
from rankcheck.theory.instances.drivers import BatchSource

from .pages import DOCS, blocks, pages, shown

SYBIL = Sybil(parsers=[PythonCodeBlockParser()], pattern="*.md")


def python_blocks(path: Path) -> list[str]:
    return [block for language, block in blocks(path.read_text("utf-8")) if language == "python"]


PAGES = [path for path in pages() if python_blocks(path)]
#: Pages whose blocks are excerpts; all other pages bring what they use.
EXCERPTS = {"README.md", "docs/inside-hunts.md", "docs/figures.md"}
EXCERPTS |= {f"docs/{name}.md" for name in ("hunting", "architecture")}
EXCERPTS |= {f"docs/{name}.md" for name in ("writing-claims", "accusations")}


@instances
def slopes_and_points(source):
    return source.tensor(low=-0.5, high=0.5), source.tensor(2)


def around() -> dict:
    """What the excerpts take for granted: the names of rankcheck, a claim and an instance."""
    known: dict = {}
    for room in ("rankcheck", "rankcheck.instances", "rankcheck.linalg"):
        module = importlib.import_module(room)
        names = getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
        known |= {name: getattr(module, name) for name in names}
    net, x = networks_at_points()(BatchSource(seed=1))

    @rankcheck.conjecture("excerpt.mine", instances=networks_at_points(depth=(2, 2)))
    def test_mine(net, x):
        """Costs are not negative."""
        return rankcheck.leq(0, net.cost())

    return known | {
        "Fraction": Fraction,
        "net": net,
        "slopes_and_points": slopes_and_points,
        "test_mine": test_mine,
        "torch": torch,
        "x": x,
    }


def files_of_claims() -> list[str]:
    """The modules of rankcheck's own claims that are imported."""
    return [name for name in sys.modules if name.startswith(f"{PROJECT_PACKAGE}.")]


@pytest.fixture
def quiet_world(monkeypatch, tmp_path):
    """A working directory, a registry and a table of ball forms of its own; hunts of one round.

    The files of claims that are imported belong to the registry, so they are set aside with it.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_claims", {})
    for name in files_of_claims():
        monkeypatch.delitem(sys.modules, name)
    for name, function in list(FUNCTIONS.items()):
        monkeypatch.setitem(FUNCTIONS, name, function)
    known, methods = set(FUNCTIONS), set(vars(BallArray))
    real = hunting.hunt

    def short(*arguments, **options):
        asked = inspect.signature(real).bind(*arguments, **options).arguments
        asked |= asked.get("settings", {})
        [*_, last] = asked.get("strategies", STANDARD[:2])
        return real(asked["claim"], None, asked.get("seed", 0), rounds=1, strategies=[last])

    for place in (hunting, rankcheck.engine.hunt):  # the door keeps what it has loaded
        monkeypatch.setattr(place, "hunt", short)
    cluster = types.SimpleNamespace(scale=lambda jobs: None)
    for module, name in (("dask_jobqueue", "SLURMCluster"), ("distributed", "Client")):
        made = types.ModuleType(module)
        setattr(made, name, lambda *_, **__: cluster)
        monkeypatch.setitem(sys.modules, module, made)
    yield tmp_path
    for name in files_of_claims():
        del sys.modules[name]
    for name in set(FUNCTIONS) - known:
        del FUNCTIONS[name]
    for name in set(vars(BallArray)) - methods:
        delattr(BallArray, name)


def run(path: Path, namespace: dict) -> dict:
    """The namespace of a page after all of its blocks."""
    document = SYBIL.parse(path)
    document.namespace.update({"__name__": "page"} | namespace)
    ran = 0
    for example in document.examples():
        example.evaluate()
        ran += 1
    assert ran == len(python_blocks(path))
    return document.namespace


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_blocks_run(path, quiet_world):
    run(path, around() if shown(path) in EXCERPTS else {})


def recipes() -> dict[str, str]:
    """The sections of the recipes by their headings."""
    parts = re.split(r"^## (.+)$", (DOCS / "recipes.md").read_text("utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture
def recipe_file(quiet_world):
    """A file with all recipes, as a reader has it who copies the page."""
    file = quiet_world / "recipes.py"
    file.write_text("\n".join(python_blocks(DOCS / "recipes.md")), encoding="utf-8")
    return file


@pytest.mark.slow
@pytest.mark.parametrize("name", recipes())
def test_what_verify_answers(name, recipe_file, capsys):
    section = recipes()[name]
    answer = re.search(r"^Answer: \*\*(\w+)\*\*", section, re.MULTILINE)[1]
    ((_, code), *_) = [pair for pair in blocks(section) if pair[0] == "python"]
    space: dict = {"__name__": "recipe", "__file__": str(recipe_file)}
    exec(compile(code, str(recipe_file), "exec"), space)
    (claim,) = [value for value in space.values() if isinstance(value, Claim)]
    row = verify_claim(claim, Settings(shrink=0.0))
    assert row.verdict == answer, row.messages
    if answer == "refuted":
        ((_, message),) = [pair for pair in blocks(section) if pair[0] == "text"]
        head, instance, _ = message.splitlines()
        typed = re.search(r"--instance '(.*)'", message)[1]
        registry.forget(claim.id)  # the command imports it from the file
        target = f"recipes.py::{claim.body.__name__}"
        assert f"rankcheck certify {target} " in message
        assert main(["certify", target, "--instance", typed]) == 0
        out = capsys.readouterr().out
        assert head.split(" (")[0] in out
        assert instance in out
    else:
        assert (row.mutants.total > 0) == ("mutants 1/1" in section)


#: What the commands of the walk are given besides what the page says, so that no clock decides.
QUICK = {
    "verify": ["--workers", "1", "--limit", "0"],
    "sharpen": ["--budget", "3", "--limit", "0"],
    "hunt": ["--limit", "0"],
}


def steady(command: str, answer: str) -> list[str]:
    """The parts of an answer that any machine, version and budget has."""
    lines = answer.splitlines()
    match command:
        case "verify":
            rows = [line.split("] ")[1].rsplit(", ", 1)[0] for line in lines if line[:1] == "["]
            return rows + [line for line in lines if line.startswith(("mine.", "  "))]
        case "sharpen":
            return lines[:1]
        case "hunt":
            return [lines[0].split(" in ")[0]]
        case "export":
            return lines[: lines.index("Both sides are exact.")]
        case _:
            return lines


@pytest.mark.slow
def test_the_way_from_an_empty_folder_to_latex(quiet_world, capsys):
    """What first-conjecture.md prints is what its commands print."""
    page = DOCS / "first-conjecture.md"
    first, second = python_blocks(page)
    (quiet_world / "my_conjectures.py").write_text(first, encoding="utf-8")
    (quiet_world / "corrected.py").write_text(second, encoding="utf-8")
    text = page.read_text("utf-8")
    found = re.findall(r"```\n(rankcheck [^\n]+)\n```\n\n```text\n(.*?)```", text, re.DOTALL)
    walked = []
    for command, answer in found:
        name, *rest = shlex.split(command)[1:]
        code = main([name, *rest, *QUICK.get(name, [])])
        assert code == (rest[0] == "my_conjectures.py"), command
        out = capsys.readouterr().out
        assert [part for part in steady(name, answer) if part not in out] == []
        walked.append(name)
    assert walked == ["verify", "replay", "sharpen", "verify", "hunt", "export"]


@pytest.mark.parametrize(
    ("number", "name"), [(0, "sup_norm"), (1, "root_n")], ids=["sup_norm", "root_n"]
)
def test_the_way_is_that_of_the_examples(number, name):
    """The claims of first-conjecture.md are those of the files in examples."""
    block = python_blocks(DOCS / "first-conjecture.md")[number]
    example = (DOCS.parent / "examples" / f"{name}.py").read_text("utf-8")
    assert example.partition("\n\n")[2] == block


@pytest.mark.slow
def test_the_conjecture_of_readme_and_its_answer(quiet_world, capsys):
    text = (DOCS.parent / "README.md").read_text("utf-8")
    [code], [answer, *_] = (
        [block for language, block in blocks(text) if language == kind]
        for kind in ("python", "text")
    )
    example = (DOCS.parent / "examples" / "sup_norm.py").read_text("utf-8")
    assert example.endswith(code)
    (quiet_world / "sup_norm.py").write_text(example, encoding="utf-8")
    assert main(["verify", "sup_norm.py", *QUICK["verify"]]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line for line in answer.splitlines()[1:] if line not in said] == []


@pytest.mark.slow
def test_the_rows_of_reading_results(quiet_world):
    path = DOCS / "reading-results.md"
    space = run(path, {})
    claims = {claim.id: claim for claim in space.values() if isinstance(claim, Claim)}
    text = path.read_text("utf-8")
    rows, undecided, *_ = [block for language, block in blocks(text) if language == "text"]
    for row in rows.splitlines():
        _, verdict, name, facts = re.split(r"\] +| +", row, maxsplit=3)
        found = verify_claim(claims.pop(name), Settings(shrink=0.0))
        assert found.verdict == verdict
        assert (f"mutants {found.mutants.killed}/{found.mutants.total}" in facts) == (
            found.mutants.total > 0
        )
        if verdict == "undecided":
            assert undecided in found.messages[0] + "\n"
    assert claims == {}
