r"""A claim at one discrete shape, where a search maximises ratios in place of breaking relations.

The strategies of a hunt minimise the distance $\log(\text{rhs} / \text{lhs})$ of a relation from
failing. With the right side multiplied by a large constant no relation fails, and the same
strategies maximise lhs / rhs, above 1 as well as below. What they find is a float: it ranks
instances, and nobody sees it before balls have confirmed it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.engine.counterexamples.instance import by_instance
from rankcheck.engine.hunt.arena import Arena
from rankcheck.engine.hunt.margins import Margins
from rankcheck.engine.hunt.sample import Sample
from rankcheck.engine.verification.evaluation import Part
from rankcheck.errors import InputError

#: What the right sides are multiplied by. A larger ratio counts as one without bound.
ROOM = 2.0**64
#: The ratio, in floats, of a bound that fails where its right side is not positive.
INFINITE = 2.0**62
#: So many tolerances are added to a right side, so that no ratio is made by its rounding error.
NOISE = 2.0


class NoRatioError(InputError):
    """A claim that returns no relation with a ratio or a deviation."""


class Gauge(Arena):
    """An arena whose margins are those of relations that cannot fail.

    Attributes:
        names: of the relations that are measured, in the order of the rows of the margins.
        chosen: the names of the relations to measure; None for all of them.
        asserted, measured: by relation, on how many instances it was asserted, and had a ratio.
    """

    def __init__(self, *args: Any, chosen: Sequence[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.names: tuple[str, ...] = ()
        self.chosen = chosen
        self._rooms: list[bool] = []
        self.asserted: Counter[str] = Counter()
        self.measured: Counter[str] = Counter()

    def sure(self, measured: Margins) -> bool:
        """Nothing is violated, so that no search ends early."""
        return False

    def offer(self, sample: Sample) -> int:
        """Nothing is violated, so that nothing is kept."""
        return 0

    def ratios(self, sample: Sample) -> torch.Tensor:
        """The logarithms of the ratios in floats, or deviations; -inf without one: shape (R, B)."""
        inside = sample.margins.valid & sample.margins.distance.isfinite()
        height = torch.where(inside, -sample.margins.distance.detach(), -torch.inf)
        bound = torch.tensor(self._rooms).reshape(-1, 1)
        return torch.where(bound, height + math.log(ROOM), height).cpu()

    def _margins(self, part: Part, lost: Counter[str]) -> Margins:
        relations, valid = part.relations, part.valid
        kept = {
            name: relation
            for number, relation in enumerate(relations)
            if (name := relation_name(relation.label, number)) in (self.chosen or (name,))
        }
        if not kept:
            names = [relation_name(one.label, number) for number, one in enumerate(relations)]
            raise NoRatioError(
                f"{self.claim.id} has no ratio at the shape {self.shape.integers}: "
                f"{', '.join(names)} is none that is measured"
            )
        self.names = tuple(kept)
        self._rooms = [SIGNS[relation.kind].bound for relation in kept.values()]
        with_room = [_with_room(relation) for relation in kept.values()]
        for name, before, after in zip(kept, kept.values(), with_room, strict=True):
            for counter, one in ((self.asserted, before), (self.measured, after)):
                inside = by_instance(one.asserted).any(1) & valid
                counter[name] += int(inside.sum())
        measured = super()._margins(replace(part, relations=tuple(with_room)), lost)
        nothing = torch.full_like(measured.beyond, -torch.inf)
        return replace(measured, steady=measured.distance, beyond=nothing, absolute=nothing)


def _with_room(relation: Relation) -> Relation:
    """A bound with a right side that is too large to fail; an identity with rounding as equality.

    A bound is asserted where its right side is positive, beyond rounding, and where it fails
    although its right side is not positive: the ratio is then `INFINITE`.
    """
    noise = NOISE * relation.tolerance.detach().double()
    lhs, rhs = relation.lhs.double(), relation.rhs.double()
    if not SIGNS[relation.kind].bound:
        equal = relation.excess.detach() <= noise
        return replace(relation, lhs=torch.where(equal, rhs, lhs), rhs=rhs, scale=None)
    positive = rhs > noise
    broken = relation.violated() & ~positive
    return replace(
        relation,
        lhs=torch.where(broken, INFINITE, lhs),
        rhs=torch.where(broken, ROOM, (rhs + noise) * ROOM),
        where=relation.asserted & (positive & noise.isfinite() | broken),
        scale=None,
        error=None,
        integers=(None, None),
    )
