"""Training against torch, numpy and arithmetic by hand."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from rankcheck.experiments import training
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.training import Schedule, train

SCHEDULE = Schedule(60, 0.02, warm=10)
SEEDS = (3, 4, 5)


def problem(seeds=SEEDS, dtype=torch.float32, widths=(2, 6, 5, 3)):
    """Networks, points and values that differ from run to run."""
    draws = generators(seeds)
    stack = Stack.random(widths, draws, dtype=dtype)
    x = torch.stack([torch.randn(7, widths[0], generator=draw) for draw in draws]).to(dtype)
    y = torch.stack([torch.randn(7, widths[-1], generator=draw) for draw in draws]).to(dtype)
    return stack, x, lambda out: (out - y).square().mean((1, 2)), y


def rate(step, schedule=SCHEDULE):
    """The learning rate, from the formula in numpy."""
    cosine = 0.5 * (1 + np.cos(np.pi * step / schedule.steps))
    warm = min((step + 1) / max(schedule.warm, 1), 1.0)
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
            cost = sum((p**2).sum() for p in net.parameters())
            (loss + 1e-2 * cost).backward()
            adam.step()
        alone.append((net, [loss.item(), cost.item()]))
    history = train(stack, error, x, 1e-2, SCHEDULE)
    for run, (net, last) in enumerate(alone):
        with torch.no_grad():
            assert torch.allclose(stack(x)[run], net(x[run]), rtol=1e-9, atol=1e-11)
        kept = [float(values[-1, run]) for values in (history.errors, history.costs)]
        assert kept == pytest.approx(last, rel=1e-9)
    assert history.steps[-1] == SCHEDULE.steps - 1


@pytest.mark.parametrize("schedule", [SCHEDULE, Schedule(1, 0.5), Schedule(300, 1e-3, 0, 0.5)])
def test_the_schedule(schedule):
    for step in range(schedule.steps + 1):
        assert schedule.at(step) == pytest.approx(rate(step, schedule))


@pytest.mark.parametrize("at", [0, 59])
def test_a_training_that_diverges_says_where(at):
    stack, x, error, _ = problem()
    count = []

    def bad(out):
        count.append(1)
        return error(out) * (torch.nan if len(count) == at + 1 else 1.0)

    with pytest.raises(FloatingPointError, match=r"diverged by step \d+") as caught:
        train(stack, bad, x, 1e-2, SCHEDULE)
    step = int(str(caught.value).split("step ")[1].split(";")[0])
    assert at + 1 <= step <= at + 51


def test_what_is_reported(monkeypatch):
    monkeypatch.setattr(training, "_STEPS", 25)
    monkeypatch.setattr(training, "_SECONDS", math.inf)
    seen = []
    stack, x, error, _ = problem()
    train(stack, error, x, 1e-2, SCHEDULE, progress=lambda *each: seen.append(each))
    assert [done for done, _ in seen] == [1, 26, 51, 60]
    assert seen[-1][1] == "trained"


def test_small_numbers_are_zeros_in_a_training_alone():
    half = torch.tensor(2.0**-126)
    inside = []

    def progress(done, words):
        inside.append(float(half / 2))

    for before in (False, True):
        torch.set_flush_denormal(before)
        try:
            stack, x, error, _ = problem()
            train(stack, error, x, 1e-2, Schedule(2, 0.1), progress=progress)
            assert (float(half / 2) == 0) == before
        finally:
            torch.set_flush_denormal(False)
    assert inside[0] == 0
