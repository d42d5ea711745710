"""Breaks of what the engine does not go through: regions of networks, and audits."""

from dataclasses import replace

import numpy as np
import torch

from rankcheck.audit.theorems.evaluate import Outcome
from rankcheck.theory.regions import rank, triangulation

from .table import Break, around, around_property, put


def first_word(unpacked, tight):
    bits, lower = unpacked(tight)
    return bits & (np.arange(bits.shape[1]) < 64), lower


def where_nothing_is_violated(closeness, self):
    return closeness(replace(self, violated=torch.zeros_like(self.violated)))


BREAKS = (
    Break("regions", "the rounding error of a jacobian is zero",
          "theory/regions/test_rank.py::test_rounding_of_the_jacobian_does_not_add_to_its_rank",
          put(rank, "_rounding", lambda cells: 0.0)),
    Break("regions", "a triangulation has 64 constraints at most",
          "theory/regions/test_regions.py::test_more_than_64_constraints",
          around(triangulation, "_unpacked", first_word)),
    Break("audit", "a violated relation ranks as far apart",
          "audit/test_theorems.py::test_what_fails_comes_before_what_is_close",
          around_property(Outcome, "closeness", where_nothing_is_violated)),
)  # fmt: skip
