"""A cluster of Dask on this machine, for the tests of what runs on one."""

from collections.abc import Iterator
from contextlib import contextmanager

import distributed


@contextmanager
def cluster_of_two() -> Iterator[distributed.Client]:
    """A client of two worker processes."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            silence_logs=50,
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):  # fmt: skip
        yield client
