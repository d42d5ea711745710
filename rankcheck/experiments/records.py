"""The recorded results of scale `small`, which claims evaluate and figures show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from rankcheck.errors import InstallationError
from rankcheck.experiments.result import Result
from rankcheck.stored import StoredError, read_json

__all__ = ["RECORDED", "current", "recorded", "using"]

#: The folder of the records, files `NAME.json`.
RECORDED = Path(__file__).parent / "recorded"
_instead: dict[str, Result] = {}


@cache
def recorded(name: str) -> Result:
    """The recorded result of an experiment.

    Raises:
        InstallationError: if there is none, or it cannot be read.
    """
    path = RECORDED / f"{name}.json"
    try:
        result = Result.of_json(read_json(path))
    except (OSError, StoredError) as error:
        raise InstallationError(f"the recorded result {path} cannot be read: {error}") from error
    if result.experiment != name:
        raise InstallationError(
            f"the recorded result {path} is of {result.experiment!r}; a record is named after its "
            "experiment"
        )
    return result


def current(name: str) -> Result:
    """The result that claims evaluate: the recorded one, or that of an enclosing `using`."""
    return _instead.get(name) or recorded(name)


@contextmanager
def using(result: Result) -> Iterator[None]:
    """Inside, claims evaluate this result in place of the recorded one."""
    before = _instead.get(result.experiment)
    _instead[result.experiment] = result
    try:
        yield
    finally:
        if before is None:
            del _instead[result.experiment]
        else:
            _instead[result.experiment] = before
