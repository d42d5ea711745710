"""Networks that are measured one after the other, or several at a time by workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from rankcheck.audit.graph.graph import Graph
from rankcheck.audit.history.measure import Measuring, silent
from rankcheck.audit.history.result import Checkpoint
from rankcheck.audit.model import Model, ModelError
from rankcheck.parallel import Done, Limits, Tell, Told, Unfinished, Work, executor_for

__all__ = ["Waiting", "measure_all"]

#: A network whose worker dies so often is given up.
DEATHS = 2


@dataclass(frozen=True, eq=False)
class Waiting:
    """A network that was read, and waits to be measured.

    Attributes:
        written, place: as for `Measuring.measure`.
    """

    read: Model | Graph
    name: str
    written: float | None = None
    place: str = ""


def measure_all(
    measuring: Measuring, networks: Iterable[Waiting]
) -> Iterator[tuple[Waiting, Checkpoint | str]]:
    """The figures of networks, or why one has none, in their order.

    The executor of `measuring` takes whole networks; networks are taken from their iterable as they
    are handed out. The figures do not depend on it.

    Raises:
        InputError: if there is no such executor, or for all networks alike: a device, a tolerance.
    """
    alone = replace(measuring, executor=None, load=None, progress=silent)
    finished: dict[int, tuple[Waiting, Checkpoint | str]] = {}
    following = 0
    with closing(executor_for(measuring.executor, Work(partial(_prepare, alone)))) as executor:

        def tell(event: object) -> None:
            if isinstance(event, Told):
                measuring.progress(*event.value)

        for end in executor.run(enumerate(networks), Limits(deaths=DEATHS), tell):
            match end:
                case Done((number, network), answer):
                    finished[number] = (network, answer)
                case Unfinished((number, network)):
                    finished[number] = (network, f"its audit {end.why()}")
            while following in finished:
                yield finished.pop(following)
                following += 1


def _prepare(
    measuring: Measuring,
) -> Callable[[tuple[int, Waiting], Tell], Checkpoint | str]:
    """What measures a network with its number in a worker."""

    def measure(task: tuple[int, Waiting], tell: Tell) -> Checkpoint | str:
        _, one = task
        told = replace(measuring, progress=lambda *stage: tell(stage))
        try:
            return told.measure(one.read, one.name, written=one.written, place=one.place)
        except ModelError as error:
            return str(error)

    return measure
