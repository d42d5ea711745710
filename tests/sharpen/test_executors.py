"""Sharpenings on worker processes and on a cluster."""

from __future__ import annotations

from fractions import Fraction

import distributed
import pytest

from rankcheck.sharpen.run import sharpen

pytestmark = pytest.mark.nightly


def test_a_cluster_finds_the_same_constant(sharp, tmp_path):
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            silence_logs=50,
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):  # fmt: skip
        result = sharpen(
            sharp("readme"), budget=None, tasks=6, shrink=0.0, folder=tmp_path, executor=client
        )
    assert result.relations[0].best.attained.low == Fraction(10, 9)
    assert result.refuted
