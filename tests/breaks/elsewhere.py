"""Breaks of what the engine does not go through: regions of networks, and audits."""

from dataclasses import replace

import numpy as np
import torch

from rankcheck.audit.theorems.evaluate import Outcome
from rankcheck.regions import rank, triangulation

from .table import around, noticed


@noticed(
    "regions",
    why="the engine does not go through regions",
    test="regions/test_rank.py::test_rounding_of_the_jacobian_does_not_add_to_its_rank",
)
def the_rounding_error_of_a_jacobian_is_zero(patch):
    patch.setattr(rank, "_rounding", lambda cells: 0.0)


@noticed(
    "regions",
    why="the engine does not go through regions",
    test="regions/test_regions.py::test_more_than_64_constraints",
)
def a_triangulation_has_64_constraints_at_most(patch):
    def first_word(of, tight):
        bits, lower = of(tight)
        return bits & (np.arange(bits.shape[1]) < 64), lower

    around(patch, triangulation, "_unpacked", first_word)


@noticed(
    "audit",
    why="the engine does not go through audits",
    test="audit/test_theorems.py::test_what_fails_comes_before_what_is_close",
)
def a_violated_relation_ranks_as_far_apart(patch):
    closeness = Outcome.closeness.fget
    nothing = lambda self: replace(self, violated=torch.zeros_like(self.violated))  # noqa: E731
    patch.setattr(Outcome, "closeness", property(lambda self: closeness(nothing(self))))
