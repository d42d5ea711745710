"""Running an experiment: parts, folders, workers, and going on after an interruption."""

import json
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from rankcheck.errors import InputError
from rankcheck.experiments import folder as folder_
from rankcheck.experiments import known, training, workers
from rankcheck.experiments.base import Part, Place
from rankcheck.experiments.run import planned, run_experiment
from rankcheck.experiments.workers import PartError

from .toy import NAME, Toy

PARTS = ("a", "b", "c")


@pytest.fixture(autouse=True)
def _known(toy):
    """The experiment of the tests is known."""


@pytest.fixture(scope="module")
def plain():
    """The runs of an experiment that was never interrupted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(known._MODULES, NAME, "tests.experiments.toy")
        return run_experiment(NAME, "tiny").runs


def go(folder=None, **options):
    return run_experiment(NAME, "tiny", folder=folder, **options)


def never(*arguments):
    raise AssertionError("it was trained before")


def test_the_result_is_of_all_runs_in_their_order(plain):
    assert [(run.part, run.seed) for run in plain] == [
        (part, 10 * width + number)
        for part, width in zip(PARTS, (3, 4, 5), strict=True)
        for number in (0, 1)
    ]
    assert {run.settings["steps"] for run in plain} == {8}
    assert len({run.measured["cost"] for run in plain}) == 6


def test_the_folder_has_the_result_the_parts_and_the_networks(tmp_path, plain):
    out = tmp_path / "out"
    result = go(out)
    assert result.runs == plain
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    networks = {f"networks/{run.part}-{run.seed}.safetensors" for run in plain}
    assert files == networks | {f"parts/{name}.json" for name in PARTS} | {
        "run.json",
        "result.json",
    }
    assert json.loads((out / "result.json").read_text(encoding="utf-8")) == result.to_json()
    for run in plain:
        cost = sum(
            float((t.double() ** 2).sum())
            for t in load_file(out / "networks" / f"{run.part}-{run.seed}.safetensors").values()
        )
        assert cost == pytest.approx(run.measured["cost"], rel=1e-5)


def test_a_finished_result_is_read_again(tmp_path, monkeypatch):
    first = go(tmp_path)
    monkeypatch.setattr(Toy, "run", never)
    assert go(tmp_path) == first.of_json(first.to_json())


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_finished_parts_are_taken_over(tmp_path, monkeypatch, plain, kept):
    go(tmp_path)
    (tmp_path / "result.json").unlink()
    for name in PARTS[kept:]:
        (tmp_path / "parts" / f"{name}.json").unlink()
    run, trained, told = Toy.run, [], []

    def noted(toy, part, place):
        trained.append(part.name)
        return run(toy, part, place)

    monkeypatch.setattr(Toy, "run", noted)
    again = go(tmp_path, told=lambda *each: told.append(each))
    assert again.runs == plain
    assert tuple(trained) == PARTS[kept:]
    assert [each for each in told if each[2] == "done before"] == [
        (name, 1.0, "done before") for name in PARTS[:kept]
    ]


def test_checkpoints_of_a_finished_part_are_deleted(tmp_path, plain):
    """Also where the process was killed before it did."""
    go(tmp_path)
    (tmp_path / "result.json").unlink()
    for name in ("a.safetensors", "b.first.safetensors"):
        (tmp_path / "parts" / name).touch()
    assert go(tmp_path).runs == plain
    assert {path.suffix for path in (tmp_path / "parts").iterdir()} == {".json"}


def test_a_part_is_of_a_device_of_versions_and_of_sources():
    part = planned(Toy(), "tiny", 0)[0]
    heads = [
        folder_.Head(NAME, "tiny", 0, "cpu"),
        folder_.Head(NAME, "tiny", 0, "cuda"),
        folder_.Head(NAME, "tiny", 0, "cpu", versions={}),
        folder_.Head(NAME, "tiny", 0, "cpu", sources=""),
    ]
    assert len({folder_.Folder(Path(), head).identity(part) for head in heads}) == 4


def test_what_is_told(tmp_path):
    told = []
    go(tmp_path, told=lambda *each: told.append(each))
    for name in PARTS:
        mine = [share for part, share, _ in told if part == name]
        assert mine == sorted(mine)
        assert (mine[0], mine[-1], mine.count(1.0)) == (0.0, 1.0, 1)


def test_nothing_is_kept_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    go()
    assert list(tmp_path.iterdir()) == []


class Killed(BaseException):
    """The process ends here."""


def test_it_goes_on_to_the_same_result_wherever_it_was_interrupted(
    tmp_path, monkeypatch, toy, plain
):
    monkeypatch.setattr(training, "_STEPS", 3)
    toy(every=0.0)
    draw = random.Random(1)
    tries: list[int] = []

    def told(part, share, words):
        if words != "done before" and draw.random() < 0.25:
            raise Killed

    found = None
    while found is None and len(tries) < 100:
        tries.append(len(list((tmp_path / "parts").glob("*.json"))))
        with suppress(Killed):
            found = go(tmp_path, told=told)
    assert found.runs == plain
    assert set(tries) >= {0, 1, 2}
    assert len(tries) > 5
    assert found.seconds > 0
    left = sorted(path.name for path in (tmp_path / "parts").iterdir())
    assert left == [f"{name}.json" for name in PARTS]


def test_seconds_before_an_interruption_count(tmp_path, monkeypatch):
    def told(part, share, words):
        if part == "b" and share > 0.4:
            raise Killed

    with pytest.raises(Killed):
        go(tmp_path, told=told)
    monkeypatch.setattr(training, "spent", lambda path: 1000.0 * (path.suffix == ".safetensors"))
    assert 2000 < go(tmp_path).seconds < 2900  # both trainings of part b were begun


def test_a_checkpoint_is_of_its_part_its_stage_and_its_folder(tmp_path):
    part, other = Part("a", {"width": 3}, (1,)), Part("a", {"width": 4}, (1,))
    place = Place("cpu", tmp_path, head="1")
    found = [
        place.checkpoint(part),
        place.checkpoint(part, "first"),
        place.checkpoint(other),
        Place("cpu", tmp_path, head="2").checkpoint(part),
        Place("cpu", tmp_path, head="1").checkpoint(Part("a", {"width": 3}, (2,))),
    ]
    assert len({each.identity for each in found}) == 5
    assert {each.path.name for each in found} == {"a.safetensors", "a.first.safetensors"}


@pytest.mark.parametrize("name", ["", "a/b", "..", "a.b", "a b", "ä", "a" * 101])
def test_a_part_has_a_plain_name(name):
    with pytest.raises(ValueError, match="letters, digits and hyphens"):
        Part(name, {}, (1,))


def test_the_plan_is_checked(monkeypatch):
    with pytest.raises(ValueError, match="at least one run"):
        Part("a", {}, ())
    twice = [Part("a", {}, (1,)), Part("A", {}, (2,))]
    monkeypatch.setattr(Toy, "parts", lambda toy, scale, seed: twice)
    with pytest.raises(ValueError, match="the names of parts differ"):
        planned(Toy(), "tiny", 0)


OTHERS = {
    "seed": ({"seed": 1}, "its seed is 0, not 1"),
    "scale": ({"scale": "small"}, "its scale is 'tiny', not 'small'"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_folder_of_another_run_is_refused(tmp_path, monkeypatch, name):
    options, said = OTHERS[name]
    go(tmp_path)
    monkeypatch.setattr(Toy, "run", never)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    with pytest.raises(InputError, match="or name another folder with --out") as caught:
        run_experiment(NAME, **({"scale": "tiny", "folder": tmp_path} | options))
    assert said in str(caught.value)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_the_folder_of_other_code_is_refused(tmp_path, monkeypatch):
    """Checkpoints of old code would mix with the numbers of the new one."""
    go(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(folder_, "_sources", lambda: "others")
        with pytest.raises(InputError, match="another version of rankcheck's sources; delete"):
            go(tmp_path)
    head = json.loads((tmp_path / "run.json").read_text())
    head["versions"]["torch"] = "1.0"
    (tmp_path / "run.json").write_text(json.dumps(head))
    with pytest.raises(InputError, match=r"its version of torch is '1\.0', not '2"):
        go(tmp_path)


def test_the_sources_are_those_that_numbers_depend_on(tmp_path, monkeypatch):
    package, claims = tmp_path / "rankcheck", tmp_path / "properties"
    files = [package / "costs" / "a.py", package / "report" / "b.py", claims / "rank" / "c.py"]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("1")
    monkeypatch.setattr(folder_, "_PACKAGE", package)
    monkeypatch.setattr(folder_, "project_folder", lambda: claims)
    found = [folder_._sources.__wrapped__()]
    for file in files:
        file.write_text("2")
        found.append(folder_._sources.__wrapped__())
    assert [a == b for a, b in pairwise(found)] == [False, True, False]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "toy.lime"}, "there is no experiment 'toy.lime'"),
        ({"name": "rank.figure-11"}, "did you mean rank.figure-1?"),
        ({"scale": "big"}, "a scale is one of tiny, small, paper"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": 1 << 31}, "a seed is at least 0 and below 2147483648"),
        ({"workers": 0}, "received 0 workers"),
        ({"device": "meta"}, "the device is 'meta'; it is cpu"),
        ({"device": "cuda:77"}, "torch cannot use the device 'cuda:77' here"),
    ],
)
def test_wrong_arguments_leave_nothing(tmp_path, options, said):
    out = tmp_path / "out"
    with pytest.raises(InputError) as caught:
        run_experiment(**{"name": NAME, "scale": "tiny", "folder": out, **options})
    assert said in str(caught.value)
    assert not out.exists()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("diverge", "part b: the training diverged by step 1; a smaller rate may help"),
        ("nan", "part b: runs[0].measured.error is nan; a result has finite numbers"),
        ("tensor", "part b: runs[0].measured.tensor is a Tensor; a result is plain JSON"),
        ("too few", "part b: its runs are [('b', 40)]; a part has a run for each seed"),
    ],
)
def test_a_part_that_cannot_be_finished_is_named_and_the_others_are_kept(
    tmp_path, toy, plain, fault, said
):
    toy(fault=fault)
    with pytest.raises(PartError) as caught:
        go(tmp_path)
    assert str(caught.value).startswith(said)
    assert [path.name for path in (tmp_path / "parts").glob("*.json")] == ["a.json"]
    toy()
    assert go(tmp_path).runs == plain


def test_the_data_of_a_part_do_not_depend_on_the_threads(plain):
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert go().runs == plain
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


@pytest.mark.slow
def test_the_number_of_workers_changes_no_digit(tmp_path, toy, plain):
    """A worker that is killed loses nothing either."""
    toy(fault="die later", every=0.0, flag=str(tmp_path / "flag"))
    told: list[tuple[str, float, str]] = []
    noticed: list[str] = []
    found = go(tmp_path / "out", workers=2, told=lambda *e: told.append(e), noticed=noticed.append)
    assert found.runs == plain
    assert noticed == [
        "the worker of part b ended (SIGKILL, out of memory?); another one goes on from its "
        "checkpoint"
    ]
    assert [part for part, share, _ in told if share == 1] != []
    assert {part for part, share, words in told if (share, words) == (1.0, "done")} == set(PARTS)


@pytest.mark.slow
def test_a_part_whose_worker_dies_twice_is_named_and_the_others_are_kept(tmp_path, toy, plain):
    toy(fault="die")
    said = r"^part b: its worker ended 2 times \(SIGKILL, out of memory\?\); fewer --workers"
    with pytest.raises(PartError, match=said):
        go(tmp_path, workers=1)
    assert [path.name for path in (tmp_path / "parts").glob("*.json")] == ["a.json"]
    toy()
    assert go(tmp_path).runs == plain


@pytest.fixture
def worker(tmp_path):
    """`worker(toy)` is what a worker does with a part, in this process."""
    before = signal.getsignal(signal.SIGTERM)
    with folder_.opened(tmp_path, folder_.Head(NAME, "tiny", 0, "cpu")) as folder:
        yield lambda made: workers._prepare(workers.Job(made, folder, "cpu"))
    signal.signal(signal.SIGTERM, before)


B = planned(Toy(), "tiny", 0)[1]


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("input", InputError, "the input is odd; it is even"),
        ("diverge", PartError, "part b: the training diverged by step 1; a smaller rate may help"),
        ("memory", None, "out of memory (MemoryError); fewer --workers need less"),
        (
            "key",
            None,
            "internal error: KeyError: 'lost' (RANKCHECK_TRACEBACK=1 shows the traceback)",
        ),
    ],
)
def test_a_worker_says_why_it_failed(worker, fault, kind, said):
    """It is sent to the parent, so it can be pickled."""
    found = pickle.loads(pickle.dumps(worker(Toy(fault=fault))(B, lambda value: None)))
    if kind is None:
        assert (found.error, found.said) == (None, said)
    else:
        assert isinstance(found.error, kind)
        assert str(found.error) == said


def test_a_worker_that_is_told_to_end_keeps_a_checkpoint(worker, tmp_path, plain):
    told = []

    def tell(value):
        told.append(value)
        if len(told) == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    run = worker(Toy())
    assert run(B, tell) == "SIGTERM"
    left = sorted(path.name for path in (tmp_path / "parts").iterdir())
    assert left == ["b.first.safetensors", "b.safetensors"]
    assert run(B, told.append).runs == plain[2:4]  # the next task is not ended
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["b.json"]


def test_a_part_that_was_finished_by_a_worker_that_died_is_not_trained_again(
    tmp_path, monkeypatch, plain
):
    parts = planned(Toy(), "tiny", 0)
    with folder_.opened(tmp_path, folder_.Head(NAME, "tiny", 0, "cpu")) as folder:
        job = workers.Job(Toy(), folder, "cpu")
        first = job.run(parts[0], lambda share, words: None)
        monkeypatch.setattr(Toy, "run", never)
        assert job.run(parts[0], lambda share, words: None) == first
    assert first.runs == plain[:2]


@pytest.fixture
def place(tmp_path):
    """A folder that is finished, and a function that puts it back."""
    go(tmp_path / "first")
    (tmp_path / "first" / "result.json").unlink()

    def again():
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        return Path(shutil.copytree(tmp_path / "first", tmp_path / "out"))

    return again


ODD = ["", "null", "[]", "{", "7", '{"schema": 1}', "\ufeff{}", '{"a": 1, "a": 2}', "[" * 200,
       '{"identity": "x", "seconds": 1, "runs": []}', "\x00\x01"]  # fmt: skip


@pytest.mark.parametrize("file", ["run.json", "parts/b.json", "result.json"])
def test_a_file_that_is_damaged_is_named_with_what_to_do(place, monkeypatch, file):
    monkeypatch.setattr(Toy, "run", never)
    out = place()
    for text in ODD:
        (out / file).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"delete") as caught:
            go(out)
        said = str(caught.value)
        assert str(out) in said
        assert "\n" not in said
        assert (out / file).read_text(encoding="utf-8") == text
    (out / file).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=file.rpartition("/")[2]):
        go(out)


def test_a_part_of_another_experiment_is_refused(place, monkeypatch):
    monkeypatch.setattr(Toy, "run", never)
    out = place()
    good = json.loads((out / "parts" / "b.json").read_text())
    first, second = good["runs"]
    odd = [
        good | {"identity": "0"},
        good | {"seconds": float("nan")},
        good | {"seconds": -1},
        good | {"seconds": "1"},
        good | {"runs": good["runs"][:1]},
        good | {"runs": [second, first]},
        good | {"runs": [first, second | {"part": "c"}]},
        good | {"runs": [first, second | {"measured": {"error": float("inf")}}]},
        good | {"runs": [first, second | {"audit": {}}]},
        good | {"more": 1},
    ]
    for data in odd:
        (out / "parts" / "b.json").write_text(json.dumps(data))
        with pytest.raises(InputError, match="delete it to begin this part anew"):
            go(out)
    (out / "parts" / "b.json").write_text(json.dumps(good))
    go(out)


def test_the_result_of_another_experiment_is_refused(tmp_path, monkeypatch, plain):
    go(tmp_path)
    monkeypatch.setattr(Toy, "run", never)
    path = tmp_path / "result.json"
    good = json.loads(path.read_text())
    for data in (
        good | {"experiment": "toy.other"},
        good | {"seed": 1},
        good | {"device": "cuda"},
        good | {"runs": good["runs"][1:]},
        good | {"seconds": float("nan")},
        good | {"schema": 2},
    ):
        path.write_text(json.dumps(data))
        with pytest.raises(InputError, match="the same command makes it again"):
            go(tmp_path)
    path.unlink()
    assert go(tmp_path).runs == plain


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"has other files \('mine.txt'\); an experiment is kept"):
        go(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("kind", ["file", "below a file", "nul", "link to nowhere"])
def test_what_can_be_no_folder(tmp_path, kind):
    file = tmp_path / "file"
    file.write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    paths = {"file": file, "below a file": file / "x", "nul": Path("\0")}
    with pytest.raises(InputError, match=r"cannot be used: .*--out names another one"):
        go(paths.get(kind, tmp_path / "link"))
    assert file.read_text() == "mine"


@pytest.mark.parametrize("name", ["parts", "networks", "figures"])
def test_a_link_inside_of_the_folder_is_not_followed(tmp_path, name):
    out, other = tmp_path / "out", tmp_path / "other"
    other.mkdir()
    go(out)
    shutil.rmtree(out / name, ignore_errors=True)
    (out / name).symlink_to(other)
    with pytest.raises(InputError, match=f"{name} is a link or a file"):
        go(out)
    assert list(other.iterdir()) == []


def test_links_in_the_place_of_files_are_replaced(tmp_path, plain):
    precious = tmp_path / "precious.safetensors"
    out = tmp_path / "out"
    go(out)
    network = out / "networks" / "a-30.safetensors"
    shutil.copy(network, precious)
    precious.write_bytes(precious.read_bytes() + b" ")
    before = precious.read_bytes()
    shutil.rmtree(out / "parts")
    (out / "parts").mkdir()
    (out / "result.json").unlink()
    network.unlink()
    for name in ("networks/a-30.safetensors", "parts/a.json", "result.json"):
        (out / name).symlink_to(precious if "networks" in name else tmp_path / "nowhere")
    assert go(out).runs == plain
    assert precious.read_bytes() == before
    assert not (tmp_path / "nowhere").exists()
    assert not any(path.is_symlink() for path in out.rglob("*"))


def test_what_an_interrupted_write_left_is_removed(tmp_path):
    (tmp_path / ".run.json.abcd1234").write_text("{")  # the folder was just begun
    go(tmp_path)
    (tmp_path / "result.json").unlink()
    for name in ("parts/.a.safetensors.abc_1234", "networks/.a.b.12345678", ".kept"):
        (tmp_path / name).write_text("{")
    go(tmp_path)
    assert [path.name for path in tmp_path.rglob(".*")] == [".kept"]


HOLDER = """
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from rankcheck.experiments.folder import Head, opened
with opened(Path(sys.argv[1]), Head("toy.line", "tiny", 0, "cpu")):
    print("here", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_two_processes_cannot_work_in_one_folder(tmp_path, plain):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    ) as other:
        assert other.stdout.readline() == "here\n"
        with pytest.raises(InputError, match=re.escape(f"is running the experiment in {tmp_path}")):
            go(tmp_path)
        other.kill()
    assert go(tmp_path).runs == plain


def test_a_folder_is_free_again_after_an_error(tmp_path, toy, plain):
    toy(fault="interrupt")
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path)
    toy()
    assert go(tmp_path).runs == plain
