"""Numbers from elsewhere as float64 tensors: which types are taken, and what is no number."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rankcheck.audit.model import ModelError
from rankcheck.audit.reading.opening import LARGEST_ENTRIES, label, require

__all__ = ["check_dtype", "check_finite", "check_size", "dense", "half_precision", "parameter"]

#: Narrower than float32, as torch, numpy and safetensors call them: with the start of the name.
_NARROW = ("float16", "bfloat16", "float8", "float4", "f16", "bf16", "f8_", "f6_", "f4")
_HALF = ("float16", "bfloat16", "f16", "bf16")
_COMPLEX = ("complex", "c64", "c128")
_REAL = ("float32", "float64", "f32", "f64")
_INTEGERS = ("int", "uint", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool")


def check_dtype(name: str, dtype: object, *, integers: bool = False, half: bool = False) -> None:
    """Check a type of numbers, by its name in torch, numpy or safetensors.

    Args:
        name: of the array, as the error names it.
        integers: whether integers and bools are taken, too.
        half: whether float16 and bfloat16 are taken, too.

    Raises:
        ModelError: complex numbers, less precision than is taken, or no numbers.
    """
    text = str(getattr(dtype, "name", dtype)).removeprefix("torch.").lower()
    if text in _REAL or (half and text in _HALF) or (integers and text.startswith(_INTEGERS)):
        return
    if text.startswith(_COMPLEX):
        raise ModelError(f"{name} is complex ({text}); networks and data are real")
    if text.startswith(_NARROW):
        raise ModelError(
            f"{name} has half precision or less ({text}); audits need the precision of the "
            "training: convert to float32 yourself if you mean these numbers"
        )
    rule = "float32, float64 or integers" if integers else "float32 or float64"
    raise ModelError(f"{name} has the type {label(text)}; it must be {rule}")


def check_size(name: str, shape: tuple[int, ...]) -> int:
    """The number of entries of an array of this shape.

    Raises:
        ModelError: it has none, or too many.
    """
    text = str(tuple(shape)) if len(shape) <= 8 else f"of {len(shape)} axes"
    require(min(shape, default=1) >= 0, f"{name} has the shape {text}; no size is negative")
    entries = prod(shape)
    require(entries, f"{name} has the shape {text}: it is empty")
    fit = entries <= LARGEST_ENTRIES
    require(fit, f"{name} has the shape {text}; at most {LARGEST_ENTRIES} entries are read")
    return entries


def check_finite(name: str, array: Tensor) -> None:
    """Check that all entries are finite.

    Raises:
        ModelError: with the index of the first one that is not.
    """
    wrong = ~torch.isfinite(array)
    if bool(wrong.any()):
        place = wrong.nonzero()[0].tolist()
        raise ModelError(
            f"{name} has the entry {float(array[tuple(place)])} at {place}; all must be finite"
        )


def dense(name: str, tensor: Any, *, integers: bool = False, half: bool = False) -> Tensor:
    """A tensor or numpy array in float64 on the CPU, without gradient, and not shared.

    Raises:
        ModelError: it is neither, sparse, quantised, without numbers (`meta`), a subclass of
            Tensor with rules of its own, of a type that `check_dtype` refuses, too large or empty.
    """
    if isinstance(tensor, np.ndarray):
        check_dtype(name, tensor.dtype, integers=integers, half=half)
        check_size(name, tensor.shape)
        return torch.from_numpy(np.array(tensor, dtype=np.float64, order="C"))
    kind = type(tensor)
    plain = kind in (Tensor, torch.nn.Parameter)
    require(plain, f"{name} is of the type {kind.__name__}; it must be a plain tensor")
    require(not tensor.is_meta, f"{name} is a meta tensor; load the weights first")
    require(tensor.layout is torch.strided, f"{name} is a sparse tensor; call to_dense() first")
    require(not tensor.is_quantized, f"{name} is quantised; it must be float32 or float64")
    check_dtype(name, tensor.dtype, integers=integers, half=half)
    check_size(name, tuple(tensor.shape))
    return tensor.detach().to(device="cpu", dtype=torch.float64, copy=True).contiguous()


def half_precision(arrays: Iterable[Any]) -> tuple[str, ...]:
    """What is said of a network some of whose arrays have half precision."""
    texts = (str(getattr(array, "dtype", "")).removeprefix("torch.") for array in arrays)
    found = sorted({text for text in texts if text in _HALF})
    if not found:
        return ()
    return (
        f"parameters are stored in half precision ({', '.join(found)}): they are read as the "
        "numbers that they are, and all is computed in double precision",
    )


def parameter(name: str, tensor: Any) -> Tensor:
    """A parameter of a network: as `dense`, with finite entries; half precision is taken.

    Raises:
        ModelError: it is none.
    """
    array = dense(name, tensor, half=True)
    check_finite(name, array)
    return array
