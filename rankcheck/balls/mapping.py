"""What is noticed of a body while `torch.func.vmap` maps it over a batch of instances.

The values of an instance cannot be read then. So `widths` notes here, as a tensor, where integers
may have wrapped, and any function of torch that raises: a body that catches what it raises has
taken another way than it takes for an instance alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import torch

from rankcheck.balls.constants import line_in

#: What makes a Python value of a tensor without being called by its name.
READS = {
    "__bool__": "a branch on a value",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "an index that is a value",
    "__array__": "an array of numpy",
    "__setitem__": "a write into a tensor that the instances share",
    "__getitem__": "a choice of entries by value",
    "__contains__": "a branch on a value",
    "__repr__": "a text of values",
    "__str__": "a text of values",
    "__format__": "a text of values",
}


@dataclass
class Mapping:
    """What was noticed.

    Attributes:
        file: that of the claim, whose lines are named.
        wrapped: whether integers have wrapped, for an instance; None if nothing was looked at.
        stopped: the first function that raised, and in which line, such as ".item() in line 12".
        error: what it raised.
        level: of the map; maps and derivatives inside of it have higher ones.
    """

    file: str
    wrapped: torch.Tensor | None = None
    stopped: str = ""
    error: Exception | None = None
    level: int = field(default_factory=lambda: torch._C._functorch.maybe_current_level() or 0)

    def wrap(self, condition: torch.Tensor) -> None:
        """Note where integers wrap."""
        found = condition.any()
        if torch._C._functorch.maybe_get_level(found) > self.level:
            self.stop("a map of integers inside of the map")
            return
        self.wrapped = found if self.wrapped is None else self.wrapped | found

    def stop(self, name: str, error: Exception | None = None) -> None:
        """Note that the instances have to run one at a time, because of a function of torch."""
        if not self.stopped:
            line = line_in(self.file)
            called = f".{name}()" if hasattr(torch.Tensor, name) else name
            said = READS.get(name, "a value" if name.startswith("__") else called)
            self.stopped = said if line is None else f"{said} in line {line}"
            self.error = error


_current: ContextVar[Mapping | None] = ContextVar("mapping", default=None)


@contextmanager
def mapping(file: str) -> Iterator[Mapping]:
    """Notice what happens inside the ``with`` block, which runs inside of a map."""
    noticed = Mapping(file)
    token = _current.set(noticed)
    try:
        yield noticed
    finally:
        _current.reset(token)


def mapped() -> Mapping | None:
    """The innermost ``with`` block of `mapping`; None where values can be read."""
    return _current.get()
