"""Which discrete shape a source draws, where only that is wanted."""

from __future__ import annotations

from rankcheck.claims.claim import Claim
from rankcheck.engine.hunt.arena import Family, Shape, generated
from rankcheck.theory.instances.source import Rejected, Source


def drawn_shape(claim: Claim, family: Family, source: Source) -> Shape | None:
    """The shape that a family of a claim draws from a source; None where it rejects the instance.

    Raises:
        BodyError: if the generator raises.
    """
    try:
        generated(claim, Shape(family, ()), source)
    except Rejected:
        return None
    return Shape(family, source.record.integers)
