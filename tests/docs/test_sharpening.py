"""docs/sharpening.md and the recipes with a sharpening: commands answer what the pages say."""

import math
import re
import shlex
from fractions import Fraction

import pytest

from rankcheck.claims import registry
from rankcheck.claims.catalogue.loader import load
from rankcheck.claims.catalogue.selection import select
from rankcheck.faces.commands.cli import main
from rankcheck.sharpen.run import sharpen

from .pages import DOCS, blocks

PAGE, RECIPES = ((DOCS / f"{name}.md").read_text("utf-8") for name in ("sharpening", "recipes"))
#: Where the statements of recipes with a dial begin, or cease, to be true.
TRUTH = {"mine.schatten": 1.0, "mine.exponential": 0.79681213}
ANSWERED = re.compile(
    r"```\n(rankcheck (?:score|sharpen) [^\n]+)\n```\n\n```text\n(.*?)```\n", re.DOTALL
)


def files() -> dict[str, str]:
    """The files of claims that a reader has saved, each named before its claims."""
    found: dict[str, str] = {
        "recipes.py": "\n".join(t for k, t in blocks(RECIPES) if k == "python")
    }
    name = ""
    for match in re.finditer(r"`(\w+\.py)`|```python\n(.*?)```", PAGE, re.DOTALL):
        if match[1]:
            name = match[1]
        elif "@conjecture" in match[2]:
            found[name] = f"{found.get(name, '')}\n{match[2]}"
    return found


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """The files of a reader of both pages, in the working directory, and a registry of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_claims", {})
    for name, text in files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_constants_and_scores_are_those_of_the_pages(saved, capsys):
    """The lines that do not depend on the seconds."""
    shown = dict(ANSWERED.findall(PAGE + RECIPES))
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
def test_the_frontiers_of_the_recipes_enclose_the_truth(saved, claim):
    [command] = [line for line, text in ANSWERED.findall(RECIPES) if text.startswith(claim)]
    _, _, target, _, dial = shlex.split(command)
    [mine] = load(select([target]))
    found = sharpen(mine, dial=dial, budget=None, tasks=8, shrink=0.0).dial
    assert found is not None
    assert found.monotone
    ends = sorted(float(end) for pair in (found.false, found.survived) for end in pair)
    assert ends[1] <= TRUTH[claim] <= ends[2]
    assert ends[2] - ends[1] < 0.1


def test_the_constant_of_the_depths_is_that_of_the_page():
    """1/κ_L at depths 2 to 6, and its limit."""
    table = re.search(
        r"by depth of net:\n((?:    \d.*\n)+)", PAGE[PAGE.index("mine.two-slopes:") :]
    )[1]
    for line in table.splitlines():
        depth, ratio = line.split()
        kappa = int(depth) / 2 * (4 ** (1 / int(depth)) - 1)
        assert float(ratio) == pytest.approx(1 / kappa, rel=1e-8)
    limit, error = re.search(
        r"the limit is ([\d.]+) ± ([\d.]+)", PAGE[PAGE.index(table) :]
    ).groups()
    assert abs(float(limit) - 1 / math.log(2)) <= float(error)


def test_the_frontier_of_the_page_encloses_that_of_the_proof():
    said = re.search(
        r"mine\.lipschitz, exponent: proved false .* to (\S+); survived .* from (\S+) to", PAGE
    )
    assert Fraction(said[1]) < Fraction("0.43020") <= Fraction(said[2])
