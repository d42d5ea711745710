"""A small experiment for the tests of all that runs experiments; some kinds of it go wrong.

A module of its own, because worker processes import it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from rankcheck.errors import InputError
from rankcheck.experiments import known
from rankcheck.experiments.audited import keep_network
from rankcheck.experiments.base import Experiment, Finding, Part, Place
from rankcheck.experiments.result import AuditFacts, Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.training import Schedule, train

NAME = "toy.line"
#: Steps of a training by scale.
STEPS = {"tiny": 8, "small": 400, "paper": 100_000}


class Toy(Experiment):
    """Networks that learn the negative of a point, in two trainings one after the other.

    Args:
        fault: what goes wrong in part `b`.
        every: seconds between two checkpoints.
        flag: a file that a fault makes, or waits for.
    """

    name = NAME
    title = "Networks learn $x \\mapsto -x$"
    place = "nowhere in print"
    question = "Can a line be learnt? If not, the error would stay at 1.\n\nA second paragraph."
    differences = ("There is no document.",)

    def __init__(self, fault: str = "", every: float = 20.0, flag: str = "flag") -> None:
        self.fault, self.every, self.flag = fault, every, flag

    def parts(self, scale, seed):
        return [
            Part(
                name,
                {"width": width, "steps": STEPS[scale], "rate": 0.02},
                (1000 * seed + 10 * width, 1000 * seed + 10 * width + 1),
            )
            for name, width in (("a", 3), ("b", 4), ("c", 5))
        ]

    def run(self, part: Part, place: Place):
        fault = self.fault if part.name == "b" else ""
        self.go_wrong(fault)
        draws = generators(part.seeds)
        x = torch.stack([torch.randn(8, 2, generator=draw) for draw in draws])
        stack = Stack.random((2, part.settings["width"], 2), draws)
        rate, steps = part.settings["rate"], part.settings["steps"]
        target = -x * (torch.inf if fault == "diverge" else 1)

        def error(y):
            return (y - target).square().mean((1, 2))

        def go(stage: str, begin: float, end: float):
            checkpoint = place.checkpoint(part, stage)
            if checkpoint is not None:
                checkpoint = replace(checkpoint, every=self.every)
            told = place.steps(steps, begin, end)
            schedule = Schedule(steps, rate, warm=3)
            return train(stack, error, x, 1e-3, schedule, checkpoint=checkpoint, told=told)

        first = go("first", 0.0, 0.4)
        if fault == "die later" and not Path(self.flag).exists():
            Path(self.flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        second = go("", 0.4, 1.0)
        runs = []
        for number, seed in enumerate(part.seeds):
            net = stack.network(number)
            keep_network(place, part, seed, net)
            measured = {
                "error": float("nan" if fault == "nan" else second.errors[-1, number]),
                "first": float(first.errors[-1, number]),
                "steps": steps,
                "cost": float(net.cost()),
            }
            if fault == "tensor":
                measured["tensor"] = net.cost()
            audit = facts(failing=("rank.sandwich",)) if fault == "theorem" else None
            runs.append(Run(part.name, seed, part.settings, measured, audit))
        return runs[: 1 if fault == "too few" else 2]

    def go_wrong(self, fault: str) -> None:
        match fault:
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "terminate" if not Path(self.flag).exists():
                Path(self.flag).touch()
                os.kill(os.getpid(), signal.SIGTERM)
            case "memory":
                raise MemoryError
            case "key":
                raise KeyError("lost")
            case "input":
                raise InputError("the input is odd; it is even")
            case "interrupt":
                raise KeyboardInterrupt
            case "wait":
                Path(self.flag).touch()
                time.sleep(600)

    def findings(self, result: Result):
        worst = max(run.measured["error"] for run in result.runs)
        return [
            Finding("largest error of the networks", "about $0$", f"{worst:.3g}", worst < 0.1),
            Finding("number of networks", "not said", str(len(result.runs)), None, "A note."),
        ]


def facts(**values) -> AuditFacts:
    """The audit of a network."""
    usual = AuditFacts(4.0, 2.0, 2, (2, 2), 0.5, {"holds": 3, "not applicable": 1}, ())
    return replace(usual, **values)


EXPERIMENT = Toy()


def register() -> None:
    """Make the experiment known to this process, under its name."""
    known._MODULES[NAME] = __name__


if __name__ == "__main__":  # `python -m tests.experiments.toy EVERY ARGUMENTS...`: the command
    from rankcheck.commands.cli import main
    from tests.experiments import toy

    toy.register()
    toy.EXPERIMENT = Toy(every=float(sys.argv[1]))
    sys.exit(main(["experiment", NAME, *sys.argv[2:]]))
