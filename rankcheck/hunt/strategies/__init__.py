"""The strategies of a hunt: `base` has the interface, `STANDARD` the default ones."""

from __future__ import annotations

from rankcheck.hunt.strategies.base import Strategy
from rankcheck.hunt.strategies.corpus import Corpus
from rankcheck.hunt.strategies.descend import Descend
from rankcheck.hunt.strategies.evolve import Evolve
from rankcheck.hunt.strategies.perturb import Perturb
from rankcheck.hunt.strategies.screen import Screen
from rankcheck.hunt.strategies.survey import Survey

#: In the order in which a hunt meets them.
STANDARD: tuple[Strategy, ...] = (Corpus(), Screen(), Survey(), Descend(), Perturb(), Evolve())

__all__ = ["STANDARD", "Corpus", "Descend", "Evolve", "Perturb", "Screen", "Strategy", "Survey"]
