"""The strategies of a hunt: `base` has the interface, `STANDARD` the default ones."""

from __future__ import annotations

from rankcheck.engine.hunt.strategies.base import Strategy
from rankcheck.engine.hunt.strategies.descend import Descend
from rankcheck.engine.hunt.strategies.evolve import Evolve
from rankcheck.engine.hunt.strategies.perturb import Perturb
from rankcheck.engine.hunt.strategies.samples import Corpus, Screen, Survey

#: In the order in which a hunt meets them.
STANDARD: tuple[Strategy, ...] = (Corpus(), Screen(), Survey(), Descend(), Perturb(), Evolve())

__all__ = ["STANDARD", "Corpus", "Descend", "Evolve", "Perturb", "Screen", "Strategy", "Survey"]
