"""Sharpenings on worker processes and on a cluster."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rankcheck.sharpen.run import sharpen
from tests.clusters import cluster_of_two

pytestmark = pytest.mark.nightly


def test_a_cluster_finds_the_same_constant(sharp, tmp_path):
    with cluster_of_two() as client:
        result = sharpen(
            sharp("readme"), budget=None, tasks=6, shrink=0.0, folder=tmp_path, executor=client
        )
    assert result.relations[0].best.attained.low == Fraction(10, 9)
    assert result.refuted
