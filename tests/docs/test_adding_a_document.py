"""The page on adding a document, walked in a copy of the package with no other claims."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from rankcheck.claims.reference import REFERENCES

from .pages import DOCS, ROOT, blocks

PAGE = (DOCS / "adding-a-document.md").read_text("utf-8")
COMMANDS = [text.strip() for kind, text in blocks(PAGE) if kind == ""]
ANSWERS = [text for kind, text in blocks(PAGE) if kind == "text"]
[INDEX] = [text for kind, text in blocks(PAGE) if kind == "toml"]
[CLAIM] = [text for kind, text in blocks(PAGE) if kind == "py"]


@pytest.fixture
def checkout(tmp_path):
    shutil.copytree(
        ROOT / "rankcheck", tmp_path / "rankcheck", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "properties").mkdir()
    for name in ("pyproject.toml", f"properties/{REFERENCES}"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def run(checkout, line):
    _, *words = shlex.split(line)
    done = subprocess.run(
        [sys.executable, "-m", "rankcheck", *words],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout


@pytest.mark.slow
def test_a_stranger_gets_from_the_command_to_a_verdict(checkout):
    add, new, verify, _ = COMMANDS
    assert run(checkout, add) == ANSWERS[0]
    folder = checkout / "properties" / "bartlett2017"
    (folder / "statements.toml").write_text(INDEX, "utf-8")
    assert "wrote properties/bartlett2017/product_of_norms.py" in run(checkout, new)
    written = (folder / "product_of_norms.py").read_text("utf-8")
    assert 'paper("bartlett2017", "PLACE")' in written
    (folder / "product_of_norms.py").write_text(CLAIM, "utf-8")
    out = run(checkout, f"{verify} --workers 1 --limit 0")
    said = ANSWERS[1].rpartition(", ")[0]  # all but the seconds
    assert said in out
