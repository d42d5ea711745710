"""rankcheck experiment, on good and bad input; the parts are trained in this process."""

import errno
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from rankcheck import files
from rankcheck.commands import experiment as command
from rankcheck.commands.cli import main, parser
from rankcheck.experiments import known, records
from rankcheck.experiments import run as run_
from rankcheck.experiments.run import run_experiment
from rankcheck.experiments.workers import here as in_this_process
from tests.experiments import toy
from tests.experiments.toy import NAME, Toy

FOLDER = Path(".rankcheck") / "experiments" / f"{NAME}-tiny-0"
LINE = ["experiment", NAME, "--scale", "tiny"]


def figures(result, folder):
    """In place of `rankcheck.report.standalone.write_figures`."""
    found = []
    for name in ("one.svg", "one.png"):
        found.append(folder / name)
        found[-1].write_text(result.experiment)
    return found


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working directory, and the experiment of the tests as the only one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(known, "_MODULES", {NAME: toy.__name__})
    monkeypatch.setattr(command, "NAMES", (NAME,))
    drawing = ModuleType("rankcheck.report.standalone")
    drawing.write_figures = figures
    monkeypatch.setitem(sys.modules, drawing.__name__, drawing)

    def inline(job, parts, workers, told, noticed):
        return in_this_process(job, parts, told)

    monkeypatch.setattr(run_, "in_processes", inline)
    return tmp_path


@pytest.fixture
def wrong(monkeypatch):
    """`wrong(fault=...)`: the experiment goes wrong."""
    return lambda **options: monkeypatch.setattr(toy, "EXPERIMENT", Toy(**options))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished experiment."""
    folder = tmp_path_factory.mktemp("finished") / "x"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(known._MODULES, NAME, toy.__name__)
        run_experiment(NAME, "tiny", folder=folder)
    return folder


def never(*arguments):
    raise AssertionError("nothing is to be trained")


def listed():
    return {path.as_posix() for path in Path().rglob("*") if path.is_file()}


def test_an_experiment_from_its_name_to_its_figures(capsys):
    assert main(LINE) == 0
    out, err = capsys.readouterr()
    assert err == ""
    folder = FOLDER.as_posix()
    parts = {f"{folder}/parts/{name}.json" for name in "abc"}
    others = ("run.json", "result.json", "figures/one.svg", "figures/one.png")
    networks = {path for path in listed() if path.startswith(f"{folder}/networks/")}
    assert len(networks) == 6
    assert listed() == parts | networks | {f"{folder}/{name}" for name in others}
    result = json.loads((FOLDER / "result.json").read_text(encoding="utf-8"))
    assert result["command"] == "rankcheck experiment toy.line --scale tiny --seed 0"
    lines = out.splitlines()
    assert lines[0] == f"{NAME}, scale tiny, seed 0, in {folder}"
    assert [line for line in lines if line.startswith("[")] != []
    assert "[3/3] c: done" in out
    worst = max(run["measured"]["error"] for run in result["runs"])
    assert f"largest error of the networks  about $0$  {worst:.3g}" in out
    assert out.index("Can a line be learnt?") < out.index("largest error")
    assert "A second paragraph" not in out
    assert "* There is no document." in out
    assert lines[-3:] == [
        f"result: {folder}/result.json",
        f"figures: {folder}/figures",
        f"networks: {folder}/networks",
    ]


def test_a_finished_result_is_shown_again(capsys, monkeypatch):
    assert main(LINE) == 0
    first = capsys.readouterr().out
    stamps = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    monkeypatch.setattr(Toy, "run", never)
    monkeypatch.setattr(sys.modules["rankcheck.report.standalone"], "write_figures", never)
    assert main(LINE) == 0
    again = capsys.readouterr().out
    assert "it was finished before; nothing is trained" in again
    assert first[first.index("quantity") :] == again[again.index("quantity") :]
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == stamps


def test_figures_are_drawn_again_when_they_are_gone(finished, capsys):
    shutil.copytree(finished, "out")
    (Path("out") / ".figures").mkdir()
    (Path("out") / ".figures" / "half.svg").touch()
    assert main([*LINE, "--out", "out"]) == 0
    assert sorted(path.name for path in Path("out/figures").iterdir()) == ["one.png", "one.svg"]
    assert not Path("out/.figures").exists()


def test_figures_that_cannot_be_drawn_lose_nothing(monkeypatch, capsys):
    def full(result, folder):
        (folder / "half.svg").touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "half.svg")

    monkeypatch.setattr(sys.modules["rankcheck.report.standalone"], "write_figures", full)
    assert main(LINE) == 2
    out, err = capsys.readouterr()
    assert err == "rankcheck: half.svg: No space left on device\n"
    assert "largest error" in out
    assert not (FOLDER / "figures").exists()
    assert (FOLDER / "result.json").exists()


def test_the_arguments_arrive(monkeypatch, finished):
    asked: dict[str, object] = {}

    def run_experiment(name, scale, **options):
        asked.update(options, name=name, scale=scale)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_, "run_experiment", run_experiment)
    line = ["experiment", NAME, "--scale", "paper", "--seed", "7", "--device", "cuda"]
    assert main([*line, "--workers", "9", "--out", "x"]) == 130
    del asked["told"], asked["noticed"]
    assert asked == {
        "name": NAME,
        "scale": "paper",
        "seed": 7,
        "device": "cuda",
        "workers": 9,
        "folder": Path("x"),
    }
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


def test_an_interruption_says_what_is_done_and_goes_on(wrong, capsys):
    wrong(fault="interrupt")
    assert main(LINE) == 130
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == (
        "interrupted: 1 of 3 parts are done; the same command goes on from there"
    )
    assert err == "rankcheck: interrupted\n"
    wrong()
    assert main(LINE) == 0
    assert "[1/3] a: done before" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        ("diverge", 4, "part b: the training diverged by step 1; a smaller rate may help"),
        ("nan", 4, "part b: runs[0].measured.error is nan; a result has finite numbers"),
        ("memory", 4, "out of memory (MemoryError)"),
        ("key", 4, "internal error: KeyError: 'lost' (RANKCHECK_TRACEBACK=1 shows the traceback)"),
        ("input", 2, "the input is odd; it is even"),
    ],
)
def test_a_part_that_fails_is_one_line(wrong, capsys, fault, code, said):
    wrong(fault=fault)
    assert main(LINE) == code
    assert capsys.readouterr().err == f"rankcheck: {said}\n"
    assert (FOLDER / "parts" / "a.json").exists()
    assert not (FOLDER / "result.json").exists()
    wrong()
    assert main(LINE) == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("toy.lime", "there is no experiment 'toy.lime'"),
        ("toy", "there is no experiment 'toy'"),
        (f"{NAME} --scale big", "argument --scale: invalid choice: 'big'"),
        (f"{NAME} --seed -1", "the seed is -1; a seed is at least 0 and below 2147483648"),
        (f"{NAME} --seed 99999999999999999999", "the seed is 99999999999999999999"),
        (f"{NAME} --seed x", "argument --seed: invalid int value: 'x'"),
        (f"{NAME} --workers 0", "--workers is 0; an experiment has at least one worker"),
        (f"{NAME} --workers -1", "--workers is -1; an experiment has at least one worker"),
        (f"{NAME} --device gpu", "the device is 'gpu'; it is cpu, cuda, or cuda:NUMBER"),
        (f"{NAME} --device cuda:77", "torch cannot use the device 'cuda:77' here"),
        (f"{NAME} --out mine.txt", "the folder mine.txt cannot be used: File exists"),
        (f"{NAME} --out mine.txt/x", "the folder mine.txt/x cannot be used: Not a directory"),
        (f"{NAME} --out .", "the folder . has other files ('mine.txt')"),
        (f"{NAME} --out /dev/full", "the folder /dev/full cannot be used: "),
        (f"{NAME} --out /proc/x", "the folder /proc/x cannot be used: "),
        (f"{NAME} other", "unrecognized arguments: other"),
    ],
)
def test_bad_input_is_one_line_and_loses_nothing(monkeypatch, capsys, line, said):
    monkeypatch.setattr(Toy, "run", never)
    Path("mine.txt").write_text("mine")
    arguments = ["experiment", *line.split()]
    try:
        ended = main([*arguments, *["--scale=tiny"] * ("--scale" not in line)])
    except SystemExit as stop:
        ended = int(str(stop.code))
    assert ended == 2
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
    assert capsys.readouterr().err == (
        f"rankcheck: {place} is a link; name the folder yourself with --out\n"
    )
    assert list(other.iterdir()) == []
    assert main([*LINE, "--out", place]) == 0
    assert (other / "result.json").exists()


def test_a_disk_that_is_full_is_one_line_and_the_parts_are_kept(monkeypatch, capsys):
    write = files.write_bytes

    def full(path, content, **options):
        if path.name == "b.first.safetensors":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/.b.xyz")
        write(path, content, **options)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_bytes", full)
        assert main(LINE) == 2
    assert capsys.readouterr().err == (
        f"rankcheck: {FOLDER}/parts/b.first.safetensors: No space left on device\n"
    )
    assert main(LINE) == 0
    assert "[1/3] a: done before" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_is_read_only(finished, capsys):
    shutil.copytree(finished, "out")
    Path("closed").mkdir(mode=0o500)
    assert main([*LINE, "--out", "closed"]) == 2
    assert "the folder closed cannot be used: Permission denied" in capsys.readouterr().err
    (Path("out") / "figures").mkdir()
    Path("out").chmod(0o500)
    assert main([*LINE, "--out", "out"]) == 0  # what is finished can be read
    Path("out").chmod(0o700)


def test_a_result_without_what_was_measured_is_refused(finished, capsys):
    shutil.copytree(finished, "out")
    path = Path("out") / "result.json"
    data = json.loads(path.read_text())
    data["runs"][0]["measured"] = {}
    path.write_text(json.dumps(data))
    assert main([*LINE, "--out", "out"]) == 2
    err = capsys.readouterr().err
    assert "the result out/result.json has no findings (KeyError: 'error'); delete it" in err
    assert err.count("\n") == 1
    path.unlink()
    assert main([*LINE, "--out", "out"]) == 0


def test_another_seed_needs_another_folder(finished, capsys, monkeypatch):
    monkeypatch.setattr(Toy, "run", never)
    shutil.copytree(finished, "out")
    assert main([*LINE, "--out", "out", "--seed", "1"]) == 2
    assert capsys.readouterr().err == (
        "rankcheck: out is of another run: its seed is 0, not 1; delete out to begin anew, or name "
        "another folder with --out\n"
    )


def test_what_was_mended_is_said(monkeypatch, finished, capsys):
    def run_experiment(*arguments, noticed, **options):
        noticed("the worker of part b ended")
        raise KeyboardInterrupt

    monkeypatch.setattr(run_, "run_experiment", run_experiment)
    assert main(LINE) == 130
    assert "the worker of part b ended\n" in capsys.readouterr().out


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
    monkeypatch.setattr(records, "recorded", lambda name: replace(RESULT, seconds=250.0))
    assert main(["experiment"]) == 0
    small = capsys.readouterr().out.splitlines()[3]
    assert small.endswith("in 3 parts, 4 min 10 s of processor time when it was recorded")


RESULT = run_.Result(NAME, "small", 0, "", "cpu", {}, 1.0, "2026-01-01", ())


def test_completion():
    assert command._names("to") == [NAME]
    assert command._names("x") == []
    actions = [
        action
        for action in parser()._subparsers._group_actions[0].choices["experiment"]._actions
        if action.dest == "name"
    ]
    assert actions[0].completer is command._names
