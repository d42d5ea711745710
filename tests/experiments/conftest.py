"""A made-up experiment: coins are thrown, and nothing is trained."""

import sys
import types

import pytest

from rankcheck import files
from rankcheck.experiments import known, records
from rankcheck.experiments.experiment import Experiment, Part
from rankcheck.experiments.result import AuditFacts, Run
from rankcheck.experiments.run import run_experiment

NAME = "t.coins"


class Coins(Experiment):
    """Of each part, runs whose `heads` is 1 for a number of them, by the seed of the experiment.

    Attributes:
        heads: by seed of the experiment, how many of the 5 fair coins show heads; else all.
        made: the parts that were made, in order.
    """

    name = NAME
    title = "Coins"
    place = "nowhere"
    question = "none"
    differences = ()

    def __init__(self):
        self.heads = {}
        self.sides = 2
        self.failing = ()
        self.made = []

    def parts(self, scale, seed):
        seeds = tuple(range(100 * seed, 100 * seed + 5))
        return [
            Part("fair", {"fair": True, "sides": self.sides, "third": 1 / 3}, seeds),
            Part("bent", {"fair": False, "sides": self.sides, "third": 1 / 3}, seeds),
        ]

    def run(self, part, place):
        place.told(0.5, "thrown")
        self.made.append(part.name)
        heads = self.heads.get(part.seeds[0] // 100, 5) if part.settings["fair"] else 0
        facts = AuditFacts(1.0, 1.0, 1, (1,), 0.0, {"holds": 1}, self.failing, {})
        return [
            Run(
                part.name,
                seed,
                part.settings,
                {"heads": int(number < heads), "height": seed / 7},
                facts,
            )
            for number, seed in enumerate(part.seeds)
        ]

    def findings(self, result):
        return ()


@pytest.fixture
def record(monkeypatch, tmp_path):
    """`record()` makes and stores the record of `t.coins`; returns its path."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    monkeypatch.setattr(records, "RECORDED", folder)
    monkeypatch.setattr("rankcheck.experiments.claims.RECORDED", folder)

    def make():
        path = folder / f"{NAME}.json"
        files.write_json(path, run_experiment(NAME, "small").to_json())
        records.recorded.cache_clear()
        return path

    yield make
    records.recorded.cache_clear()


@pytest.fixture
def coins(monkeypatch, record):
    """The experiment, with its record."""
    module = types.ModuleType("rankcheck.experiments.t_coins")
    module.EXPERIMENT = made = Coins()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(known._MODULES, NAME, "t_coins")
    record()
    made.made.clear()
    return made
