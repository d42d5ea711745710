"""Violations that cannot be proved: which of them stand clear of rounding, and what is told."""

from __future__ import annotations

import pytest

from rankcheck.engine.hunt import hunt


@pytest.mark.slow
def test_the_largest_violation_is_kept_and_made_small(hunted, tmp_path):
    claim = hunted("half-a-percent")
    found = hunt(claim, None, rounds=4, folder=tmp_path, shrink=3.0)
    assert found.verdict == "undecided"
    assert found.certificate is None
    assert -found.margin > 1e-3
    assert "the violation stands clear of it" in found.message
    assert "  typed: " in found.message
    assert found.smallest.clear
    assert found.worst.clear
    assert found.smallest.relative >= found.worst.relative / 2
    assert found.smallest is not found.worst
    size = [float(one.record.tensors[0].abs().sum()) for one in (found.smallest, found.worst)]
    assert size[0] < size[1]


@pytest.mark.slow
def test_a_true_identity_without_a_ball_form_is_never_clear(hunted, tmp_path):
    found = hunt(hunted("equal-without-form"), None, rounds=3, folder=tmp_path)
    assert found.verdict in ("survived", "undecided")
    assert "stands clear" not in found.message
