"""docs/sharpening.md and the recipes with a sharpening: commands answer what the pages say."""

import importlib
import math
import re
import shlex
from fractions import Fraction
from xml.etree import ElementTree

import pytest

from rankcheck.catalogue.loader import load
from rankcheck.catalogue.selection import select
from rankcheck.claims import registry
from rankcheck.commands.cli import main
from rankcheck.sharpen.run import sharpen

from .pages import DOCS, blocks

RECIPES = (DOCS / "recipes.md").read_text("utf-8")
#: Where the statements of recipes with a dial begin, or cease, to be true.
TRUTH = {"mine.schatten": 1.0, "mine.exponential": 0.79681213}


@pytest.fixture
def made(monkeypatch):
    """The module that runs the page."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("sharpening")


@pytest.fixture
def page(made):
    return made.PAGE.read_text("utf-8")


@pytest.fixture
def saved(made, page, tmp_path, monkeypatch):
    """The files of a reader of both pages, in the working directory, and a registry of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_claims", {})
    recipes = "\n".join(text for language, text in blocks(RECIPES) if language == "python")
    for name, text in {**made.files(page), "recipes.py": recipes}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def test_each_claim_is_saved_in_the_file_that_is_named_before_it(made, page):
    assert list(made.files(page)) == ["my_conjectures.py", "commutator.py", "two_slopes.py"]
    assert made.files(page)["two_slopes.py"].count("@conjecture") == 2
    assert "commutator" not in made.files(page)["two_slopes.py"]


def answered(made, text):
    """The command lines of a page with the answers that it shows."""
    return dict(made.ANSWERED.findall(text))


@pytest.mark.slow
def test_constants_and_scores_are_those_of_the_pages(made, page, saved, capsys):
    """The lines that do not depend on the seconds."""
    shown = answered(made, page) | answered(made, RECIPES)
    for command, answer in shown.items():
        words = shlex.split(command)[1:]
        if words[0] == "score":
            assert main([*words, "--limit", "0"]) == 0
            assert capsys.readouterr().out == answer
        elif "--dial" not in words and "two_slopes" not in command:
            code = main([*words[:2], "--budget", "4", "--limit", "0"])
            head, guess, *_ = answer.splitlines()
            out = capsys.readouterr().out
            assert head in out
            assert guess.split(" (")[0] in out
            assert code == ("false as written" in head)


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    ["mine.schatten", pytest.param("mine.exponential", marks=pytest.mark.nightly)],
)
def test_the_frontiers_of_the_recipes_enclose_the_truth(made, saved, claim):
    [command] = [line for line, text in answered(made, RECIPES).items() if text.startswith(claim)]
    _, _, target, _, dial = shlex.split(command)
    [mine] = load(select([target]))
    found = sharpen(mine, dial=dial, budget=None, tasks=8, shrink=0.0).dial
    assert found is not None
    assert found.monotone
    ends = sorted(float(end) for pair in (found.false, found.survived) for end in pair)
    assert ends[1] <= TRUTH[claim] <= ends[2]
    assert ends[2] - ends[1] < 0.1


def test_the_pictures_show_the_answers(made, page):
    described = {}
    for name in made.PICTURES:
        root = ElementTree.parse(made.PAGE.with_suffix("") / name).getroot()
        described[name] = root.find("{*}desc").text
        assert f"(sharpening/{name})" in page
    reached = re.search(r"The largest value is ([\d.]+)", described["depths.svg"])[1]
    assert f"mine.two-slopes: false as written: lhs/rhs reaches {reached};" in page
    said = re.search(r"mine\.lipschitz, exponent: (.*)", page)[1]
    assert said in described["frontier.svg"]


def test_the_constant_of_the_depths_is_that_of_the_page(page):
    """1/κ_L at depths 2 to 6, and its limit."""
    table = re.search(
        r"by depth of net:\n((?:    \d.*\n)+)", page[page.index("mine.two-slopes:") :]
    )[1]
    for line in table.splitlines():
        depth, ratio = line.split()
        kappa = int(depth) / 2 * (4 ** (1 / int(depth)) - 1)
        assert float(ratio) == pytest.approx(1 / kappa, rel=1e-8)
    limit, error = re.search(
        r"the limit is ([\d.]+) ± ([\d.]+)", page[page.index(table) :]
    ).groups()
    assert abs(float(limit) - 1 / math.log(2)) <= float(error)


def test_the_frontier_of_the_page_encloses_that_of_the_proof(page):
    said = re.search(
        r"mine\.lipschitz, exponent: proved false .* to (\S+); survived .* from (\S+) to", page
    )
    assert Fraction(said[1]) < Fraction("0.43020") <= Fraction(said[2])
