"""Constants of the kind of number at hand: doubles beside tensors, exact or balls beside balls."""

from __future__ import annotations

import math

from rankcheck import balls
from rankcheck.balls import is_ball
from rankcheck.theory.linalg import Array, Number

__all__ = ["constant", "pi", "scalar", "square_root"]


def scalar(value: Number, like: Array) -> Array:
    """value as an array without axes, of like's device and kind of number.

    In floats the nearest double (an int or Fraction beyond the largest raises OverflowError); on
    balls an int or Fraction stays exact.
    """
    if is_ball(like):
        return balls.balls(value) * like.new_ones(())
    return like.new_tensor(float(value))


def constant(value: Number, like: Array) -> Array:
    """value everywhere, in an array of like's shape, device and kind of number.

    Converts as :func:`scalar` does; beside a tensor of integers the value must be an int. Unlike
    ``0 * like + value`` the result is independent of the entries of like, which may be infinite.

    >>> import torch
    >>> from fractions import Fraction
    >>> from rankcheck.balls import BallArray
    >>> constant(Fraction(1, 2), torch.zeros(2, dtype=torch.float64))
    tensor([0.5000, 0.5000], dtype=torch.float64)
    >>> constant(Fraction(1, 3), BallArray.exact([0, 1]))
    BallArray([1/3, 1/3])

    Raises:
        OverflowError: like is a float tensor and the value is beyond the largest double.
        TypeError: like is a tensor of integers and the value is not an int.
    """
    if is_ball(like):
        return balls.balls(value).expand(like.shape)
    if like.is_floating_point():
        return like.new_full(like.shape, float(value))
    if not isinstance(value, int):
        raise TypeError(f"constant received {value!r} beside a tensor of integers; pass an int")
    return like.new_full(like.shape, value)


def square_root(number: int, like: Array) -> Array:
    """The square root of an integer >= 0 of any size, without axes: the nearest double or a ball.

    Raises:
        ValueError: the number is negative.
        OverflowError: like is a tensor and the root is beyond the largest double.
    """
    if number < 0:
        raise ValueError(f"square_root received {number}; the number is an integer >= 0")
    if is_ball(like):
        return balls.balls(number).sqrt()
    # From 2^120 on the integer root has more than 53 bits, so dropping its fraction is safe.
    return like.new_tensor(math.sqrt(number) if number < 2**120 else float(math.isqrt(number)))


def pi(like: Array) -> Array:
    """π as an array without axes: the nearest double or a ball."""
    return balls.pi() if is_ball(like) else like.new_tensor(math.pi)
