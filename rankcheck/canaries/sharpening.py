"""Canaries of sharpenings: a supremum that is known is reached, and no float is believed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import torch

from rankcheck.canaries.canary import Canary
from rankcheck.canaries.known import declare, numbers
from rankcheck.claims.claim import Body
from rankcheck.claims.relations import Relation, leq
from rankcheck.instances.source import Instances, Source, instances
from rankcheck.sharpen.run import sharpen

__all__ = ["CANARIES"]

#: Of a supremum that no grid has, this share is missed at most.
MISSED = Fraction(1, 10**13)


@instances
def _vectors(source: Source) -> Any:
    return source.tensor(4)


def _peak(x: Any) -> Relation:
    """The ratio is largest at one point, whose coordinates are no simple numbers."""
    place = torch.tensor([0.3, -1.7, 2.9, -0.1], dtype=torch.float64)
    return leq(torch.ones_like(x[..., 0]), 2 + (x - place).square().sum(-1))


def _false_by_a_ninth(x: Any) -> Relation:
    return leq(x, 0.9 * x.abs())


def _artefact(x: Any) -> Relation:
    """Both sides are equal; in floats the right one is off by up to 2."""
    return leq(x, (2.0**54 + x) - 2.0**54)


def _reaches(
    body: Body,
    right: Callable[[Fraction], bool],
    what: str,
    folder: Path,
    family: Instances = numbers(low=1.0, high=8.0),  # noqa: B008 -- it does not change
) -> str | None:
    """What is wrong with the largest ratio that a few tasks prove."""
    claim = declare("sharpened", body, family, folder)
    result = sharpen(claim, budget=None, tasks=2, shrink=0.0, folder=folder)
    (relation,) = result.relations
    if relation.best is None:
        return f"no ratio is proved: {relation.why}"
    if not right(relation.best.attained.low):
        return f"the largest ratio is {relation.best.attained.text(17)}, and has to be {what}"
    return None


CANARIES = (
    Canary("a supremum at the end of an ascent", "sharpening",
           partial(_reaches, _peak, lambda low: Fraction(1, 2) * (1 - MISSED) <= low,
                   "1/2, but for 10⁻¹³ of it", family=_vectors())),
    Canary("false by a ninth of the right side", "sharpening",
           partial(_reaches, _false_by_a_ninth, lambda low: low == Fraction(10, 9), "10/9")),
    Canary("a ratio that only floats have", "sharpening",
           partial(_reaches, _artefact, lambda low: low == 1, "1")),
)  # fmt: skip
