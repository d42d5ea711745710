"""A made-up experiment: coins are thrown, and nothing is trained."""

import sys
import types

from rankcheck.experiments import known, recording, records
from rankcheck.experiments.base import Experiment, Part
from rankcheck.experiments.result import AuditFacts, Run
from rankcheck.experiments.run import run_experiment

NAME = "t.coins"
_MODULE = "rankcheck.experiments.t_coins"


class Coins(Experiment):
    """Five fair coins and five bent ones; the bent ones show tails.

    Attributes:
        heads: by seed of the experiment, 1 for the record and 0 for the pilot, how many of the
            fair coins show heads; else all.
        sides: a setting.
        failing: the theorems that audits say to fail.
        error: raised in place of the first part.
        made: the parts that were made, in order.
    """

    name = NAME
    title = "Coins"
    place = "nowhere"

    def __init__(self):
        self.heads = {}
        self.sides = 2
        self.failing = ()
        self.error = None
        self.made = []

    def parts(self, scale, seed):
        seeds = tuple(range(100 * seed, 100 * seed + 5))
        return [
            Part("fair", {"fair": True, "sides": self.sides, "third": 1 / 3}, seeds),
            Part("bent", {"fair": False, "sides": self.sides, "third": 1 / 3}, seeds),
        ]

    def run(self, part, place):
        if self.error is not None:
            raise self.error
        place.progress(0.5, "thrown")
        self.made.append(part.name)
        heads = self.heads.get(part.seeds[0] // 100, 5) if part.settings["fair"] else 0
        facts = AuditFacts(1.0, 1, (1,), {"holds": 1}, self.failing)
        measured = [
            {"heads": int(number < heads), "height": seed / 7}
            for number, seed in enumerate(part.seeds)
        ]
        return [
            Run(part.name, seed, part.settings, found, facts)
            for seed, found in zip(part.seeds, measured, strict=True)
        ]

    def findings(self, result):
        return ()


def install(folder, patch):
    """Make the experiment known, with its records in a folder.

    Args:
        patch: `patch(thing, name, value)` sets an attribute.
    """
    module = types.ModuleType(_MODULE)
    module.EXPERIMENT = Coins()
    sys.modules[_MODULE] = module
    patch(known, "_MODULES", {**known._MODULES, NAME: _MODULE})
    for room in (records, recording):
        patch(room, "RECORDED", folder)
    return module.EXPERIMENT


def write_record(folder):
    """Make the record; returns its path."""
    path = folder / f"{NAME}.json"
    path.write_text(run_experiment(NAME, "small", seed=1).to_text(), encoding="utf-8")
    records.recorded.cache_clear()
    return path
