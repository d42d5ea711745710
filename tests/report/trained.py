"""A made-up experiment with its result and its page."""

from __future__ import annotations

from typing import ClassVar

from rankcheck.experiments.base import Experiment, Finding
from rankcheck.experiments.pages import Drawn, Page
from rankcheck.experiments.result import AuditFacts, Result, Run

NAME = "rank.figure-1"


class MadeUp(Experiment):
    """An experiment that trains nothing."""

    name: ClassVar[str] = NAME
    title: ClassVar[str] = "Made-up networks & more"
    place: ClassVar[str] = "Figure 1 of Nowhere"

    def parts(self, scale, seed):
        return []

    def run(self, part, place):
        return []

    def findings(self, result):
        costs = [run.measured["cost"] for run in result.runs]
        return [
            Finding("the cost $\\|\\theta\\|^2$", "about 2", f"{max(costs):g}", True),
            Finding("the rank_0", "3 | 4", "4 <b>", False),
            Finding("the time", "", "1", None),
        ]


def result(scale="small"):
    """Two runs."""
    audit = AuditFacts(2.0, 1, (1, 1), {"holds": 3}, ())
    runs = tuple(
        Run("deep", seed, {"depth": 4}, {"error": 0.1, "cost": 2.0 + seed}, audit)
        for seed in (1, 2)
    )
    versions = {"python": "3.11", "torch": "2.13.0"}
    command = f"rankcheck experiment {NAME} --scale {scale} --seed 0"
    return Result(NAME, scale, 0, command, "cpu", versions, 61.5, "2026-11-22", runs)


def page(folder):
    """What was written of it, with two figures in a folder."""
    drawn = []
    for name in ("first", "second"):
        path = folder / f"made-up-{name}.svg"
        path.write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
        drawn.append(Drawn(f"The {name}", f"The *{name}* one, $x^2$.", path))
    return Page(
        "Is $\\|\\theta\\|^2$ small?\n\nHad it been false, it were *large*.\n",
        "- The widths differ | a lot.\n",
        "- Nothing is trained.\n- The width is $w_1 < 3$.\n",
        tuple(drawn),
    )
