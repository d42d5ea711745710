"""Piecewise linear functions as sums of maxima of affine functions."""

from __future__ import annotations

import torch

from rankcheck.theory.instances.source import Source
from rankcheck.theory.witnesses.piecewise_linear import MaxForm


def max_form(source: Source, n: int, *, outputs: int = 1, terms: int, pieces: int) -> MaxForm:
    """Σ_j s_j max of `pieces` affine functions of n variables, s_j = ±1 for each output."""
    gradients = source.tensor(terms, pieces, n, low=-4.0, high=4.0)
    offsets = source.tensor(terms, pieces, low=-4.0, high=4.0)
    signs = torch.tensor(
        [[source.choice((1.0, -1.0)) for _ in range(terms)] for _ in range(outputs)],
        dtype=torch.float64,
    )
    return MaxForm(gradients, offsets, gradients.new_ones((outputs, terms)) * signs)
