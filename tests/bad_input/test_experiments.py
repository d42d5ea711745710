"""Folders and results of an experiment that were changed.

Whatever a folder says, the command ends with an answer in one line, and a file that is refused is
left alone.
"""

import json
import shutil

import pytest
from hypothesis import strategies as st

from rankcheck.commands import experiment as experiment_
from rankcheck.experiments import known
from rankcheck.experiments import run as run_
from rankcheck.experiments.result import Result
from rankcheck.experiments.run import run_experiment
from rankcheck.parallel import executor_for
from rankcheck.stored import StoredError, parse
from tests.experiments import toy

from .cases import cases, refused, run
from .strategies import WHOLE_TEXTS, as_text, mutated, torn


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Folders of an experiment: one that is finished, and one whose result is still to be made."""
    folder = tmp_path_factory.mktemp("experiments")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(known._MODULES, toy.NAME, toy.__name__)
        patch.setattr(run_, "executor_for", lambda workers, work: executor_for(None, work))
        patch.setattr(experiment_, "_draw", lambda *arguments: None)
        run_experiment(toy.NAME, "tiny", folder=folder / "finished")
        shutil.copytree(folder / "finished", folder / "begun")
        (folder / "begun" / "result.json").unlink()
        yield folder


def answer(kept, which, name, content):
    """Run the experiment in a changed folder: it is shown, or the file is left alone."""
    out = kept / "changed"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(kept / which, out)
    (out / name).write_bytes(content)
    ended = run("experiment", toy.NAME, "--scale=tiny", "--out", out)
    assert ended.code in (0, 2)
    assert bool(ended.err) == (ended.code == 2)
    if ended.code == 2:
        assert str(out) in ended.err
        assert (out / name).read_bytes() == content
    else:
        Result.of_json(json.loads((out / "result.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("which", "name"),
    [("finished", "result.json"), ("begun", "run.json"), ("begun", "parts/a.json")],
)
@cases(15, data=st.data())
def test_a_changed_or_torn_file(kept, which, name, data):
    whole = (kept / which / name).read_bytes()
    good = parse(whole)
    if data.draw(st.booleans()):
        content = as_text(data.draw(mutated(good))).encode("utf-8", "surrogatepass")
    else:
        cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
        content = data.draw(st.just(cut) | WHOLE_TEXTS | torn("{}"))
    answer(kept, which, name, content)


@cases(30, data=st.data())
def test_a_changed_result(kept, data):
    good = parse((kept / "finished" / "result.json").read_bytes())
    found: list[Result] = []
    changed = data.draw(mutated(good))
    if data.draw(st.booleans()):  # in a part, where most of it is
        changed = {**good, "parts": data.draw(mutated(good["parts"]))}
    refused((StoredError,), lambda: found.append(Result.of_json(changed)))
    for one in found:
        assert Result.of_json(json.loads(one.to_text())).to_text() == one.to_text()
