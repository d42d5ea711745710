"""Which factors and terms of a relation no instance of a sharpening needed.

A right side with a factor too many is weaker than it could be. Or the generator never exercises
what the factor is for: it is a supremum over its instances, and so is this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from rankcheck.claims.claim import Claim
from rankcheck.hunt.arena import Shape
from rankcheck.hunt.points import ShapedSource, StructuredSource
from rankcheck.instances.drivers import ReplaySource
from rankcheck.instances.source import Source
from rankcheck.sharpen.task import Finding
from rankcheck.verification.evaluation import evaluate_instances
from rankcheck.verification.idle import Idle

__all__ = ["needless"]

#: Instances of a shape, and of one for a body that takes no batch; and the number of shapes.
SIZE, SINGLES, SHAPES = 256, 4, 8


def needless(claim: Claim, best: Collection[Finding], seed: int) -> Idle:
    """What the best instances need of the sides, and others of the same shapes."""
    idle = Idle.of(claim)
    for finding in best:
        _add(idle, claim, finding.shape, partial(ReplaySource, finding.record))
    shapes = dict.fromkeys(finding.shape for finding in best)
    for number, shape in enumerate(list(shapes)[:SHAPES]):
        singles = claim.no_batch is not None
        for index in range(SINGLES if singles else 1):
            for kind in (ShapedSource, StructuredSource):
                size = None if singles else SIZE
                make = partial(kind, shape.integers, seed + number + index, size)
                _add(idle, claim, shape, make)
    return idle


def _add(idle: Idle, claim: Claim, shape: Shape, make: Callable[[], Source]) -> None:
    for part in evaluate_instances(claim, shape.of(claim), make).parts:
        idle.add(part)
