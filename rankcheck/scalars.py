"""Constants of the kind of number at hand: doubles beside tensors, exact beside balls."""

from __future__ import annotations

import math

from torch import Tensor

from rankcheck import balls
from rankcheck.linalg import Array, Number

__all__ = ["pi", "scalar", "square_root"]


def scalar(value: Number, like: Array) -> Array:
    """value as an array without axes, of like's device and kind of number.

    In floats the nearest double (an int or Fraction beyond the largest raises OverflowError); on
    balls an int or Fraction stays exact.
    """
    if isinstance(like, Tensor):
        return like.new_tensor(float(value))
    return like.new_ones(()) * value


def square_root(number: int, like: Array) -> Array:
    """The square root of an integer >= 0 of any size: the nearest double or a ball."""
    if number < 0:
        raise ValueError(f"a square root needs an integer >= 0; got {number}")
    if isinstance(like, Tensor):
        # From 2^120 on the integer root has more than 53 bits: cutting its fraction costs nothing.
        return like.new_tensor(math.sqrt(number) if number < 2**120 else float(math.isqrt(number)))
    return (like.new_ones(()) * number).sqrt()


def pi(like: Array) -> Array:
    """π as an array without axes: the nearest double or a ball."""
    if isinstance(like, Tensor):
        return like.new_tensor(math.pi)
    return balls.pi()
