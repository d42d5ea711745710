"""Breaks of ball arithmetic: wrong functions, lost radii, comparisons that guess."""

import numpy as np
import torch
from flint import fmpq

from rankcheck.balls import BallArray, conversion, elementwise, linalg, numbers
from rankcheck.balls.array import FUNCTIONS, wrap

from .table import Break, around, everywhere, put

AGREEMENT, PROGRAMS = "balls/test_agreement.py::", "balls/test_programs.py::"
GUARDS, LINALG = "balls/test_guards.py::", "balls/test_linalg.py::"
NUMBERS = "balls/test_numbers.py::"


def form(name, change):
    """Replace the ball form of a function of torch, and the method of that name."""

    def apply(patch):
        original = FUNCTIONS[name]

        def changed(*arguments, **options):
            return change(original, *arguments, **options)

        patch.setitem(FUNCTIONS, name, changed)
        if name in vars(BallArray):
            patch.setattr(BallArray, name, changed)

    return apply


def exact_middle(x):
    """A ball without its radius."""
    return x if isinstance(x, fmpq) or not x.is_finite() else x.mid()


def without_radius(array):
    return wrap(np.frompyfunc(exact_middle, 1, 1)(array.elements))


def less_by_middles(less, x, y):
    x, y = (one.midpoints() if isinstance(one, BallArray) else one for one in (x, y))
    return torch.lt(x, torch.as_tensor(y))


def absolute_of_the_middle(_, x):
    return wrap(np.frompyfunc(lambda x: -x if x <= 0 else x, 1, 1)(x.elements))


def divided_by_the_middle(divide, a, b):
    return divide(a, without_radius(b) if isinstance(b, BallArray) else b)


def sum_without_the_last(sum_, x, dim=None, *arguments, **options):
    if not isinstance(dim, int):
        return sum_(x, dim, *arguments, **options)
    return sum_(x.narrow(dim, 0, x.shape[dim] - 1), dim, *arguments, **options)


def of_single_precision(cls, data):
    rounded = data.float().double() if isinstance(data, torch.Tensor) else data
    return cls(conversion.object_array(rounded, conversion.as_it_is))


def floats_when_asked(patch):
    patch.setattr(BallArray, "tolist", lambda self: self.midpoints().tolist())
    patch.setattr(BallArray, "item", lambda self: self.midpoints().item())


BREAKS = (
    Break("balls", "the exponential is a line",
          f"{AGREEMENT}test_the_same_code_gives_the_same", form("exp", lambda exp, x: 1 + x)),
    Break("balls", "a square root has no radius",
          f"{PROGRAMS}test_programs_enclose_their_values",
          form("sqrt", lambda sqrt, x: without_radius(sqrt(x)))),
    Break("balls", "the bounds of a ball are its middle",
          f"{GUARDS}test_difference_bounds_are_exact",
          around(numbers, "bounds", lambda bounds, x: bounds(exact_middle(x)))),
    Break("balls", "overlapping balls are compared by their middles",
          f"{GUARDS}test_overlapping_balls_are_undecided", form("lt", less_by_middles)),
    Break("balls", "a comparison of balls is turned around",
          f"{GUARDS}test_disjoint_balls_and_rationals_are_decided",
          form("lt", lambda lt, x, y: FUNCTIONS["gt"](x, y))),
    Break("balls", "the larger of two balls is the first",
          f"{AGREEMENT}test_the_same_code_gives_the_same",
          put(elementwise, "_maximum", np.frompyfunc(lambda a, b: a, 2, 1))),
    Break("balls", "the absolute value of a ball around zero is the ball",
          f"{PROGRAMS}test_programs_enclose_their_values", form("abs", absolute_of_the_middle)),
    Break("balls", "a division by a ball around zero is finite",
          f"{PROGRAMS}test_programs_enclose_their_values",
          around(BallArray, "__truediv__", divided_by_the_middle)),
    Break("balls", "a product of matrices takes its sides in the other order",
          f"{LINALG}test_a_tensor_stays_on_its_side_of_a_product",
          form("matmul", lambda matmul, x, y: matmul(y, x))),
    Break("balls", "a product of large matrices is rounded",
          f"{LINALG}test_large_products_go_through_flint_and_agree",
          around(linalg, "_flint_product", lambda product, x, y: without_radius(product(x, y)))),
    Break("balls", "a sum leaves out its last term",
          f"{AGREEMENT}test_the_same_code_gives_the_same", form("sum", sum_without_the_last)),
    Break("balls", "where takes the other side",
          f"{GUARDS}test_a_branch_that_is_not_selected_is_unaffected",
          form("where", lambda where, mask, x, y: where(mask, y, x))),
    Break("balls", "a relu of a ball around zero is zero",
          f"{PROGRAMS}test_programs_enclose_their_values",
          put(elementwise, "_relu",
              np.frompyfunc(lambda x: x if x > 0 else numbers.ZERO, 1, 1))),
    Break("balls", "singular values have no radius",
          f"{LINALG}test_spectra_of_balls_enclose_those_of_every_matrix_inside",
          form("linalg_svdvals", lambda svdvals, x, **_: without_radius(svdvals(x)))),
    Break("balls", "every precision is that of a double",
          f"{NUMBERS}test_precision_is_a_context",
          everywhere(numbers.precision, lambda precision, bits: precision(53))),
    Break("balls", "a computed float is exact",
          f"{NUMBERS}test_a_computed_float_covers_what_was_meant",
          put(numbers, "constant", lambda value, held: held)),
    Break("balls", "a float of an instance is rounded to single precision",
          f"{NUMBERS}test_instance_data_is_taken_as_the_dyadic_numbers_it_is",
          put(BallArray, "exact", classmethod(of_single_precision))),
    Break("balls", "a ball array becomes floats when asked",
          f"{GUARDS}test_no_way_back_to_floats", floats_when_asked),
)  # fmt: skip
