"""Folders of an experiment that were changed: it goes on from them, or says what is wrong.

Whatever a folder says, the command ends with an answer in one line, and a file that is refused is
left alone.
"""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import load_file, save

from rankcheck.commands import experiment as experiment_
from rankcheck.experiments import known, training
from rankcheck.experiments import run as run_
from rankcheck.experiments.result import Result
from rankcheck.experiments.run import run_experiment
from rankcheck.stored import StoredError
from tests.experiments import toy

from .cases import cases, refused, run
from .strategies import ODD_TEXTS, WHOLE_TEXTS, as_text, mutated, torn
from .test_command_lines import inline


class Stop(Exception):
    """The process ends here."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Folders of an experiment: one that is finished, and one that was interrupted in a part."""
    folder = tmp_path_factory.mktemp("experiments")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(known._MODULES, toy.NAME, toy.__name__)
        patch.setattr(run_, "in_processes", inline)
        patch.setattr(experiment_, "_draw", lambda *arguments: None)
        run_experiment(toy.NAME, "tiny", folder=folder / "finished")

        def told(part, share, words):
            if part == "b" and share > 0.4:
                raise Stop

        with pytest.raises(Stop):
            run_experiment(toy.NAME, "tiny", folder=folder / "begun", told=told)
        yield folder


def change(kept, which, name, content):
    """The folder with one file that was changed."""
    out = kept / "changed"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(kept / which, out)
    (out / name).write_bytes(content)
    return out


def answer(out, name, content):
    """Run the experiment in a folder: it is shown, or the file is named and left alone."""
    ended = run("experiments", "experiment", toy.NAME, "--scale=tiny", "--out", out)
    assert ended.code in (0, 2)
    assert bool(ended.err) == (ended.code == 2)
    if ended.code == 2:
        assert name.rpartition("/")[2].partition(".")[0] in ended.err or str(out) in ended.err
        assert (out / name).read_bytes() == content
    else:
        Result.of_json(json.loads((out / "result.json").read_text(encoding="utf-8")))
    return ended


def _bytes(value):
    return as_text(value).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("name", ["result.json", "run.json"])
@cases(15)
@given(data=st.data())
def test_a_changed_file(kept, name, data):
    good = json.loads((kept / "finished" / name).read_text(encoding="utf-8"))
    changed = data.draw(mutated(good))
    if name == "result.json" and data.draw(st.booleans()):  # in a run, where most of it is
        changed = {**good, "runs": data.draw(mutated(good["runs"]))}
    content = _bytes(changed)
    answer(change(kept, "finished", name, content), name, content)


@cases(15)
@given(data=st.data())
def test_a_changed_part(kept, data):
    name = "parts/a.json"
    good = json.loads((kept / "begun" / name).read_text(encoding="utf-8"))
    changed = data.draw(mutated(good))
    if data.draw(st.booleans()):
        changed = {**good, "runs": data.draw(mutated(good["runs"]))}
    content = _bytes(changed)
    answer(change(kept, "begun", name, content), name, content)


@cases(15)
@given(data=st.data())
def test_a_changed_checkpoint(kept, data):
    name = f"parts/{data.draw(st.sampled_from(['b', 'b.first']))}.safetensors"
    path = kept / "begun" / name
    tensors = load_file(path)
    with safe_open(path, framework="pt") as file:
        said = dict(file.metadata())
    one = data.draw(st.sampled_from(sorted(tensors)))
    match data.draw(st.sampled_from(["drop", "flat", "double", "other", "say", "say", "unsay"])):
        case "drop":
            del tensors[one]
        case "flat":
            tensors[one] = tensors[one].flatten()
        case "double":
            tensors[one] = tensors[one].double()
        case "other":
            tensors[one] = tensors[data.draw(st.sampled_from(sorted(tensors)))].clone()
        case "say":
            text = data.draw(ODD_TEXTS).encode("utf-8", "replace").decode()
            said[data.draw(st.sampled_from(sorted(said)))] = text
        case "unsay":
            del said[data.draw(st.sampled_from(sorted(said)))]
    if data.draw(st.booleans()):  # so that the numbers are looked at
        said["sha256"] = training._digest(said.get("step", ""), tensors)
    content = save(tensors, metadata=said)
    answer(change(kept, "begun", name, content), name, content)


@pytest.mark.parametrize(
    "name", ["run.json", "result.json", "parts/a.json", "parts/b.first.safetensors"]
)
@cases(8)
@given(data=st.data())
def test_a_torn_file(kept, name, data):
    which = "finished" if name == "result.json" else "begun"
    whole = (kept / which / name).read_bytes()
    length = data.draw(st.integers(0, len(whole) - 1))
    content = data.draw(st.just(whole[:length]) | WHOLE_TEXTS | torn("{}"))
    answer(change(kept, which, name, content), name, content)


@cases(30)
@given(data=st.data())
def test_a_changed_result(kept, data):
    good = json.loads((kept / "finished" / "result.json").read_text(encoding="utf-8"))
    found: list[Result] = []
    changed = data.draw(mutated(good))
    refused("results", (StoredError,), lambda: found.append(Result.of_json(changed)))
    for one in found:
        assert Result.of_json(one.to_json()).to_json() == one.to_json()


@pytest.mark.parametrize("place", ["result.json", "run.json", "parts/b.json"])
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/null", "."])
def test_what_has_no_end_or_is_no_file(kept, place, target):
    out = kept / "changed"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(kept / "begun", out)
    (out / place).unlink(missing_ok=True)
    (out / place).symlink_to(target)
    assert run("devices", "experiment", toy.NAME, "--scale=tiny", "--out", out).code == 2
