"""A small experiment for the tests of all that runs experiments; some kinds of it go wrong.

A module of its own, because worker processes import it.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import torch

from rankcheck.errors import InputError
from rankcheck.experiments.audited import keep_network
from rankcheck.experiments.base import Experiment, Finding, Part, Place
from rankcheck.experiments.result import AuditFacts, Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.training import Schedule

NAME = "toy.line"
#: Steps of a training by scale.
STEPS = {"tiny": 8, "small": 400, "paper": 100_000}


class Toy(Experiment):
    """Networks that learn the negative of a point; `fault` is what goes wrong in part `b`."""

    name = NAME
    title = "Networks learn $x \\mapsto -x$"
    place = "nowhere in print"
    pilots = 0

    def __init__(self, fault: str = "") -> None:
        self.fault = fault

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
        target = -x * (torch.inf if fault == "diverge" else 1)

        def error(y):
            return (y - target).square().mean((1, 2))

        schedule = Schedule(part.settings["steps"], part.settings["rate"], warm=3)
        history = place.train(stack, error, x, 1e-3, schedule)
        runs = []
        for number, seed in enumerate(part.seeds):
            net = stack.network(number)
            keep_network(place, part, seed, net)
            last = float("nan" if fault == "nan" else history.errors[-1, number])
            measured: dict[str, object] = {"error": last, "cost": float(net.cost())}
            if fault == "tensor":
                measured["tensor"] = net.cost()
            audit = facts(failing=("rank.sandwich",)) if fault == "theorem" else None
            runs.append(Run(part.name, seed, part.settings, measured, audit))
        return runs[: 1 if fault == "too few" else 2]

    def go_wrong(self, fault: str) -> None:
        match fault:
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "memory":
                raise MemoryError
            case "input":
                raise InputError("the input is odd; it is even")
            case "interrupt":
                raise KeyboardInterrupt

    def findings(self, result: Result):
        worst = max(run.measured["error"] for run in result.runs)
        return [
            Finding("largest error of the networks", "about $0$", f"{worst:.3g}", worst < 0.1),
            Finding("number of networks", "", str(len(result.runs)), None),
        ]


def facts(**values) -> AuditFacts:
    """The audit of a network."""
    usual = AuditFacts(4.0, 2, (2, 2), {"holds": 3, "not applicable": 1}, ())
    return replace(usual, **values)


def changed(run, audit=None, **measured):
    """A run with other measurements, and with others in its audit."""
    facts = replace(run.audit, **audit or {})
    return replace(run, measured={**run.measured, **measured}, audit=facts)


EXPERIMENT = Toy()
