"""`BallArray`: the array type that turns a claim body into a proof.

A BallArray is an n-dimensional array of exact rationals and real balls with the shapes, the
operators and the methods of a float64 `torch.Tensor`. torch hands every ``torch.*`` call that
receives one to `BallArray.__torch_function__`, which looks the function up by name among the
implementations of this package. Any other function raises `NoBallForm`, and so does every
conversion to floats, so that no rounded number enters a proof unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np
import torch
from flint import arb

from rankcheck.balls import complexes, numbers
from rankcheck.balls.conversion import as_it_is, object_array
from rankcheck.balls.formal import NoBallForm
from rankcheck.balls.forms import Memory, checked
from rankcheck.balls.missing import GENERAL, INSTEAD
from rankcheck.balls.numbers import Number, Undecided
from rankcheck.text import array_text, short_text

if TYPE_CHECKING:
    # To a type checker a ball array is a tensor, because it may stand wherever one does.
    _Base = torch.Tensor
else:
    _Base = object

F = TypeVar("F", bound=Callable[..., Any])

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Implementations by the ``__name__`` of the torch function or tensor method."""


def implements(*names: str) -> Callable[[F], F]:
    """Register a function under torch's names, and as a method where tensors have that method."""

    def register(function: F) -> F:
        for name in names:
            FUNCTIONS[name] = function
            if hasattr(torch.Tensor, name) and name not in vars(BallArray):
                setattr(BallArray, name, _method(name, function))
        return function

    return register


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The method of ball arrays for a method of tensors."""
    method = getattr(torch.Tensor, name)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return checked(f"torch.Tensor.{name}", method, function, args, kwargs)

    return called


def attribute(name: str, function: Callable[[Any], Any]) -> Any:
    """The property of ball arrays for a property of tensors."""
    of_tensor = attrgetter(name)
    return property(lambda x: checked(f"torch.Tensor.{name}", of_tensor, function, (x,), {}))


def elementwise(function: Callable[..., Any], arguments: int = 1) -> Callable[..., Any]:
    """Lift a function of numbers to object arrays."""
    return np.frompyfunc(function, arguments, 1)


def _implemented(name: str) -> Any:
    """The operator that calls the implementation of that name."""
    return lambda x, other: FUNCTIONS[name](x, other)


def _swapped(name: str) -> Any:
    """The same with its two arguments swapped."""
    return lambda x, other: FUNCTIONS[name](other, x)


def _in_place(name: str) -> Any:
    """The operator that puts what another one makes into the places of an array."""

    def changed(x: Any, other: Any) -> Any:
        x[...] = getattr(x, name)(other)
        return x

    return changed


class BallArray(_Base):
    """An array of exact rationals (`fmpq`), real balls (`arb`), and `Complex` of these.

    Use `BallArray.exact` for instance data, and `balls` for constants that a claim body writes.
    `elements` is the numpy object array of the numbers, which is never written to; `memory` says
    with which other arrays torch would share them.
    """

    __slots__ = ("__weakref__", "elements", "memory")
    __array_ufunc__ = None  # numpy's operators defer to ours
    __array_priority__ = 1000

    device: torch.device = torch.device("cpu")
    requires_grad: bool = False
    grad: None = None
    is_cuda: bool = False
    is_sparse: bool = False

    elements: np.ndarray
    memory: Memory | None

    def __init__(self, elements: np.ndarray) -> None:
        if not isinstance(elements, np.ndarray) or elements.dtype != object:
            raise TypeError(
                f"BallArray received a {type(elements).__name__}; it takes a numpy object array of "
                "fmpq and arb (BallArray.exact(data) and balls(data) convert other data)"
            )
        self.elements = elements
        self.memory = None

    @classmethod
    def exact(cls, data: Any) -> BallArray:
        """The entries of `data` as exact rational numbers.

        For instance data: each float becomes exactly the dyadic rational that it is. Entries may be
        ints, floats, Fractions, fmpq, or arb (which stay balls); `data` may be a number, a nested
        sequence, a tensor, or a numpy array. Raises ValueError for infinities and nan.

        >>> BallArray.exact([0.5, 0.1])
        BallArray([1/2, 0.1000000000…])
        """
        return cls(object_array(data, as_it_is))

    # torch's dispatch.

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        implementation = FUNCTIONS.get(func.__name__)
        if implementation is None:
            raise NoBallForm(_name_of(func), INSTEAD.get(func.__name__, GENERAL))
        return checked(_name_of(func), func, implementation, args, kwargs or {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(torch.Tensor, name):
            raise AttributeError(f"BallArray has no attribute {name!r}")
        raise NoBallForm(f"torch.Tensor.{name}", INSTEAD.get(name, GENERAL))

    @property
    def dtype(self) -> torch.dtype:  # type: ignore[override]  # torch's stub declares a variable
        """complex128 if an element is complex, else float64."""
        return torch.complex128 if complexes.has_complex(self.elements) else torch.float64

    # Shape.

    @property
    def shape(self) -> torch.Size:  # type: ignore[override]  # torch's stub declares a variable
        return torch.Size(self.elements.shape)

    @property
    def ndim(self) -> int:  # type: ignore[override]  # torch's stub declares a variable
        return self.elements.ndim

    def dim(self) -> int:
        return self.elements.ndim

    def numel(self) -> int:
        return self.elements.size

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def __len__(self) -> int:
        if not self.elements.ndim:
            raise TypeError("len() of a 0-d array")
        return len(self.elements)

    def __iter__(self) -> Iterator[BallArray]:
        if not self.elements.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[place] for place in range(len(self.elements)))

    # Operators. Comparisons give bool tensors, or raise Undecided.

    def __add__(self, other: Any) -> BallArray:
        return wrap(np.add(self.elements, balls(other).elements))

    __radd__ = __add__

    def __mul__(self, other: Any) -> BallArray:
        return wrap(np.multiply(self.elements, balls(other).elements))

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> BallArray:
        return wrap(np.subtract(self.elements, balls(other).elements))

    def __rsub__(self, other: Any) -> BallArray:
        return wrap(np.subtract(balls(other).elements, self.elements))

    def __truediv__(self, other: Any) -> BallArray:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> BallArray:
        return divide(other, self)

    __pow__, __floordiv__, __mod__ = map(_implemented, ("pow", "floor_divide", "remainder"))
    __rpow__, __rfloordiv__, __rmod__ = map(_swapped, ("pow", "floor_divide", "remainder"))

    def __matmul__(self, other: Any) -> BallArray:
        return checked("torch.matmul", torch.matmul, FUNCTIONS["matmul"], (self, other), {})

    def __neg__(self) -> BallArray:
        return wrap(np.negative(self.elements))

    def __pos__(self) -> BallArray:
        return self

    def __abs__(self) -> BallArray:
        return FUNCTIONS["abs"](self)

    __lt__, __le__, __gt__, __ge__ = map(_implemented, ("lt", "le", "gt", "ge"))
    __eq__, __ne__ = map(_implemented, ("eq", "ne"))
    __hash__ = object.__hash__

    def __getitem__(self, index: Any) -> BallArray:
        get = FUNCTIONS["__getitem__"]
        return checked("indexing", torch.Tensor.__getitem__, get, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        assign = FUNCTIONS["__assign__"]
        checked("assignment", torch.Tensor.__setitem__, assign, (self, index, value), {})

    # Without these, `x += 1` would bind x to a new array, also where others share that of torch.

    __iadd__, __isub__, __imul__ = map(_in_place, ("__add__", "__sub__", "__mul__"))
    __itruediv__, __ifloordiv__ = map(_in_place, ("__truediv__", "__floordiv__"))
    __imod__, __ipow__ = map(_in_place, ("__mod__", "__pow__"))  # type: ignore[assignment]

    def __deepcopy__(self, memo: dict[int, Any]) -> BallArray:
        return BallArray(self.elements)

    # Conversions to floats are refused; the methods below are for reports.

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise NoBallForm(
            "conversion to Python or numpy numbers",
            "its result is not proved; use midpoints(), radii(), lower() or upper() for reports",
        )

    item = tolist = numpy = _refuse
    __float__ = __int__ = __index__ = __complex__ = __array__ = _refuse

    def __bool__(self) -> bool:
        raise NoBallForm("the truth value of a ball array", "compare it, or use torch.where")

    def midpoints(self) -> torch.Tensor:
        """float64 approximations of the midpoints, nan for an unbounded ball; not proved.

        complex128 for a complex array.
        """
        if complexes.has_complex(self.elements):
            real, imag = map(BallArray, complexes.parts(self.elements))
            return torch.complex(real.midpoints(), imag.midpoints())
        return self._floats(numbers.as_float)

    def radii(self) -> torch.Tensor:
        """float64 radii such that midpoints() ± radii() contains every element.

        The disc of that radius does, for a complex one.
        """
        if complexes.has_complex(self.elements):
            real, imag = map(BallArray, complexes.parts(self.elements))
            widths = real.radii() + imag.radii()
            return torch.where(widths == 0, 0.0, widths.nextafter(widths.new_tensor(torch.inf)))
        return self._floats(numbers.float_radius)

    def _floats(self, function: Callable[[Number], float]) -> torch.Tensor:
        values = [function(x) for x in self.elements.ravel().tolist()]
        return torch.tensor(values, dtype=torch.float64).reshape(self.elements.shape)

    def lower(self) -> Any:
        """Exact lower bounds: a Fraction if 0-d, else a numpy object array of Fractions."""
        self.require_real("lower()")
        return np.frompyfunc(lambda x: numbers.bounds(x)[0], 1, 1)(self.elements)

    def upper(self) -> Any:
        """Exact upper bounds: a Fraction if 0-d, else a numpy object array of Fractions."""
        self.require_real("upper()")
        return np.frompyfunc(lambda x: numbers.bounds(x)[1], 1, 1)(self.elements)

    def require_real(self, name: str) -> None:
        """Raise NoBallForm in the name of an operation that complex numbers do not have."""
        if complexes.has_complex(self.elements):
            raise NoBallForm(f"{name} of complex numbers", "use .real, .imag or abs()")

    def centres(self) -> BallArray:
        """The midpoints, exactly; not proved to be anything but points inside the balls.

        Raises Undecided for an unbounded ball.
        """
        self.require_real("centres()")

        def centre(x: Number) -> Number:
            split = numbers.midpoint_and_error(x)
            if split is None:
                raise Undecided("an unbounded ball has no midpoint")
            return split[0]

        return wrap(elementwise(centre)(self.elements))

    def enlarged(self, radius: Fraction) -> BallArray:
        """Every element with all numbers at distance at most `radius` of it added."""
        margin = arb(0, arb(numbers.exact(radius)).upper())
        return wrap(elementwise(lambda x: x + margin)(self.elements))

    def is_exact(self) -> bool:
        """Whether every element is one known rational number, or has two such parts."""
        return all(
            numbers.is_rational(part)
            for entries in complexes.parts(self.elements)
            for part in entries.ravel().tolist()
        )

    def describe(self, digits: int = 10) -> str:
        """The entries as nested lists of texts like 3/4 and 1.414213562… ± 6e-39."""
        return array_text(self, lambda number: short_text(number, digits))

    def __repr__(self) -> str:  # type: ignore[override]  # torch's takes a private keyword
        return f"BallArray({self.describe()})"


def is_ball(value: object) -> TypeGuard[BallArray]:
    """Whether a value is a BallArray, and not a float64 tensor."""
    return isinstance(value, BallArray)


def wrap(result: Any) -> BallArray:
    """A BallArray of an object array, or of the single number to which numpy reduces a 0-d one."""
    if type(result) is not np.ndarray:
        scalar = np.empty((), dtype=object)
        scalar[()] = result
        result = scalar
    return BallArray(result)


def balls(data: Any) -> BallArray:
    """Convert numbers and tensors that a claim body combines with ball arrays.

    The rule is that of `rankcheck.balls.exact`: a float that was written stands for its decimal,
    and one that was computed for all reals near it.

    >>> balls([0.5, 0.1, 1 / 3])
    BallArray([1/2, 1/10, 0.3333333333 ± 6e-7])
    """
    if type(data) is BallArray:
        return data
    return BallArray(object_array(data, numbers.exact))


def divide(a: Any, b: Any) -> BallArray:
    x, y = balls(a).elements, balls(b).elements
    try:
        return wrap(np.true_divide(x, y))
    except ZeroDivisionError:
        return wrap(elementwise(numbers.divide, 2)(x, y))


def full(shape: Sequence[int], value: Number) -> BallArray:
    """The array of that shape with one value everywhere."""
    result = np.empty(tuple(shape), dtype=object)
    result[...] = value
    return BallArray(result)


def _name_of(func: Callable[..., Any]) -> str:
    return torch.overrides.resolve_name(func) or getattr(func, "__name__", repr(func))
