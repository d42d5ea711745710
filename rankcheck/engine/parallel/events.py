"""What happens to tasks, as their caller hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

#: Sends a value to the parent while a task runs.
Tell: TypeAlias = Callable[[Any], None]
#: Runs once in each worker and returns the function that runs a task there. It has to be picklable.
#: An exception that this function raises ends the worker with exit code 1.
Prepare: TypeAlias = Callable[[], Callable[[Any, Tell], Any]]

Task = TypeVar("Task")


@dataclass(frozen=True)
class Started(Generic[Task]):
    """A worker has taken a task."""

    task: Task


@dataclass(frozen=True)
class Told(Generic[Task]):
    """A task that runs has sent a value."""

    task: Task
    value: Any


@dataclass(frozen=True)
class Done(Generic[Task]):
    """A task has returned an answer."""

    task: Task
    answer: Any


@dataclass(frozen=True)
class Died(Generic[Task]):
    """A worker process ended during a task; `how` names its exit code or its signal."""

    task: Task
    how: str


@dataclass(frozen=True)
class Overran(Generic[Task]):
    """A task did not end within its limit, and its process was stopped.

    Attributes:
        trace: where it was, as `faulthandler` writes it; empty where that is not known.
    """

    task: Task
    seconds: float
    trace: str


@dataclass(frozen=True)
class Lost:
    """A worker process ended and took no task with it; `how` says when and how."""

    how: str


Event: TypeAlias = Started[Task] | Told[Task] | Done[Task] | Died[Task] | Overran[Task] | Lost
