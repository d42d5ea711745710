"""Running an experiment: parts, folders and workers; what is finished is kept."""

import json
import re
from itertools import pairwise

import pytest
from safetensors.torch import load_file

from rankcheck.errors import InputError
from rankcheck.experiments import folder as folder_
from rankcheck.experiments import known
from rankcheck.experiments.base import Part
from rankcheck.experiments.run import PartError, planned, run_experiment

from .toy import NAME, Toy

PARTS = ("a", "b", "c")


@pytest.fixture(autouse=True)
def _known(toy):
    """The experiment of the tests is known."""


@pytest.fixture(scope="module")
def plain():
    """The runs of an experiment that keeps nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(known._MODULES, NAME, "tests.experiments.toy")
        return run_experiment(NAME, "tiny").runs


def go(folder=None, **options):
    return run_experiment(NAME, "tiny", folder=folder, **options)


def never(*arguments):
    raise AssertionError("it was trained before")


def kept(folder):
    return sorted(path.stem for path in (folder / "parts").glob("*.json"))


def test_the_folder_has_the_result_the_parts_and_the_networks(tmp_path, plain):
    out = tmp_path / "out"
    result = go(out)
    assert result.runs == plain
    assert [(run.part, run.seed) for run in plain] == [
        (part, 10 * width + number)
        for part, width in zip(PARTS, (3, 4, 5), strict=True)
        for number in (0, 1)
    ]
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    networks = {f"networks/{run.part}-{run.seed}.safetensors" for run in plain}
    parts = {f"parts/{name}.json" for name in PARTS}
    assert files == networks | parts | {"run.json", "result.json"}
    assert result.of_json(json.loads((out / "result.json").read_text("utf-8"))).runs == plain
    for run in plain:
        cost = sum(
            float((t.double() ** 2).sum())
            for t in load_file(out / "networks" / f"{run.part}-{run.seed}.safetensors").values()
        )
        assert cost == pytest.approx(run.measured["cost"], rel=1e-5)


def test_what_is_finished_is_taken_over(tmp_path, monkeypatch, plain):
    first = go(tmp_path)
    run, trained, told = Toy.run, [], []

    def noted(toy, part, place):
        trained.append(part.name)
        return run(toy, part, place)

    monkeypatch.setattr(Toy, "run", noted)
    assert go(tmp_path).to_text() == first.to_text()
    (tmp_path / "result.json").unlink()
    (tmp_path / "parts" / "c.json").unlink()
    assert go(tmp_path, progress=lambda *each: told.append(each)).runs == plain
    assert trained == ["c"]
    assert [name for name, _, words in told if words == "done before"] == ["a", "b"]


def test_the_plan_is_checked(monkeypatch):
    for name in ("", "a/b", "..", "a.b", "ä", "a" * 101):
        with pytest.raises(ValueError, match="letters, digits and hyphens"):
            Part(name, {}, (1,))
    with pytest.raises(ValueError, match="at least one run"):
        Part("a", {}, ())
    twice = [Part("a", {}, (1,)), Part("A", {}, (2,))]
    monkeypatch.setattr(Toy, "parts", lambda toy, scale, seed: twice)
    with pytest.raises(ValueError, match="the names of parts differ"):
        planned(Toy(), "tiny", 0)


@pytest.mark.parametrize(
    ("changed", "options"),
    [
        ("seed", {"seed": 1}),
        ("scale", {"scale": "small"}),
        ("sources", {}),
        ("versions", {}),
    ],
)
def test_the_folder_of_another_run_is_refused(tmp_path, monkeypatch, changed, options):
    go(tmp_path)
    if not options:
        monkeypatch.setattr(folder_, f"_{changed}", lambda: {"torch": "1"})
    monkeypatch.setattr(Toy, "run", never)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    with pytest.raises(InputError, match=f"is of another run, with the {changed} "):
        run_experiment(NAME, **({"scale": "tiny", "folder": tmp_path} | options))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


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
    "options",
    [
        {"name": "toy.lime"},
        {"name": "rank.figure-11"},
        {"scale": "big"},
        {"seed": -1},
        {"seed": 1 << 31},
        {"workers": 0},
        {"device": "meta"},
        {"device": "cuda:77"},
    ],
)
def test_wrong_arguments_leave_nothing(tmp_path, options):
    out = tmp_path / "out"
    with pytest.raises(InputError, match=str(*options.values())):
        run_experiment(**{"name": NAME, "scale": "tiny", "folder": out, **options})
    assert not out.exists()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("diverge", "part b: the training diverged by step 1"),
        ("nan", "part b: measured.error[0] is nan"),
        ("tensor", "part b: measured.tensor[0] is a Tensor"),
        ("too few", "part b: it has no run of b with seed 41"),
        ("memory", "part b: "),
    ],
)
def test_a_part_that_cannot_be_finished_is_named_and_the_others_are_kept(
    tmp_path, toy, plain, fault, said
):
    toy(fault=fault)
    with pytest.raises(PartError) as caught:
        go(tmp_path)
    assert str(caught.value).startswith(said)
    assert kept(tmp_path) == ["a"]
    toy()
    assert go(tmp_path).runs == plain


@pytest.mark.slow
def test_a_part_whose_worker_dies_is_named_and_the_others_are_kept(tmp_path, toy, plain):
    """Workers change no digit."""
    toy(fault="die")
    with pytest.raises(PartError, match=r"^part b: .*SIGKILL"):
        go(tmp_path, workers=1)
    assert kept(tmp_path) == ["a"]
    toy()
    assert go(tmp_path).runs == plain


ODD = ["", "null", "[]", "{", "7", '{"schema": 1}', "\ufeff{}", '{"a": 1, "a": 2}', "[" * 200]


@pytest.mark.parametrize("name", ["run.json", "result.json", "parts/a.json"])
def test_a_file_that_is_not_as_it_was_written_is_named_and_left_alone(tmp_path, name):
    go(tmp_path)
    if name[0] == "p":
        (tmp_path / "result.json").unlink()
    good = json.loads((tmp_path / name).read_text("utf-8"))
    others = [] if name[0] != "p" else [{"seeds": [30, 32]}, {"settings": {"width": 9}}]
    for text in (*ODD, *(json.dumps(good | other) for other in others)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=re.escape(str(tmp_path))):
            go(tmp_path)
        assert (tmp_path / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["", "parts", "networks", "result.json"])
def test_a_folder_with_a_link_is_not_used(tmp_path, name):
    """It may be of a stranger, and nothing is written or deleted behind it."""
    precious = tmp_path / "precious"
    precious.mkdir()
    if name:
        (tmp_path / "x").mkdir()
    (tmp_path / "x" / name).symlink_to(precious if "." not in name else precious / "not there")
    with pytest.raises(InputError, match="is a link"):
        go(tmp_path / "x", anew=not name)
    assert list(precious.iterdir()) == []


def test_what_is_deleted_to_begin_anew(tmp_path):
    """What was finished, or is another run; files of somebody else stay."""
    go(tmp_path)
    (tmp_path / "mine.txt").write_text("mine")
    assert go(tmp_path, anew=True, seed=2).seed == 2
    assert kept(tmp_path) == list(PARTS)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert {path.name for path in (tmp_path / "networks").glob("a-*")} == {
        "a-2030.safetensors",
        "a-2031.safetensors",
    }
