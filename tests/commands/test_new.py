"""`rankcheck new`: a file that is a claim, fails until it is filled in, and destroys nothing."""

from pathlib import Path

import pytest

from rankcheck.catalogue.collect import project_folder
from rankcheck.catalogue.reading import read_file
from rankcheck.claims import registry
from rankcheck.commands import cli, new
from rankcheck.commands.new import KINDS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    before = set(registry.declared())
    yield tmp_path
    for name in set(registry.declared()) - before:
        registry.forget(name)


@pytest.mark.parametrize(
    ("kind", "id_"),
    [*((kind, "mine.first-try") for kind in KINDS), ("bound", "rank.first-try")],
)
def test_the_file_is_a_claim(folder, capsys, kind, id_):
    path = folder / "made.py"
    assert cli.main(["new", id_, "--kind", kind, "--file", str(path)]) == 0
    assert "rankcheck verify made.py" in capsys.readouterr().out
    [entry] = read_file(path)
    assert (entry.id, entry.kind, entry.name) == (id_, kind, "test_first_try")
    compile(path.read_text(), str(path), "exec")


def test_it_fails_until_it_is_filled_in(capsys):
    assert cli.main(["new", "mine.first-try", "--kind", "conjecture"]) == 0
    assert Path("first_try.py").exists()
    assert cli.main(["verify", "first_try.py", "--workers", "1"]) != 0
    assert "write the two sides" in capsys.readouterr().out


def test_where_it_is_written():
    assert new._place("rank.my-claim") == project_folder() / "rank" / "my_claim.py"
    assert new._place("mine.my-claim") == Path("my_claim.py")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Rank.Upper"], "'Rank.Upper' is no id"),
        (["rank.cross-example"], "rank.cross-example is declared at "),
        (["mine.a", "--file", "a.txt"], "does not end in .py"),
        (["mine.a", "--file", "no/such/folder/a.py"], "cannot be written: No such file"),
        (["mine.a", "--kind", "theorem"], "invalid choice: 'theorem'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(capsys, arguments, said):
    try:
        code = cli.main(["new", *arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    error = capsys.readouterr().err
    assert code == 2
    assert said in error
    assert error.count("\n") == 1


def test_an_existing_file_is_left_alone(capsys):
    Path("a.py").write_text("mine")
    assert cli.main(["new", "mine.a"]) == 2
    assert "a.py exists, and is left as it is" in capsys.readouterr().err
    assert Path("a.py").read_text() == "mine"
