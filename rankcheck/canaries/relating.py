"""Canaries of relations: of several the last one, of several entries one, and between what numbers.

They belong to the stages of a search that look at relations, in floats and on balls.
"""

from __future__ import annotations

from typing import Any

import torch

from rankcheck.canaries.known import known, numbers
from rankcheck.claims.disjunctions import any_of
from rankcheck.claims.relations import LARGEST, Relation, eq, leq
from rankcheck.scalars import constant

__all__ = ["CANARIES"]


def _one_of_many(x: Any) -> tuple[Relation, Relation]:
    """False in the last entry of the last relation."""
    return leq(x, x), leq(torch.stack([x, x, 1.02 * x], -1), torch.stack([x, x, x], -1))


def _either(x: Any) -> Relation:
    return any_of(leq(1.02 * x, x), leq(x, 1.02 * x))


def _largest_integers(x: Any) -> Relation:
    """Their difference is larger than a tensor can hold."""
    return leq((x > 0).long() * LARGEST, -2)


def _bands(x: Any) -> Relation:
    return leq(1.02 * x, x, error=constant(torch.inf, x) if isinstance(x, torch.Tensor) else None)


CANARIES = (
    known("relations", "false in one entry of one relation", _one_of_many, "refuted"),
    known("relations", "an identity with a smaller left side", lambda x: eq(x, 1.02 * x),
          "refuted"),
    known("relations", "one part of a disjunction", _either, "holds", numbers()),
    known("relations", "integers far apart", _largest_integers, "refuted"),
    known("relations", "a tolerance without end", _bands, "refuted"),
)  # fmt: skip
