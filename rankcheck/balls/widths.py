"""Numbers that do not fit the type of their tensor: integers that wrap, reals that lose bits.

torch computes modulo 2⁶⁴ in int64, and rounds to 11 bits in float16. The code of a claim runs
inside ``widths()``, which looks at what torch's functions return:

* An integer is exact, whatever tensor carries it. Where a result wraps, floats have the nearest
  double in its place, and exact evaluation has the integer itself, in a ball array.
* A number that went through a type narrower than float64 is known to half a unit of that type; in
  exact evaluation it is that ball. Where all numbers of a result fit, it stays torch's, marked.

Integers that wrap are noted within `noted_wraps`, narrow numbers within `computed_constants`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dis import opmap
from functools import lru_cache
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from rankcheck.balls.array import FUNCTIONS, BallArray, balls
from rankcheck.balls.choices import evaluation
from rankcheck.balls.constants import is_narrow, line_in
from rankcheck.balls.conversion import LOSSLESS
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.forms import checked, rounded
from rankcheck.balls.mapping import mapped
from rankcheck.balls.numbers import may_have_wrapped

INTEGERS = frozenset(
    {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32}
)
#: What makes integers of other numbers: nothing has wrapped if they are these numbers, truncated.
CONVERSIONS = frozenset({"to", "long", "int", "short", "char", "byte", "type", "type_as"})
SHIFTS = frozenset({"__lshift__", "__ilshift__", "__rlshift__", "bitwise_left_shift"})
#: What makes Python's numbers of a tensor.
READERS = frozenset({"item", "tolist", "numpy", "__float__", "__int__", "__index__", "__array__"})
#: Functions of integers that torch does not have for doubles, and that make no larger ones.
SMALLER = frozenset(
    {f"__{name}__" for name in ("and", "or", "xor", "rand", "ror", "rxor", "rshift", "rrshift")}
    | {f"bitwise_{name}" for name in ("and", "or", "xor", "right_shift")}
    | {"gcd", "gather", "take", "take_along_dim", "index_select", "index_fill", "index_copy"}
    | {"scatter", "embedding", "one_hot", "bincount", "searchsorted", "bucketize"}
)
NUMPY = (np.generic, np.ndarray)
#: The instruction of `x * y` and of `x *= y`.
OPERATOR = opmap["BINARY_OP"]
#: What a tensor is asked most often, and what makes no tensor.
FORMS = frozenset(
    getattr(torch.Tensor, name).__get__ for name in ("shape", "ndim", "dtype", "device")
)
#: Often called, and no arithmetic.
MOVES = frozenset({"__get__", "__getitem__", "reshape", "expand", "unsqueeze", "arange"})

_watched = ContextVar("watched", default=True)
_noted: ContextVar[tuple[str, dict[str, None]] | None] = ContextVar("noted_wraps", default=None)


@contextmanager
def noted_wraps(file: str) -> Iterator[dict[str, None]]:
    """Note where integers wrap inside the ``with`` block, by the lines of a file.

    They are texts such as `line 12 (prod of torch.int64)`.
    """
    found: dict[str, None] = {}
    token = _noted.set((file, found))
    try:
        yield found
    finally:
        _noted.reset(token)


@contextmanager
def widths() -> Iterator[None]:
    """Keep what does not fit the type of its tensor, of torch's functions inside the block.

    It becomes balls within `conventions`, as all exact evaluation is, and doubles elsewhere.
    """
    exact = evaluation() is not None
    with _Widths(exact=exact) if exact or _watched.get() else nullcontext():
        yield


@contextmanager
def watching(looks: bool) -> Iterator[None]:
    """Whether `widths` looks at anything; without, evaluation in floats takes half of the time."""
    token = _watched.set(looks)
    try:
        yield
    finally:
        _watched.reset(token)


#: Functions whose integers may wrap for another instance where they are small for this one.
GROWING = frozenset((
    "mul", "multiply", "pow", "prod", "cumprod", "square", "matmul", "mm", "bmm", "mv", "dot",
    "inner", "outer", "einsum", "tensordot", "kron", "lshift", "bitwise_left_shift", "addmm",
    "addcmul", "vander", "matrix_power", "scatter_reduce",
))  # fmt: skip
#: A number of the code from this size on may wrap where a few of them are added.
LARGE = 2**32
#: What writes the numbers of all instances into a text while they are mapped over.
TEXTS = frozenset({"__repr__", "__str__", "__format__"})


class _Widths(TorchFunctionMode):
    """Looks at the results of functions of plain tensors; ball arrays look after themselves."""

    wraps = risks = 0

    def __init__(self, *, exact: bool) -> None:
        super().__init__()
        self._exact = exact
        self._mapping = mapped()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func in FORMS:
            return func(*args)
        name, changes = _kind_of(func)
        kwargs = kwargs or {}
        if name in TEXTS:
            _Widths.risks += 1
            if self._mapping is not None and _differs(args):
                self._mapping.stop(name)
        given, rebound = args, changes and _is_operator(sys._getframe(1))
        if changes and self._mapping is not None and _differs(args):
            if any(x.dtype in INTEGERS for x in _tensors(args[:1])):
                self._mapping.stop(f"{name} of integers")
        elif changes:
            with torch._C.DisableTorchFunction():
                given = _before(name, args, rebound)
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            if self._mapping is not None:
                self._mapping.stop(name, error)
                raise
            if not isinstance(error, RuntimeError):
                raise
            if not self._exact and len({x.dtype in INTEGERS for x in _tensors(args)}) == 2:
                with suppress(Exception):  # it may want doubles beside those of large integers
                    return func(*_mapped(args, _doubled), **kwargs)
            raise
        if not isinstance(result, torch.Tensor):
            if given is not args and name == "__setitem__" and is_narrow(args[0].dtype):
                _keep_lossless(*args)
            several = result if self._exact and isinstance(result, tuple | list) else ()
            narrow = any(isinstance(one, torch.Tensor) and is_narrow(one.dtype) for one in several)
            if self._exact and name in READERS and _lossy(args[:1]):
                raise NoBallForm(f"{name} of {args[0].dtype}", "its numbers have lost bits")
            return _exactly(func, args, kwargs) if narrow else result
        if result.dtype in INTEGERS and (name not in MOVES or result.dtype is not torch.int64):
            if (data := _of_numpy(args)) is not None:
                _note(f"{np.asarray(data).dtype} of numpy, which may wrap unseen")
                return balls(data) if self._exact else result
            with torch._C.DisableTorchFunction():
                wrapping = _wrapping(func, given, kwargs, result)
                if self._mapping is None and not self._exact:
                    _Widths.risks += _may_wrap(name, args, result)
            if wrapping is None:
                return result
            wraps, wide = wrapping
            if self._mapping is not None:
                self._mapping.wrap(wraps)
                return result
            if _differs((wraps,)) or not bool(wraps.any()):  # a map of the body's own is not read
                return result
            _note(f"{name.strip('_')} of {result.dtype}")
            if given is not args and not rebound:
                raise OverflowError(f"{name} wraps in {result.dtype}; without the _ it is exact")
            return _exactly(func, given, kwargs, result) if self._exact else wide
        if not self._exact or name == "__get__" or changes:
            return result
        if is_narrow(result.dtype) or _lossy(args) or _large_in(args):
            return _exactly(func, given, kwargs, result)
        return result


def _may_wrap(name: str, args: tuple[Any, ...], result: torch.Tensor) -> bool:
    """Whether integers may wrap in another instance: such of reals, products, and large ones."""
    plain = name.strip("_")  # of __rmul__ and __imul__ too
    of_reals = name in CONVERSIONS and args[0].dtype not in INTEGERS
    constant = any(isinstance(x, int) and abs(x) >= LARGE for x in args)
    if of_reals or constant or not GROWING.isdisjoint((plain, plain[1:])) or _differs((result,)):
        return True
    near = 2.0 ** (torch.iinfo(result.dtype).bits // 2)
    return bool((result.double().abs() >= near).any())


def _differs(args: tuple[Any, ...]) -> bool:
    """Whether any argument differs from instance to instance of what is mapped over."""
    return any(map(torch._C._functorch.is_batchedtensor, _tensors(args)))


@lru_cache(maxsize=4096)
def _kind_of(func: Any) -> tuple[str, bool]:
    """The name of a function of torch, and whether it changes its first argument."""
    name = func.__name__
    writes = name == "__setitem__" or name.startswith("__i") or name[-1] == "_" != name[0]
    return name, writes and name not in READERS


def _of_numpy(args: tuple[Any, ...]) -> Any:
    """Integers of numpy that may have wrapped, of which a function makes a tensor; else None."""
    data = args[0] if args else ()
    values = (
        data
        if isinstance(data, tuple | list)
        else np.ravel(data)
        if isinstance(data, NUMPY)
        else ()
    )
    return data if any(isinstance(x, np.integer) and may_have_wrapped(x) for x in values) else None


def _is_operator(frame: FrameType) -> bool:
    """Whether a frame is at `x + y` or `x += y`, which binds what comes out, and not at a call."""
    return frame.f_code.co_code[frame.f_lasti] == OPERATOR


def _before(name: str, args: tuple[Any, ...], rebound: bool) -> tuple[Any, ...]:
    """The arguments of a function that changes the first, with a copy of it if that is integers.

    Raises:
        OverflowError: if a number is put into a tensor of integers that cannot hold it.
    """
    if not (args and isinstance(args[0], torch.Tensor)):
        return args
    if args[0].dtype not in INTEGERS:
        lossless = getattr(args[0], LOSSLESS, False)
        setattr(args[0], LOSSLESS, False)
        return (*args,) if lossless and name == "__setitem__" else args
    kind = torch.iinfo(args[0].dtype)
    for value in _tensors(args[1:]):
        beyond = (value < kind.min) | (value > kind.max)
        if not rebound and value.dtype is torch.float64 and bool(beyond.any()):
            raise OverflowError(
                f"{name} puts an integer into a tensor of {args[0].dtype} that cannot hold it; "
                "torch.stack makes a tensor of such integers"
            )
    return (args[0].clone(), *args[1:])


def _keep_lossless(x: torch.Tensor, index: Any, value: Any) -> None:
    """Mark a narrow tensor again if what was assigned to a place of it fits."""
    if isinstance(value, int | float) or (isinstance(value, torch.Tensor) and not _lossy((value,))):
        with torch._C.DisableTorchFunction():
            fits = bool((x[index].double() == torch.as_tensor(value, dtype=torch.float64)).all())
        setattr(x, LOSSLESS, fits)


def _wrapping(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Where a result has wrapped, and what it is in doubles; None if it cannot have wrapped."""
    name, tensors = func.__name__, list(_tensors((*args, *kwargs.values())))
    whole = [x for x in tensors if x.dtype in INTEGERS]
    bits = torch.iinfo(result.dtype).bits
    try:
        if name in CONVERSIONS:
            wide = tensors[0].double().trunc()
        elif name in SHIFTS:
            a, b = map(torch.as_tensor, args[1::-1] if name == "__rlshift__" else args[:2])
            wide = a.double() * 2.0 ** b.double()
        elif whole or result.dtype is not torch.int64:
            wide = func(*_mapped(args, _doubled), **_mapped(kwargs, _doubled))
        else:
            return None
        if not isinstance(wide, torch.Tensor) or wide.shape != result.shape:
            return None
        held, wide = result.double(), wide.double()
        near = (wide - held).abs() <= 2.0 ** (bits - 1)
        return ~near, torch.where(near, held, wide)
    except (RuntimeError, TypeError, IndexError, NotImplementedError):  # no function of doubles
        if "reduce" not in kwargs and (name in SMALLER or name.strip("_") in SMALLER):
            return None
    with suppress(RuntimeError):  # sums and products of integers that are not large do not wrap
        size = torch.stack([x.double().abs().sum() for x in whole]).sum()
        wraps = size * size >= 2.0 ** (bits - 1)
        return wraps, torch.full_like(result, torch.nan, dtype=torch.float64)
    return None


def _exactly(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: torch.Tensor | None = None
) -> Any:
    """The `result` of a function as balls, rounded to its type if that is narrow, or itself.

    Raises NoBallForm if the function has no ball form. There is no `result` if there are several.
    """
    tensors = list(_tensors((*args, *kwargs.values())))
    if tensors:
        made = _of_balls(func, args, kwargs, all(x.dtype in INTEGERS for x in tensors))
        if func.__name__ in CONVERSIONS and result is not None and result.dtype in INTEGERS:
            made = made.trunc()
    elif args and isinstance(args[0], NUMPY):
        made = balls(args[0])  # numpy may have rounded before
    else:
        made = balls(_in_doubles(func, args, kwargs))
    if result is not None and is_narrow(result.dtype):
        made = rounded(made, result.dtype)
    if result is None or result.dtype in INTEGERS or result.is_complex() or not made.is_exact():
        return made
    with torch._C.DisableTorchFunction():
        held = result.double() if bool(result.isfinite().all()) else None
        fits = (
            held is not None and BallArray.exact(held).elements.tolist() == made.elements.tolist()
        )
    setattr(result, LOSSLESS, fits)
    return result if fits else made


def _of_balls(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], integers: bool) -> Any:
    """A function on balls: of floats, and of integers if there are no other numbers."""

    def lifted(x: torch.Tensor) -> Any:
        return balls(x) if integers or x.is_floating_point() or x.is_complex() else x

    name = func.__name__
    moved = _mapped(args, lifted)
    if name in CONVERSIONS:
        return moved[0]
    if name in SHIFTS:
        a, b = moved[1::-1] if name == "__rlshift__" else moved[:2]
        return a * balls(2) ** b
    if name[-1] == "_" != name[0] or name.startswith("__i"):  # in place
        name = name.rstrip("_").replace("__i", "")
        func = getattr(torch.Tensor, name)
    elif name.startswith("__"):
        operator = getattr(balls(moved[0]), {"__rdiv__": "__rtruediv__"}.get(name, name), None)
        if operator is not None:
            return operator(*moved[1:])
    if name not in FUNCTIONS:
        raise NoBallForm(f"{name} of integers that wrap, or of a narrow type,")
    return checked(name, func, FUNCTIONS[name], moved, _mapped(kwargs, lifted))


def _in_doubles(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function without tensors makes in double precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return func(*_mapped(args, _doubled), **_mapped(kwargs, _doubled))
    finally:
        torch.set_default_dtype(before)


def _tensors(values: Any) -> Iterator[torch.Tensor]:
    """The plain tensors among arguments, in lists and tuples too."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from _tensors(value)


def _mapped(value: Any, convert: Callable[[torch.Tensor], Any]) -> Any:
    """Arguments with other tensors, and with double precision for every type of numbers."""
    if isinstance(value, torch.Tensor):
        return convert(value)
    if isinstance(value, dict):
        return {name: _mapped(one, convert) for name, one in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_mapped(one, convert) for one in value)
    if isinstance(value, torch.dtype) and value is not torch.bool:
        return torch.complex128 if value.is_complex else torch.float64
    return value


def _doubled(x: torch.Tensor) -> torch.Tensor:
    return x.double() if x.dtype in INTEGERS else x


def _lossy(args: tuple[Any, ...]) -> bool:
    """Whether there are numbers of a narrow type that may have lost bits."""
    return any(is_narrow(x.dtype) and not getattr(x, LOSSLESS, False) for x in _tensors(args))


def _large_in(args: tuple[Any, ...]) -> bool:
    """Whether there are integers that are no doubles, and no other numbers."""
    tensors = list(_tensors(args))
    return all(x.dtype in INTEGERS for x in tensors) and any(
        x.dtype is torch.int64 and bool((x.abs() > 2**53).any()) for x in tensors
    )


def wraps() -> int:
    """How often integers have wrapped in this process."""
    return _Widths.wraps


def risks() -> int:
    """How often integers have wrapped, or may wrap in another instance; see `_may_wrap`."""
    return _Widths.risks + _Widths.wraps


def _note(text: str) -> None:
    _Widths.wraps += 1
    if (noted := _noted.get()) is not None:
        file, found = noted
        line = line_in(file)
        found[f"{'another file' if line is None else f'line {line}'} ({text})"] = None
