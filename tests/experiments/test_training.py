"""Training: Adam and the ridge against loops that are written out, and checkpoints to the bit."""

import math

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from rankcheck.experiments import training
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.training import Checkpoint, CheckpointError, Schedule, spent, train

SCHEDULE = Schedule(60, 0.02, warm=10)
SEEDS = (3, 4, 5)


def problem(seeds=SEEDS, dtype=torch.float32, widths=(2, 6, 5, 3)):
    """Networks, points and values that differ from run to run."""
    draws = generators(seeds)
    stack = Stack.random(widths, draws, dtype=dtype)
    x = torch.stack([torch.randn(7, widths[0], generator=draw) for draw in draws]).to(dtype)
    y = torch.stack([torch.randn(7, widths[-1], generator=draw) for draw in draws]).to(dtype)
    return stack, x, lambda out: (out - y).square().mean((1, 2)), y


def trained(checkpoint=None, told=lambda done, words: None, schedule=SCHEDULE, **options):
    stack, x, error, _ = problem(**options)
    history = train(stack, error, x, 1e-2, schedule, checkpoint=checkpoint, told=told)
    return stack, history


def same(one, other):
    """Whether two trainings ended with the same bits."""
    pairs = [*zip(one[0].parameters, other[0].parameters, strict=True)]
    pairs += [(getattr(one[1], name), getattr(other[1], name)) for name in ("errors", "costs")]
    assert one[1].steps.tolist() == other[1].steps.tolist()
    return all(torch.equal(a, b) for a, b in pairs)


def rate(step, schedule=SCHEDULE):
    """The learning rate, from the formula in numpy."""
    cosine = 0.5 * (1 + np.cos(np.pi * step / schedule.steps))
    warm = min((step + 1) / schedule.warm, 1.0)
    return schedule.rate * warm * (schedule.last + (1 - schedule.last) * cosine)


def test_each_run_is_what_torch_trains_alone():
    """Layers of torch.nn, one network at a time, in a plain loop."""
    stack, x, error, y = problem(dtype=torch.float64)
    alone = []
    for run in range(len(SEEDS)):
        layers = []
        for W, b in zip(stack.weights, stack.biases, strict=True):
            layer = nn.Linear(W.shape[-1], W.shape[-2], dtype=torch.float64)
            layer.load_state_dict({"weight": W[run].clone(), "bias": b[run].clone()})
            layers += [layer, nn.ReLU()]
        net = nn.Sequential(*layers[:-1])
        adam = torch.optim.Adam(net.parameters(), foreach=False)
        for step in range(SCHEDULE.steps):
            adam.param_groups[0]["lr"] = rate(step)
            adam.zero_grad()
            loss = nn.functional.mse_loss(net(x[run]), y[run])
            (loss + 1e-2 * sum((p**2).sum() for p in net.parameters())).backward()
            adam.step()
        alone.append((net, loss.item()))
    history = train(stack, error, x, 1e-2, SCHEDULE)
    for run, (net, last) in enumerate(alone):
        with torch.no_grad():
            assert torch.allclose(stack(x)[run], net(x[run]), rtol=1e-9, atol=1e-11)
        assert float(history.errors[-1, run]) == pytest.approx(last, rel=1e-9)
    assert history.steps[-1] == SCHEDULE.steps - 1


def test_a_linear_layer_becomes_the_ridge_regression():
    """The minimum of ‖XW^T − Y‖²/N + λ‖W‖² solves (X^T X/N + λ) W^T = X^T Y/N, by numpy."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 3)), rng.normal(size=(9, 2))
    W = np.linalg.solve(X.T @ X / 9 + 0.3 * np.eye(3), X.T @ Y / 9).T
    stack = Stack([torch.zeros(1, 2, 3, dtype=torch.float64)], [None])
    x, y = torch.tensor(X), torch.tensor(Y)
    history = train(
        stack, lambda out: (out - y).square().sum((1, 2)) / 9, x, 0.3, Schedule(500, 0.05)
    )
    assert stack.weights[0][0].detach().numpy() == pytest.approx(W, abs=1e-6)
    assert float(history.costs[-1]) == pytest.approx((W**2).sum(), rel=1e-6)


def test_the_first_steps_of_adam_by_hand():
    """Adam on a number w with the error (w − 1)² and the ridge w²/2, in plain floats."""
    w, m, v = 3.0, 0.0, 0.0
    for step in range(20):
        g = 2 * (w - 1) + w
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        hat = (m / (1 - 0.9 ** (step + 1))) / (math.sqrt(v / (1 - 0.999 ** (step + 1))) + 1e-8)
        w -= rate(step, Schedule(20, 0.1, warm=4)) * hat
    stack = Stack([torch.full((1, 1, 1), 3.0, dtype=torch.float64)], [None])
    one = torch.ones(1, 1, dtype=torch.float64)
    train(stack, lambda out: (out - 1).square().sum((1, 2)), one, 0.5, Schedule(20, 0.1, warm=4))
    assert float(stack.weights[0].detach()) == pytest.approx(w, rel=1e-12)


@pytest.mark.parametrize("schedule", [SCHEDULE, Schedule(1, 0.5), Schedule(300, 1e-3, 0, 0.5)])
def test_the_schedule(schedule):
    found = [schedule.at(step) for step in range(schedule.steps)]
    assert found == pytest.approx([rate(s, schedule) if schedule.warm else
                                   rate(s, Schedule(300, 1e-3, 1, 0.5))
                                   for s in range(schedule.steps)])  # fmt: skip
    assert schedule.at(schedule.steps) == pytest.approx(
        schedule.rate * schedule.last * min(1, (schedule.steps + 1) / max(schedule.warm, 1))
    )


def test_the_runs_do_not_influence_one_another():
    stack, x, error, _ = problem()
    other, *_ = problem(seeds=(3, 40, 50))

    def heavier(out):
        return error(out) * torch.tensor([1.0, 1e4, 1e-4])

    with torch.no_grad():
        for W in other.weights:
            W[1:] *= 3
    one = train(stack, error, x, 1e-2, SCHEDULE)
    two = train(other, heavier, x, 1e-2, SCHEDULE)
    assert torch.equal(one.errors[:, 0], two.errors[:, 0])
    for p, q in zip(stack.parameters, other.parameters, strict=True):
        assert torch.equal(p[0], q[0])
        assert not torch.equal(p[1], q[1])


class Stop(Exception):
    """The process is told to end."""


def test_an_interrupted_training_ends_with_the_same_bits(tmp_path, monkeypatch):
    """At its first step, in its middle, at its last report; and a checkpoint changes nothing."""
    monkeypatch.setattr(training, "_STEPS", 7)
    plain = trained()
    path = Checkpoint(tmp_path / "c.safetensors", "x", every=0.0)
    seen = []

    def told(done, words):
        seen.append((done, words))
        if done in (1, 8, 29, 57) and done not in stopped:
            stopped.append(done)
            raise Stop

    stopped: list[int] = []
    for _ in range(4):
        with pytest.raises(Stop):
            trained(path, told)
    assert same(plain, trained(path, told))
    assert stopped == [1, 8, 29, 57]
    assert seen[-1] == (60, "trained")
    again = []
    assert same(plain, trained(path, lambda done, words: again.append(done)))
    assert again == [60]  # it was trained before
    assert not same(plain, trained(seeds=(3, 4, 6)))


def test_a_training_that_is_killed_goes_on_from_its_last_checkpoint(tmp_path, monkeypatch):
    """Killed within a step, which leaves half of an update behind."""
    monkeypatch.setattr(training, "_STEPS", 7)
    plain = trained()
    path = Checkpoint(tmp_path / "c.safetensors", "x", every=0.0)
    stack, x, error, _ = problem()
    calls = []

    def dies(out):
        calls.append(1)
        if len(calls) == 33:
            with torch.no_grad():
                stack.weights[0].zero_()
            raise KeyboardInterrupt
        return error(out)

    with pytest.raises(KeyboardInterrupt):
        train(stack, dies, x, 1e-2, SCHEDULE, checkpoint=path)
    with safe_open(path.path, framework="pt") as file:
        assert file.metadata()["step"] == "29"
    assert same(plain, trained(path))


def test_a_checkpoint_is_kept_now_and_then(tmp_path):
    path = Checkpoint(tmp_path / "c.safetensors", "x", every=3600.0)
    there = []
    trained(path, lambda done, words: there.append(path.path.exists()))
    assert there == [False, False, True]


def test_seconds_add_up_over_interruptions(tmp_path, monkeypatch):
    clock = iter(range(0, 10**6, 5))
    monkeypatch.setattr(training.time, "process_time", lambda: float(next(clock)))
    path = Checkpoint(tmp_path / "c.safetensors", "x")
    assert spent(path.path) == 0

    def told(done, words):
        raise Stop

    for total in (5, 10):
        with pytest.raises(Stop):
            trained(path, told)
        assert spent(path.path) == total
    trained(path)
    assert spent(path.path) == 15


def test_no_steps_and_no_checkpoint():
    stack, history = trained(schedule=Schedule(0, 0.1))
    pairs = zip(stack.parameters, problem()[0].parameters, strict=True)
    assert all(torch.equal(*two) for two in pairs)
    assert history.steps.tolist() == []
    assert history.errors.shape == (0, 3)


@pytest.mark.parametrize("at", [0, 1, 58, 59])
def test_a_training_that_diverges_says_where(tmp_path, at):
    """Also within the last steps; the checkpoint before is left alone."""
    stack, x, error, _ = problem()
    count = []
    path = Checkpoint(tmp_path / "c.safetensors", "x", every=0.0)

    def bad(out):
        count.append(1)
        return error(out) * (torch.nan if len(count) == at + 1 else 1.0)

    with pytest.raises(FloatingPointError, match=r"diverged by step \d+; a smaller rate") as caught:
        train(stack, bad, x, 1e-2, SCHEDULE, checkpoint=path)
    step = int(str(caught.value).split("step ")[1].split(";")[0])
    assert at + 1 <= step <= at + 51
    if path.path.exists():
        assert all(bool(torch.isfinite(t).all()) for t in load_file(path.path).values())


def test_small_numbers_are_zeros_in_a_training_alone():
    half = torch.tensor(2.0**-126)
    inside = []

    def told(done, words):
        inside.append(float(half / 2))

    for before in (False, True):
        torch.set_flush_denormal(before)
        try:
            trained(told=told, schedule=Schedule(2, 0.1))
            assert (float(half / 2) == 0) == before
        finally:
            torch.set_flush_denormal(False)
    assert inside[0] == 0


@pytest.fixture
def kept(tmp_path):
    """A checkpoint after thirty steps: the place, its tensors and what it says."""
    path = Checkpoint(tmp_path / "c.safetensors", "mine")

    def told(done, words):
        if done > 1:
            raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_STEPS", 30)
        with pytest.raises(Stop):
            trained(path, told)
    with safe_open(path.path, framework="pt") as file:
        return path, load_file(path.path), dict(file.metadata())


def changed(name, tensors, said):
    """What a stranger may have made of a checkpoint."""
    match name:
        case "another identity":
            said["identity"] = "yours"
        case "no identity":
            del said["identity"]
        case "no step":
            del said["step"]
        case "no number":
            said["step"] = "many"
        case "negative step":
            said["step"] = "-1"
        case "later step":
            said["step"] = "61"
        case "an endless step":
            said["step"] = "9" * 5000
        case "another step":
            said["step"] = "55"
        case "no seconds":
            del said["seconds"]
        case "seconds nan" | "seconds inf" | "seconds -1":
            said["seconds"] = name.split()[1]
        case "a tensor less":
            del tensors["exp_avg_sq.2"]
        case "a history less":
            del tensors["costs"]
        case "another shape":
            tensors["parameter.0"] = tensors["parameter.0"][:2].contiguous()
        case "another type":
            tensors["exp_avg.1"] = tensors["exp_avg.1"].double()
        case "whole errors":
            tensors["errors"] = tensors["errors"].long()
        case "a flat history":
            tensors["errors"] = tensors["errors"].flatten()
        case "other steps":
            tensors["steps"] = tensors["steps"] + 1
        case "nan":
            tensors["parameter.3"][0, 1] = torch.nan
        case "a negative square":
            tensors["exp_avg_sq.0"][0, 0, 0] = -1
    return tensors, summed(tensors, said)


def summed(tensors, said):
    """What it says with the checksum of what it has, so that this is looked at."""
    step = said.get("step", "0")
    return said | {
        "sha256": training._digest(step, {k: tensors[k] for k in tensors if k != "more"})
    }


FAULTS = ["another identity", "no identity", "no step", "no number", "negative step", "later step",
          "an endless step", "another step", "no seconds", "seconds nan", "seconds inf",
          "seconds -1", "a tensor less", "a history less", "another shape", "another type",
          "whole errors", "a flat history", "other steps", "nan", "a negative square"]  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_checkpoint_that_is_not_of_this_training_is_refused(kept, name):
    path, tensors, said = kept
    tensors, said = changed(name, {key: each.clone() for key, each in tensors.items()}, dict(said))
    save_file(tensors, path.path, metadata=said)
    before = path.path.read_bytes()
    with pytest.raises(CheckpointError, match="delete it to begin this training anew") as caught:
        trained(path)
    assert str(path.path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.path.read_bytes() == before


def test_a_finished_checkpoint_of_a_longer_training_is_refused(kept):
    path, *_ = kept
    trained(path)
    with safe_open(path.path, framework="pt") as file:
        said = dict(file.metadata())
    tensors = load_file(path.path)
    save_file(tensors, path.path, metadata=summed(tensors, said | {"step": "61"}))
    with pytest.raises(CheckpointError, match="it is of step 61 of 60"):
        trained(path)


def test_what_was_not_changed_is_taken(kept):
    """The cases above are refused for their fault alone."""
    path, tensors, said = kept
    save_file({**tensors, "more": torch.ones(1)}, path.path, metadata=summed(tensors, said))
    assert same(trained(), trained(path))


def test_a_bit_that_flips_is_noticed(kept):
    path, *_ = kept
    whole = path.path.read_bytes()
    for place in range(-1, -len(whole) // 2, -97):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.path.write_bytes(bytes(flipped))
        with pytest.raises(CheckpointError, match="delete it to begin this training anew"):
            trained(path)
    path.path.write_bytes(whole)
    assert same(trained(), trained(path))


@pytest.mark.parametrize("content", [b"", b"\0" * 4, b"\xff" * 8, b"{}", b"PK\x03\x04 pickled"])
def test_what_is_no_checkpoint_is_refused(tmp_path, content):
    path = Checkpoint(tmp_path / "c.safetensors", "mine")
    path.path.write_bytes(content)
    with pytest.raises(CheckpointError, match="cannot be read"):
        trained(path)
    assert path.path.read_bytes() == content
    assert spent(path.path) == 0


@pytest.mark.parametrize("share", [0.02, 0.3, 0.999])
def test_a_checkpoint_that_is_cut_off_is_refused(kept, share):
    path, *_ = kept
    whole = path.path.read_bytes()
    path.path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(CheckpointError, match="cannot be read"):
        trained(path)


def test_a_folder_in_the_place_of_a_checkpoint(tmp_path):
    path = Checkpoint(tmp_path, "mine")
    with pytest.raises(CheckpointError, match="cannot be read"):
        trained(path)
