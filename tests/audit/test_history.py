"""Audits over time: figures are those of audits, folders that fill, two networks compared."""

import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from rankcheck.audit import ModelError, audit, compare, over_time
from rankcheck.audit.history.figures import FIGURES
from rankcheck.audit.history.measure import Measuring
from rankcheck.audit.history.result import Checkpoint, Skipped
from rankcheck.audit.history.run import Course
from rankcheck.audit.result import GUESSED
from rankcheck.errors import InputError

from .nets import normal, sequential


def save(path, net, at=1000):
    torch.save(net.state_dict(), path)
    os.utime(path, (at, at))


@pytest.fixture
def folder(tmp_path):
    """Checkpoints of three steps, written in the opposite order."""
    for number, step in enumerate((100, 20, 3)):
        save(tmp_path / f"step_{step}.pt", sequential(step), 1000 + number)
    return tmp_path


X = normal(30, 3)


# A folder


def test_the_figures_are_those_of_audits(folder):
    found = over_time(folder, X, slope=0)
    assert [one.name for one in found.checkpoints] == ["step_3.pt", "step_20.pt", "step_100.pt"]
    assert found.places == [3, 20, 100]
    assert found.said == "by the number behind “step” in the names"
    assert (found.skipped, found.left, found.headline) == ((), (), None)
    for one in found.checkpoints:
        net = sequential(one.step)
        whole = audit(net, X, theorems=False)
        parameters = [p.detach().double() for p in net.parameters()]
        assert one["cost"] == pytest.approx(sum(float((p * p).sum()) for p in parameters))
        assert one["cost_per_layer"] == pytest.approx(one["cost"] / 3)
        x = X.requires_grad_(False)
        J = torch.func.vmap(torch.func.jacrev(net.double()))(x)
        s = torch.linalg.svdvals(J.detach())
        ranks = (s > 0.05 * s[:, :1]).sum(-1)
        counts = torch.bincount(ranks)
        assert one["rank"] == int(counts.argmax()) == whole.rank
        assert one["s_1"] == pytest.approx(np.median(s[:, 0].numpy()))
        assert one["s_2"] == pytest.approx(np.median(s[:, 1].numpy()))
        assert one["s_3"] is None
        assert one["excess"] == pytest.approx(one["cost"] - 3 * whole.rank)
        assert one["undecided"] == whole.data.undecided / 30
        assert one["balanced"] == whole.balanced.cost < one["cost"]
        assert one["saved"] == pytest.approx(1 - whole.balanced.cost / one["cost"])
        assert one["index_rank"] == whole.data.index_rank.rank
        assert one["least_cost"] == whole.data.least_cost
        assert one["dead"] == sum(layer.dead or 0 for layer in whole.layers)
        assert one.ranks == {"rank": whole.rank_text, "index_rank": whole.data.index_rank.text}
        assert one.figures.keys() == FIGURES.keys()
    assert found.curve("cost") == [(one.step, one["cost"]) for one in found.checkpoints]
    assert found.curve("s_3") == []


def test_without_data_there_are_the_figures_of_the_weights(folder):
    found = over_time(folder, slope=0)
    last = found.checkpoints[-1]
    assert last["rank"] == audit(sequential(100), theorems=False).rank
    for name in ("undecided", "gap", "least_cost", "s_1", "index_rank", "dead"):
        assert last[name] is None
    assert last.points is None
    assert any("rank of most layers" in words for words in found.words)


def test_activations_that_were_assumed_are_said(folder):
    assert over_time(folder).headline == GUESSED
    assert over_time([sequential()]).headline is None
    assert compare(folder / "step_3.pt", sequential()).headline == GUESSED


def test_workers_change_no_digit(folder):
    save(folder / "step_300.pt", sequential(0, (4, 5, 2)))
    alone, shared = (over_time(folder, X, slope=0, executor=workers) for workers in (None, 2))
    assert shared.checkpoints == alone.checkpoints
    assert shared.skipped == alone.skipped
    assert shared.words == alone.words


def test_what_is_no_checkpoint_is_named(folder, tmp_path):
    (folder / "train.log").write_text("loss 1")
    (folder / "half.pt").write_bytes((folder / "step_3.pt").read_bytes()[:900])
    torch.save({"state": {}, "lr": 0.1}, folder / "optimizer.pt")
    bad = sequential().state_dict()
    bad["2.weight"][0, 0] = math.nan
    torch.save(bad, folder / "step_200.pt")
    save(folder / "wide.pt", sequential(0, (4, 5, 2)))
    np.save(folder / "x.npy", X.numpy())
    found = over_time(folder, folder / "x.npy", slope=0)
    assert len(found.checkpoints) == 3
    reasons = {one.name: one.reason for one in found.skipped}
    assert reasons.keys() == {"train.log", "half.pt", "optimizer.pt", "step_200.pt", "wide.pt"}
    assert reasons["train.log"] == "its name ends as that of no model"
    assert reasons["half.pt"].startswith("cannot be read as a zip archive")
    assert "'state' is of the type dict" in reasons["optimizer.pt"]
    assert "2.weight" in reasons["step_200.pt"]
    assert "the data have 3 numbers a point; the network takes 4" in reasons["wide.pt"]
    without = over_time(folder, slope=0, by="names")
    reasons = {one.name: one.reason for one in without.skipped}
    assert "it has 4 inputs and 2 outputs, and step_3.pt has 3 and 2" in reasons["wide.pt"] or (
        "wide.pt has 4 and 2" in reasons["step_3.pt"]
    )
    assert "x.npy" in reasons


def test_the_order_can_be_that_of_writing(folder):
    found = over_time(folder, by="time", slope=0)
    assert [one.name for one in found.checkpoints] == ["step_100.pt", "step_20.pt", "step_3.pt"]
    assert found.places == [1, 2, 3]
    assert "From “step_100.pt” to “step_3.pt”" in found.words[0]
    with pytest.raises(InputError, match="by is 'size'"):
        over_time(folder, by="size")


def test_a_folder_without_checkpoints_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no checkpoint of .* can be audited$"):
        over_time(tmp_path)
    (tmp_path / "a.pt").write_text("mine")
    with pytest.raises(InputError, match=r"can be audited: a\.pt: "):
        over_time(tmp_path)
    with pytest.raises(ModelError, match=r"cannot read the folder .*a\.pt: Not a directory"):
        over_time(tmp_path / "a.pt")
    with pytest.raises(ModelError, match="cannot read"):
        over_time(tmp_path, tmp_path / "none.npy")


# A training that runs


class Writer:
    """What happens between two looks, in place of a clock; then Ctrl-C."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def __call__(self):
        if not self.steps:
            raise KeyboardInterrupt
        self.steps.pop(0)()


def nothing():
    pass


def watched(folder, *steps):
    """What came, as names, and the course; reads are counted."""
    course = Course(folder, Measuring.on(X, slope=0.0))
    came = []

    def follow():
        for event in course.events(Writer(*steps)):
            came.append((type(event).__name__, event.name))

    with pytest.raises(KeyboardInterrupt):
        follow()
    return came, course


def test_files_are_waited_for_and_read_once(tmp_path, monkeypatch):
    save(tmp_path / "whole.pt", sequential(1))
    whole = (tmp_path / "whole.pt").read_bytes()
    (tmp_path / "whole.pt").unlink()
    path, read = tmp_path / "step_1.pt", []
    usual = Measuring.read

    def noted(self, model, name=""):
        read.append(model)
        return usual(self, model)

    monkeypatch.setattr(Measuring, "read", noted)

    def write(share, at):
        def now():
            path.write_bytes(whole[: int(share * len(whole))])
            os.utime(path, (at, at))

        return now

    came, course = watched(tmp_path, write(0.3, 1), write(0.6, 2), write(1, 3), nothing, nothing)
    assert came == [("Checkpoint", "step_1.pt")]
    assert read == [path]
    assert course.history.left == ()

    read.clear()  # one that stays half written for a while: tried once, and again when it changes
    came, course = watched(tmp_path, write(0.5, 4), nothing, nothing, write(1, 5), nothing, nothing)
    assert came == [("Skipped", "step_1.pt"), ("Checkpoint", "step_1.pt")]
    assert read == [path, path]
    assert course.history.skipped == ()

    came, _ = watched(tmp_path, nothing, write(0.9, 6), nothing, nothing)
    assert came == [("Checkpoint", "step_1.pt"), ("Skipped", "step_1.pt")]


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    path = tmp_path / "step_1.pt"
    save(path, sequential(1))
    usual, changes = Measuring.read, [sequential(2), None]

    def read(self, model, name=""):
        found = usual(self, model, name)
        if (newer := changes.pop(0)) is not None:
            save(path, newer, 2000)
        return found

    monkeypatch.setattr(Measuring, "read", read)
    came, course = watched(tmp_path, nothing, nothing, nothing)
    assert came == [("Checkpoint", "step_1.pt")]
    [one] = course.history.checkpoints
    assert one["cost"] == pytest.approx(audit(sequential(2), theorems=False).model.cost)


def test_checkpoints_come_as_they_are_written(tmp_path):
    def step(number):
        return lambda: save(tmp_path / f"step_{number}.pt", sequential(number), number)

    came, course = watched(tmp_path, step(10), step(9), nothing, step(11))
    assert came == [("Checkpoint", "step_10.pt"), ("Checkpoint", "step_9.pt")]
    history = course.history
    assert [one.step for one in history.checkpoints] == [9, 10]
    assert history.left == ("step_11.pt",)
    came, course = watched(tmp_path)
    assert came == []
    assert course.history.checkpoints == ()


# What is given in Python


def test_models_in_their_order_and_by_steps():
    nets = [sequential(seed) for seed in (5, 6)]
    found = over_time(nets, X)
    assert [one.name for one in found.checkpoints] == ["network 1", "network 2"]
    assert found.places == [1, 2]
    by_step = over_time({200: nets[1], 100: nets[0]}, X)
    assert by_step.places == [100, 200]
    assert [one.figures for one in by_step.checkpoints] == [
        one.figures for one in found.checkpoints
    ]
    assert over_time({"best": nets[0]}, X).checkpoints[0].name == "best"


def test_paths_keep_their_order(folder):
    paths = [folder / "step_20.pt", folder / "step_3.pt"]
    found = over_time(paths, slope=0)
    assert [one.name for one in found.checkpoints] == ["step_20.pt", "step_3.pt"]
    assert found.places == [1, 2]
    assert over_time(paths[::-1], slope=0).places == [3, 20]


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (sequential(), "the models are a Sequential; they are a folder, a sequence"),
        (3, "the models are a int"),
        ([], "there are no models"),
        ([sequential(), "none.pt"], "cannot read none.pt"),
        ([sequential(), nn.Conv1d], "network 2: the model is a type"),
        ({7: nn.Linear(2, 2)}, "7: the data have 3 numbers a point; the network takes 2"),
    ],
)
def test_what_is_no_history(models, said):
    with pytest.raises(InputError, match=said):
        over_time(models, X)


class Residual(nn.Module):
    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.up, self.down = nn.Linear(3, 4), nn.Linear(4, 3)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def loaded(path):
    net = Residual(0)
    net.load_state_dict(torch.load(path))
    return net.eval()


def test_networks_that_are_no_chain_by_a_function_that_loads_them(tmp_path):
    for step in (1, 2):
        save(tmp_path / f"{step}.pkl", Residual(step))
    found = over_time(tmp_path, X, load=loaded)
    assert found.places == [1, 2]
    for one in found.checkpoints:
        parameters = Residual(one.step).parameters()
        cost = sum(float((p.detach().double() ** 2).sum()) for p in parameters)
        assert one["cost"] == pytest.approx(cost)
        assert one["excess"] is None  # kL is what a rank costs a chain
    apart = compare(tmp_path / "1.pkl", tmp_path / "2.pkl", X, load=loaded)
    f, g = (Residual(seed).double()(X).detach() for seed in (1, 2))
    assert apart.difference.largest == pytest.approx(float((f - g).abs().max()))
    assert {one.layer for one in apart.moved} == {"up", "down"}
    (tmp_path / "3.pkl").write_text("mine")
    with pytest.raises(Exception, match=r".") as raised:
        over_time(tmp_path, X, load=loaded)
    assert any("3.pkl" in note for note in raised.value.__notes__)


# JSON and sentences


def test_the_json_has_all_figures(folder):
    (folder / "train.log").write_text("loss 1")
    found = over_time(folder, X)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["headline"] == GUESSED
    assert data["titles"].keys() == FIGURES.keys()
    assert [one["figures"] for one in data["checkpoints"]] == [
        dict(one.figures) for one in found.checkpoints
    ]
    assert data["skipped"] == [{"name": "train.log", "reason": found.skipped[0].reason}]
    both = compare(folder / "step_3.pt", folder / "step_20.pt", X).to_json()
    changes = {one["name"]: one for one in both["changes"]}
    assert changes["cost"]["change"] == pytest.approx(
        both["new"]["figures"]["cost"] - both["old"]["figures"]["cost"]
    )


def test_the_page_on_json_names_fields_that_are_there(folder):
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text("utf-8")
    section = page.partition("## Audits over time")[2].partition("\n## ")[0]
    first, second, *_ = re.findall(r"`\{(.*?), …\}`", section, re.DOTALL)
    both = compare(folder / "step_3.pt", folder / "step_20.pt", X).to_json()
    found = over_time(folder, X).to_json()
    for fields, data in ((first, both), (second, found)):
        assert set(re.findall(r'"(\w+)"', fields)) <= data.keys()
    one, change = found["checkpoints"][0], both["changes"][0]
    said = set(re.findall(r"`(\w+)`", section)) - {"difference", "moved", "titles"}
    assert said == (change.keys() | one.keys()) & said
    assert one["ranks"].keys() <= one["figures"].keys() == found["titles"].keys()


def checkpoint(step, **figures):
    given = {**dict.fromkeys(FIGURES), "cost": 10.0, "rank": 2, "saved": 0.0, **figures}
    ranks = {"rank": f"{given['rank']}{'?' if given.pop('unclear', False) else ''}"}
    return Checkpoint("a", given, ranks, "", "", 1, 1, step=step, points=5)


@pytest.mark.parametrize(
    ("many", "said"),
    [
        ([{}, {"cost": 10.05}], "From epoch 0 to epoch 1 the cost stays near 10.05."),
        ([{}, {"cost": 5.0}], "the cost falls from 10 to 5."),
        ([{}, {"cost": 4.0}, {"cost": 5.0}], "falls from 10 to 5; it is least, 4, at epoch 1."),
        ([{}, {}], "The rank of Jf at most points is 2 at every checkpoint."),
        ([{"rank": 3, "unclear": True}, {}, {}], "is 3?, then 2; the last one since epoch 1 (?"),
        ([{"rank": n % 2} for n in range(9)], "changes 8 times between 0 and 1, and is 0 since"),
        ([{}, {"saved": 0.16}], "balancing its neurons would save 16 % of the cost."),
        ([{}, {"least_cost": 5.0}], "The last one costs 2 times what its largest Jacobian"),
    ],
)
def test_what_is_to_be_seen(many, said):
    from rankcheck.audit.history.words import in_words

    words = in_words([checkpoint(n, **one) for n, one in enumerate(many)], "epoch")
    assert any(said in one for one in words), words
    assert in_words([checkpoint(0)]) == ()


def test_a_skipped_file_is_an_event(folder):
    (folder / "train.log").write_text("loss 1")
    events = list(Course(folder, Measuring.on(None, slope=0.0)).events())
    assert [type(one) for one in events] == [Checkpoint] * 3 + [Skipped]
