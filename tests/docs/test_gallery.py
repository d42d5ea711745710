"""The gallery: each example has a picture and leads to its code, and the pictures are current."""

import importlib
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims import registry
from rankcheck.commands.cli import main
from rankcheck.verification.check import verify_claim
from rankcheck.verification.profiles import Settings

from .pages import DOCS, ROOT
from .test_code_blocks import quiet_world  # noqa: F401 -- a fixture
from .test_links import broken, links
from .test_pictures import terminal

PAGE = DOCS / "gallery.md"
EXAMPLES = re.split(r"^### ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
#: What `verify` says of the files of claims in examples.
VERDICTS = {
    "rank_and_cost.py": {"mine.rank-and-cost": "refuted", "mine.rank-and-volume": "guarded"},
    "root_n.py": {"mine.root-n": "guarded"},
    "sup_norm.py": {"mine.sup-norm": "refuted"},
}


@pytest.fixture(scope="module")
def made():
    """The module that draws the pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "_ext"))
        yield importlib.import_module("gallery")


def described(svg: str) -> str:
    """What is said of a chart for people who hear the page."""
    return ElementTree.fromstring(svg).findtext("{*}desc", "")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0])
def test_an_example_has_a_picture_and_its_code(example):
    _, picture, *_, code = [line for line in example.split("\n\n") if line.strip()][:3]
    shown, target = re.fullmatch(r"\[!\[.{30,}\]\((\S+\.svg)\)\]\((\S+)\)", picture).groups()
    assert (DOCS / shown).exists()
    assert target.endswith(".py") or "#" in target or target.split("/")[-1] in code
    assert re.search(r"(Code|Data):\s", code)
    assert links(code)


def test_there_are_twenty_of_them_and_all_pictures_are_shown(made):
    assert len(EXAMPLES) >= 20
    assert broken(PAGE) == []
    text = PAGE.read_text("utf-8")
    drawn = {path.stem for path in made.FOLDER.glob("*.svg")}
    assert drawn == {*made.CHARTS, *made.RUNS} == set(re.findall(r"\(gallery/(\w+)\.svg\)", text))


def test_the_files_of_claims_in_examples_are_these():
    files = {path.name for path in (ROOT / "examples").glob("*.py")}
    measured = {f"measure_{name}.py" for name in ("residual", "convolution", "transformer")}
    assert files == {*VERDICTS, *measured, "max_identities.py", "train_and_audit.py"}


@pytest.mark.slow
@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdicts_of_the_examples(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_claims", {})  # other pages declare some of them, too
    path = tmp_path / name  # a file is imported once in a process
    path.write_text((ROOT / "examples" / name).read_text("utf-8"), "utf-8")
    rows = [verify_claim(claim, Settings(shrink=0.0)) for claim in load(select([str(path)]))]
    assert {row.id: row.verdict for row in rows} == VERDICTS[name]


@pytest.mark.slow
@pytest.mark.usefixtures("quiet_world")
def test_the_charts_are_those_of_the_claims(made):
    for name, draw in made.CHARTS.items():
        drawn = (made.FOLDER / f"{name}.svg").read_text("utf-8")
        assert described(drawn) == described(str(draw().svg)), f"{name}.svg is out of date"


@pytest.mark.slow
def test_the_first_picture_is_what_verify_answers(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_claims", {})
    code = (ROOT / "examples" / "sup_norm.py").read_text("utf-8")
    Path("sup_norm.py").write_text(code, "utf-8")
    assert main(["verify", "sup_norm.py", "--workers", "1", "--limit", "0"]) == 1
    drawn = terminal((DOCS / "gallery" / "refuted.svg").read_text("utf-8"))
    shown = "".join("".join(drawn).split())
    said = capsys.readouterr().out
    steady = [line for line in said.splitlines() if not re.search(r"\d s\b|\$", line)]
    for line in [*code[code.index("@conjecture") :].splitlines(), *steady]:
        if line:  # formulas are left out: a terminal has them in Unicode
            assert "".join(line.split()) in shown


@pytest.mark.slow
def test_the_constant_of_the_sup_norm(made):
    """The table of first-conjecture.md, from which the chart of the constant is drawn."""
    text = (DOCS / "first-conjecture.md").read_text("utf-8")
    table = re.search(r"by depth of net:\n((?:    \d.*\n)+)", text)[1]
    ratios = [float(line.split()[1]) for line in table.splitlines()]
    assert ratios == pytest.approx([4 ** (1 / depth) for depth in range(1, 6)], rel=1e-4)
    assert all(one > other for one, other in pairwise(ratios))
    said = described((made.FOLDER / "constant.svg").read_text("utf-8"))
    assert "The largest value is 4, at depth of net 1" in said
