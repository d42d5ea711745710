"""A Dask cluster as an executor, over SLURM, Kubernetes or plain SSH."""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from rankcheck.hunt.arena import HuntError
from rankcheck.hunt.job import DEATHS, Job, run_within
from rankcheck.hunt.shard import Outcome, Shard

#: Shards on the cluster at one time, for each thread of it: one runs, and one waits for its turn.
#: Clocks of machines differ, so a shard gets the seconds that are left when it is submitted. The
#: shards that wait are few, so that those seconds are right to the duration of a shard.
IN_FLIGHT = 2


class Dask:
    """Runs shards on a Dask cluster. The shards of a lost worker run again on another.

    The workers have rankcheck installed, and the file of the claim under the same path.

    Args:
        cluster: `dask://host:port` of a scheduler, or a `distributed.Client`, which stays open.
        timeout: seconds in which the scheduler has to answer.

    Raises:
        HuntError: if `distributed` is not installed, or no scheduler answers.
    """

    def __init__(self, job: Job, cluster: Any, timeout: float = 10.0) -> None:
        try:
            import distributed
        except ImportError as error:
            raise HuntError(
                "Dask is not installed; a hunt on a cluster needs pip install 'rankcheck[cluster]'"
            ) from error
        self._job = job
        self._token = uuid.uuid4().hex[:12]
        self._owned = isinstance(cluster, str)
        self._distributed = distributed
        if not isinstance(cluster, str):
            self._client = cluster
            return
        try:
            self._client = distributed.Client(
                cluster.replace("dask://", "tcp://", 1), timeout=timeout, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise HuntError(
                f"no scheduler answers at {cluster!r}; a Dask scheduler is dask://host:port"
            ) from error

    def run(self, shards: Sequence[Shard], until: float | None) -> Iterator[tuple[Shard, Outcome]]:
        """As `Executor.run`."""
        waiting = deque(shards)
        running: dict[Any, Shard] = {}
        done = self._distributed.as_completed(loop=self._client.loop)

        def fill() -> None:
            room = max(1, IN_FLIGHT * sum(self._client.nthreads().values()))
            while waiting and len(running) < room:
                shard = waiting.popleft()
                future = self._submit(shard, until)
                running[future] = shard
                done.add(future)

        fill()
        try:
            for future in done:
                shard = running.pop(future)
                try:
                    answer = future.result()
                except Exception as error:
                    raise HuntError(
                        f"shard {shard.key} was lost on the cluster: {type(error).__name__}: "
                        f"{error}"
                    ) from error
                if isinstance(answer, str):
                    raise HuntError(answer)
                fill()
                yield shard, answer
        finally:
            self._client.cancel(list(running))

    def _submit(self, shard: Shard, until: float | None) -> Any:
        return self._client.submit(
            run_within,
            self._job,
            shard,
            None if until is None else until - time.monotonic(),
            key=f"rankcheck-{self._token}-{shard.key}",
            pure=False,
            retries=DEATHS,
        )

    def close(self) -> None:
        """Disconnect from the scheduler, if this executor connected to it."""
        if self._owned:
            self._client.close()
