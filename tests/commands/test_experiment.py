"""rankcheck experiment, on good and bad input; the parts are trained in this process."""

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

from rankcheck.commands import experiment as command
from rankcheck.commands.cli import main
from rankcheck.errors import InputError
from rankcheck.experiments import known, records
from rankcheck.experiments import run as run_
from rankcheck.parallel import executor_for
from rankcheck.report.charts import experiments as drawing
from tests.experiments import toy
from tests.experiments.toy import NAME, Toy

FOLDER = Path(".rankcheck") / "experiments" / f"{NAME}-tiny-0"
LINE = ["experiment", NAME, "--scale", "tiny"]


def figures(result, folder):
    """In place of `write_figures`."""
    folder.mkdir()
    (folder / "one.svg").write_text(result.experiment)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working directory, and the experiment of the tests as the only one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(known, "_MODULES", {NAME: toy.__name__})
    monkeypatch.setattr(command, "NAMES", (NAME,))
    monkeypatch.setattr(drawing, "write_figures", figures)
    monkeypatch.setattr(run_, "executor_for", lambda workers, work: executor_for(None, work))
    return tmp_path


@pytest.fixture
def wrong(monkeypatch):
    """`wrong(fault=...)`: the experiment goes wrong."""
    return lambda **options: monkeypatch.setattr(toy, "EXPERIMENT", Toy(**options))


def never(*arguments):
    raise AssertionError("nothing is to be done")


def test_an_experiment_from_its_name_to_its_figures(capsys, monkeypatch):
    assert main(LINE) == 0
    out, err = capsys.readouterr()
    assert err == ""
    folder = FOLDER.as_posix()
    result = json.loads((FOLDER / "result.json").read_text(encoding="utf-8"))
    assert result["command"] == "rankcheck experiment toy.line --scale tiny --seed 0"
    lines = out.splitlines()
    assert lines[0] == f"{NAME}, scale tiny, seed 0, in {folder}"
    assert "[3/3] c: done" in out
    worst = max(error for part in result["parts"] for error in part["measured"]["error"])
    assert f"about $0$  {worst:.3g}" in out
    assert lines[-3:] == [
        f"result: {folder}/result.json",
        f"figures: {folder}/figures",
        f"networks: {folder}/networks",
    ]
    stamps = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    monkeypatch.setattr(Toy, "run", never)
    monkeypatch.setattr(drawing, "write_figures", never)
    assert main(LINE) == 0
    again = capsys.readouterr().out
    assert "nothing is trained" in again
    assert out[out.index("quantity") :] == again[again.index("quantity") :]
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == stamps


@pytest.mark.parametrize(
    ("error", "code"),
    [(OSError(errno.ENOSPC, "full", "half.svg"), 2), (InputError("matplotlib is not there"), 0)],
)
def test_figures_that_cannot_be_drawn_lose_nothing(monkeypatch, capsys, error, code):
    def fails(result, folder):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(drawing, "write_figures", fails)
        assert main(LINE) == code
    out, err = capsys.readouterr()
    assert ("half.svg" in err) == (code == 2)
    assert ("matplotlib is not there" in out) == (code == 0)
    assert not (FOLDER / "figures").exists()
    assert main(LINE) == 0
    assert [path.name for path in (FOLDER / "figures").iterdir()] == ["one.svg"]


def test_the_arguments_arrive(monkeypatch):
    asked: dict[str, object] = {}

    def run_experiment(name, scale, **options):
        asked.update(options, name=name, scale=scale)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_, "run_experiment", run_experiment)
    line = ["experiment", NAME, "--scale", "paper", "--seed", "7", "--device", "cuda"]
    assert main([*line, "--workers", "9", "--out", "x"]) == 130
    del asked["progress"]
    given = {"scale": "paper", "seed": 7, "device": "cuda", "workers": 9, "folder": Path("x")}
    assert asked == {"name": NAME, **given}
    assert main(["experiment", NAME]) == 130
    assert asked["scale"] == "small"
    assert 1 <= asked["workers"] <= 3
    assert asked["folder"] == Path(f".rankcheck/experiments/{NAME}-small-0")


def test_a_theorem_that_fails_is_an_exit_code_and_a_loud_line(wrong, capsys):
    wrong(fault="theorem")
    assert main(LINE) == 1
    out = capsys.readouterr().out
    assert out.count("A THEOREM FAILS: rank.sandwich on the network of part b, seed 4") == 2
    assert main(LINE) == 1  # it is shown again, with the same answer


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [("diverge", 4, "part b: the training diverged by step 1"), ("input", 2, "the input is odd")],
)
def test_a_part_that_fails_is_one_line(wrong, capsys, fault, code, said):
    wrong(fault=fault)
    assert main(LINE) == code
    err = capsys.readouterr().err
    assert err.startswith(f"rankcheck: {said}")
    assert err.count("\n") == 1
    assert (FOLDER / "parts" / "a.json").exists()
    assert not (FOLDER / "result.json").exists()


def test_an_interruption_says_what_is_done(wrong, capsys):
    wrong(fault="interrupt")
    assert main(LINE) == 130
    assert "1 of 3 parts are done and kept" in capsys.readouterr().out.splitlines()[-1]
    wrong()
    assert main(LINE) == 0
    assert "[1/3] a: done before" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("toy.lime", "'toy.lime'"),
        (f"{NAME} --scale big", "'big'"),
        (f"{NAME} --device gpu", "the device is 'gpu'"),
        (f"{NAME} --out mine.txt", "the folder mine.txt cannot be used"),
        (f"{NAME} --out mine.txt/x", "the folder mine.txt/x cannot be used"),
        (f"{NAME} --out .", "the folder . has other files ('mine.txt')"),
        (f"{NAME} --out /proc/x", "the folder /proc/x cannot be used"),
        (f"{NAME} other", "other"),
    ],
)
def test_bad_input_is_one_line_and_loses_nothing(monkeypatch, capsys, line, said):
    monkeypatch.setattr(Toy, "run", never)
    Path("mine.txt").write_text("mine")
    arguments = ["experiment", *line.split()]
    assert main([*arguments, *["--scale=tiny"] * ("--scale" not in line)]) == 2
    out, err = capsys.readouterr()
    assert out.count("\n") <= 1
    assert err.startswith("rankcheck: ")
    assert said in err
    assert err.count("\n") == 1
    assert {path.name: path.read_text() for path in Path().iterdir()} == {"mine.txt": "mine"}


@pytest.mark.parametrize("place", [".rankcheck", ".rankcheck/experiments", FOLDER.as_posix()])
def test_a_link_in_the_place_of_the_usual_folder_is_not_followed(place, tmp_path, capsys):
    """In a folder of a stranger; one that is named with --out is followed."""
    other = tmp_path / "other"
    other.mkdir()
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).symlink_to(other)
    assert main(LINE) == 2
    assert f"{place} is a link" in capsys.readouterr().err
    assert list(other.iterdir()) == []
    assert main([*LINE, "--out", place]) == 0
    assert (other / "result.json").exists()


def test_a_result_without_what_was_measured_is_refused(capsys):
    assert main([*LINE, "--out", "out"]) == 0
    capsys.readouterr()
    path = Path("out") / "result.json"
    data = json.loads(path.read_text())
    data["parts"][0]["measured"] = {"other": {"each": 1}}
    path.write_text(json.dumps(data))
    assert main([*LINE, "--out", "out"]) == 2
    err = capsys.readouterr().err
    assert "out/result.json has no findings" in err
    assert err.count("\n") == 1
    path.unlink()
    assert main([*LINE, "--out", "out"]) == 0


def test_without_a_name_the_experiments_are_listed(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(Toy, "run", never)
    assert main(["experiment"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "toy.line: Networks learn $x \\mapsto -x$",
        "    nowhere in print",
        "    tiny   6 networks in 3 parts",
        "    small  6 networks in 3 parts",
        "    paper  6 networks in 3 parts",
    ]
    monkeypatch.setattr(records, "RECORDED", tmp_path)
    Path(f"{NAME}.json").touch()
    result = run_.Result(NAME, "small", 0, "", "cpu", {}, 1.0, "2026-01-01", ())
    monkeypatch.setattr(records, "recorded", lambda name: replace(result, seconds=250.0))
    assert main(["experiment"]) == 0
    assert "4 min 10 s of processor time" in capsys.readouterr().out.splitlines()[3]
