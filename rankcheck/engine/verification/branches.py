"""Finds the lines of a claim at which a value that was drawn becomes a Python value.

`if (A > 0).all():` takes one way for all instances of a batch, and another for one of them alone:
the body then says something else than its text. What is drawn is marked, so is whatever torch
computes from it, and a mark that reaches a truth value, a number, a list or an array of numpy in
the code of the claim is an error, whatever the value is. Up to that line the way through the code
depends on the shape alone, so one evaluation at a shape finds every such line at it.

Branches on shapes, on what was made of constants, and in the functions of rankcheck are none of
these. What passes through numpy in a function of rankcheck, or through `torch.func`, loses its
mark.
"""

from __future__ import annotations

import linecache
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from rankcheck.balls import widths
from rankcheck.claims.catalogue.loader import PROJECT_PACKAGE
from rankcheck.claims.claim import Claim
from rankcheck.errors import InputError
from rankcheck.files import shown_path
from rankcheck.theory.instances.drivers import ReplaySource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Instances, Source

#: What makes a Python value of the entries of a tensor, by the name of the function of torch.
READERS = {
    "__bool__": "takes the truth value",
    "is_nonzero": "takes the truth value",
    "equal": "takes the truth value of a comparison",
    "allclose": "takes the truth value of a comparison",
    "__contains__": "takes the truth value of a comparison",
    "item": "makes a Python number",
    "__float__": "makes a Python number",
    "__int__": "makes a Python number",
    "__index__": "makes a Python number",
    "__complex__": "makes a Python number",
    "tolist": "makes a list",
    "numpy": "makes an array of numpy",
    "__array__": "makes an array of numpy",
    "__dlpack__": "makes an array of another library",
}
#: What returns a number of entries that depends on the values; so does `where` with a condition
#: alone, and a mask as an index.
SELECTING = frozenset(
    {"nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "unique_dim"}
    | {"bincount", "arange"}
)
#: What asks for that number; `unbind` is how Python iterates.
COUNTING = frozenset(("__len__", "size", "numel", "nelement", "unbind"))
#: What takes the shape, the type or the device of its first argument, and not its values; and of
#: its others.
LIKE_FIRST = frozenset(
    {"zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like"}
    | {"new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"}
)
LIKE_OTHERS = frozenset(("to", "type_as", "expand_as", "view_as", "reshape_as"))
#: What a tensor is asked most often, and what tells nothing of its values.
FORMS = frozenset(
    getattr(torch.Tensor, name).__get__ for name in ("shape", "ndim", "dtype", "device")
)
#: What writes into its first argument and returns nothing.
WRITES = frozenset(("__setitem__", "__set__"))
#: Code that is looked through: the line that calls it is named.
LIBRARIES = sys.stdlib_module_names | {"torch", "numpy", "scipy"}


class BatchError(InputError):
    """A claim that means something else for a batch than for an instance: where, and what."""


def check_branches(
    claim: Claim,
    family: Instances,
    record: Record,
    batch: tuple[int, ...],
    known: set[tuple[object, ...]],
) -> None:
    """Check that the code of a claim makes no Python value of what is drawn, at one shape.

    A claim with `no_batch` is evaluated one instance at a time, and may.

    Args:
        record: instances of the shape, as far as they were drawn.
        batch: their batch axes.
        known: the shapes that were checked before, which are left out; this one is added once it
            has been gone through to the end.

    Raises:
        BatchError: if it does: the line, what it does there, and the rule.
    """
    batch = tuple(min(2, size) for size in batch)
    shape = (family.name, batch, *record.integers)
    if claim.no_batch is not None or not record.tensors or shape in known:
        return
    if batch:
        record = record.select(torch.arange(*batch))
    # What else is raised is for those who evaluate the claim; so is a record that ends too early.
    with watching(claim, family) as watch, suppress(Exception), seeded(0), watch:
        claim.relations(family(ReplaySource(record, watch.drawn, batch)))
        known.add(shape)


@contextmanager
def watching(claim: Claim, family: Instances) -> Iterator[Watch]:
    """A watch for one evaluation of a claim at a shape.

    Raises:
        BatchError: at the end, if a Python value was made of what is drawn: the line, what it does
            there, and the rule; also where the claim has caught what the watch raised.
    """
    watch = Watch()
    try:
        yield watch
    except BatchError:
        if not watch.found:
            raise
    if watch.found:
        raise BatchError(
            f"{claim.id}, with {family}: {watch.found}. A body and a generator take one way for "
            "all instances of a shape: torch.where selects values, where= states a hypothesis, and "
            'no_batch="why" evaluates the instances one at a time'
        )


class Watched(Source):
    """What another source draws, marked by a watch."""

    def __init__(self, source: Source, watch: Watch) -> None:
        super().__init__(source.batch)
        self._source, self._watch = source, watch

    def _integer(self, low: int, high: int) -> int:
        return self._source.integer(low, high, self._weights)

    def _tensor(self, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
        return self._watch.drawn(self._source.tensor(*shape, low=low, high=high))


class Watch(TorchFunctionMode):
    """Marks what is computed from what was drawn.

    Attributes:
        found: the first line that made a Python value of it, and how; empty if none did.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found = ""
        #: The marked tensors by their ids, and whether values decide their shapes. They are kept
        #: until the end, so that no other object takes an id.
        self._marks: dict[int, tuple[torch.Tensor, bool]] = {}
        #: Whether values decide the shape of any of them.
        self._selected = False

    def drawn(self, values: torch.Tensor) -> torch.Tensor:
        """A marked copy of what is drawn."""
        copy = values.detach().clone()
        self._marks[id(copy)] = copy, False
        return copy

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        # Every operation of torch comes here, so the common cases are decided first.
        kwargs = kwargs or {}
        if func in FORMS and not self._selected:
            return func(*args, **kwargs)
        marks = self._marked(args, kwargs)
        if not marks:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        if name in LIKE_FIRST or name in LIKE_OTHERS:
            marks = self._marked(args[1:] if name in LIKE_FIRST else args[:1], kwargs)
            if not marks:
                return func(*args, **kwargs)
        selected, selects = True in marks, name in SELECTING
        shapes: list[torch.Size] = []
        if name in READERS:
            self._look(READERS[name])
        elif name == "where":
            selects = len(args) == 1
        elif name == "__getitem__":
            if any(id(bound) in self._marks for bound in _bounds(args[1:])):
                self._look("makes a Python number")
            masks = (one for one in _tensors(args[1:]) if one.dtype == torch.bool)
            selects = any(id(mask) in self._marks for mask in masks)
        if selected:
            if _is_shape(func) or (name in COUNTING and args[1:] in ((), (0,))):
                self._look("takes the number of entries that values select")
            shapes = [one.shape for one in _tensors((*args, kwargs)) if not self._by_values(one)]
        result = func(*args, **kwargs)
        for one in _tensors((result, args[0]) if name in WRITES else (result,)):
            by_values = selects or (selected and one.ndim > 0 and one.shape not in shapes)
            self._marks[id(one)] = one, by_values
            self._selected = self._selected or by_values
        return result

    def _marked(self, args: Iterable[Any], kwargs: dict[str, Any]) -> list[bool]:
        """Of each marked tensor among arguments, whether values decide its shape."""
        marks: list[bool] = []
        for one in args:
            if isinstance(one, (tuple, list, dict)):
                marks += self._marked(_tensors((one,)), {})
            elif (mark := self._marks.get(id(one))) is not None:
                marks.append(mark[1])
        return marks + self._marked(kwargs.values(), {}) if kwargs else marks

    def _by_values(self, tensor: torch.Tensor) -> bool:
        """Whether values decide the shape of a tensor."""
        return id(tensor) in self._marks and self._marks[id(tensor)][1]

    def _look(self, what: str) -> None:
        """Note a line of the claim, and end the evaluation.

        Raises:
            BatchError: if it is not code of rankcheck that does it.
        """
        frame = _caller(sys._getframe(2))
        if frame is None:
            return
        path, line = frame.f_code.co_filename, frame.f_lineno
        text = linecache.getline(path, line, frame.f_globals).strip()
        place = shown_path(Path(path)) if Path(path).is_file() else path
        shown = f", `{text}`," if text else ""
        self.found = self.found or f"{place}:{line}{shown} {what} of what is drawn"
        raise BatchError(self.found)


def _caller(frame: FrameType | None) -> FrameType | None:
    """The frame of the code that calls torch, directly or through libraries; None in rankcheck."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        top = name.partition(".")[0]
        if name == widths.__module__:  # between the code of a claim and torch
            top = "torch"
        if top == "rankcheck" and not f"{name}.".startswith(f"{PROJECT_PACKAGE}."):
            return None
        if top not in LIBRARIES:
            return frame
        frame = frame.f_back
    return None


def _tensors(values: Iterable[Any]) -> list[torch.Tensor]:
    """The tensors among arguments or results."""
    tensors: list[torch.Tensor] = []
    for one in values:
        if isinstance(one, torch.Tensor):
            tensors.append(one)
        elif isinstance(one, (tuple, list)):
            tensors += _tensors(one)
        elif isinstance(one, dict):
            tensors += _tensors(one.values())
    return tensors


def _bounds(index: Any) -> Iterator[torch.Tensor]:
    """The tensors that are bounds of slices of an index."""
    if isinstance(index, slice):
        yield from _tensors((index.start, index.stop, index.step))
    elif isinstance(index, tuple | list):
        for one in index:
            yield from _bounds(one)


def _is_shape(func: Callable[..., Any]) -> bool:
    """Whether a function of torch is the attribute `shape` of tensors."""
    return getattr(func, "__self__", None) is torch.Tensor.shape


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators of torch, numpy and Python; their states come back afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    before = torch.default_generator.get_state()
    # Not torch.manual_seed, which seeds accelerators, too, and notes a traceback for each kind.
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        torch.default_generator.set_state(before)
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
