"""A made-up experiment with its result and its figures."""

from __future__ import annotations

from typing import ClassVar

from rankcheck.experiments.base import Experiment, Finding
from rankcheck.experiments.result import AuditFacts, Result, Run
from rankcheck.report.charts.picture import Picture
from rankcheck.report.panels import Key, panels
from rankcheck.report.svg import Axis, Chart

NAME = "rank.figure-1"


class MadeUp(Experiment):
    """An experiment that trains nothing."""

    name: ClassVar[str] = NAME
    title: ClassVar[str] = "Made-up networks & more"
    place: ClassVar[str] = "Figure 1 of Nowhere"
    question: ClassVar[str] = "Is $\\|\\theta\\|^2$ small?\n\nHad it been false, it were *large*."
    differences: ClassVar[tuple[str, ...]] = ("Nothing is trained.", "The width is $w_1 < 3$.")

    def parts(self, scale, seed):
        return []

    def run(self, part, place):
        return []

    def findings(self, result):
        costs = [run.measured["cost"] for run in result.runs]
        return [
            Finding("the cost $\\|\\theta\\|^2$", "about 2", f"{max(costs):g}", True),
            Finding("the rank_0", "3 | 4", "4 <b>", False, "The widths differ | a lot."),
            Finding("the time", "", "1", None),
        ]


def result(scale="small"):
    """Two runs."""
    audit = AuditFacts(2.0, 1.0, 1, (1, 1), 0.0, {"holds": 3}, ())
    runs = tuple(
        Run("deep", seed, {"depth": 4}, {"error": 0.1, "steps": 5, "cost": 2.0 + seed}, audit)
        for seed in (1, 2)
    )
    versions = {"python": "3.11", "torch": "2.13.0"}
    command = f"rankcheck experiment {NAME} --scale {scale} --seed 0"
    return Result(NAME, scale, 0, command, "cpu", versions, 61.5, "2026-11-22", runs)


def figures(found):
    """Two pictures."""
    out = []
    for name in ("first", "second"):
        chart = Chart(name, "d", Axis(0, 3, "seed"), Axis(0, 5, "cost"), width=310, height=220)
        chart.dots([(run.seed, run.measured["cost"]) for run in found.runs], 1)
        svg = panels([chart, chart], 2, title=name, description="d", keys=[Key("cost", 1, "dot")])
        out.append(Picture(f"made-up-{name}", f"The {name}", f"The *{name}* one, $x^2$.", svg))
    return out
