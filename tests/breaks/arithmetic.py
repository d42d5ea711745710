"""Breaks of ball arithmetic: wrong functions, lost radii, comparisons that guess."""

import numpy as np
import torch
from flint import fmpq

from rankcheck.balls import (
    BallArray,
    conversion,
    elementwise,
    linalg,
    numbers,
)
from rankcheck.balls.array import FUNCTIONS, wrap

from .table import around, everywhere, noticed


def form(patch, name, change):
    """Replace the ball form of a function of torch, and the method of that name."""
    original = FUNCTIONS[name]

    def changed(*arguments, **options):
        return change(original, *arguments, **options)

    patch.setitem(FUNCTIONS, name, changed)
    if name in vars(BallArray):
        patch.setattr(BallArray, name, changed)


def exact_middle(x):
    """A ball without its radius."""
    return x if isinstance(x, fmpq) or not x.is_finite() else x.mid()


def without_radius(array):
    return wrap(np.frompyfunc(exact_middle, 1, 1)(array.elements))


@noticed(
    "balls",
    canary="known digits",
    test="balls/test_agreement.py::test_the_same_code_gives_the_same",
)
def the_exponential_is_a_line(patch):
    form(patch, "exp", lambda exp, x: 1 + x)


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_numbers.py::test_functions_enclose_their_values",
)
def the_exponential_has_no_radius(patch):
    form(patch, "exp", lambda exp, x: without_radius(exp(x)))


@noticed(
    "balls",
    canary="known digits",
    test="balls/test_agreement.py::test_the_same_code_gives_the_same",
)
def the_logarithm_has_base_two(patch):
    form(patch, "log", lambda log, x: FUNCTIONS["log2"](x))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_programs.py::test_programs_enclose_their_values",
)
def a_square_root_has_no_radius(patch):
    form(patch, "sqrt", lambda sqrt, x: without_radius(sqrt(x)))


@noticed(
    "balls",
    canary="balls that overlap",
    test="balls/test_guards.py::test_difference_bounds_are_exact",
)
def the_bounds_of_a_ball_are_its_middle(patch):
    around(patch, numbers, "bounds", lambda bounds, x: bounds(exact_middle(x)))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_guards.py::test_overlapping_balls_are_undecided",
)
def overlapping_balls_are_compared_by_their_middles(patch):
    for name, sign in (("lt", "less"), ("le", "less_equal"), ("gt", "greater")):
        guess = getattr(torch, sign)

        def compare(original, x, y, guess=guess):
            x, y = (one.midpoints() if isinstance(one, BallArray) else one for one in (x, y))
            return guess(x, torch.as_tensor(y))

        form(patch, name, compare)


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_guards.py::test_disjoint_balls_and_rationals_are_decided",
)
def a_comparison_of_balls_is_turned_around(patch):
    form(patch, "lt", lambda lt, x, y: FUNCTIONS["gt"](x, y))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_agreement.py::test_the_same_code_gives_the_same",
)
def the_larger_of_two_balls_is_the_first(patch):
    patch.setattr(elementwise, "_maximum", np.frompyfunc(lambda a, b: a, 2, 1))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_programs.py::test_programs_enclose_their_values",
)
def the_absolute_value_of_a_ball_around_zero_is_the_ball(patch):
    def absolute(x):
        return -x if x <= 0 else x

    form(patch, "abs", lambda _, x: wrap(np.frompyfunc(absolute, 1, 1)(x.elements)))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_programs.py::test_programs_enclose_their_values",
)
def a_division_by_a_ball_around_zero_is_finite(patch):
    def division(divide, a, b):
        return divide(a, without_radius(b) if isinstance(b, BallArray) else b)

    around(patch, BallArray, "__truediv__", division)


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_linalg.py::test_a_tensor_stays_on_its_side_of_a_product",
)
def a_product_of_matrices_takes_its_sides_in_the_other_order(patch):
    form(patch, "matmul", lambda matmul, x, y: matmul(y, x))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_linalg.py::test_large_products_go_through_flint_and_agree",
)
def a_product_of_large_matrices_is_rounded(patch):
    around(patch, linalg, "_flint_product", lambda product, x, y: without_radius(product(x, y)))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_agreement.py::test_the_same_code_gives_the_same",
)
def a_sum_leaves_out_its_last_term(patch):
    def short(sum_, x, dim=None, *arguments, **options):
        if dim is None or not isinstance(dim, int):
            return sum_(x, dim, *arguments, **options)
        return sum_(x.narrow(dim, 0, x.shape[dim] - 1), dim, *arguments, **options)

    form(patch, "sum", short)


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_guards.py::test_a_branch_that_is_not_selected_is_unaffected",
)
def where_takes_the_other_side(patch):
    form(patch, "where", lambda where, mask, x, y: where(mask, y, x))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_programs.py::test_programs_enclose_their_values",
)
def a_relu_of_a_ball_around_zero_is_zero(patch):
    relu = np.frompyfunc(lambda x: x if x > 0 else numbers.ZERO, 1, 1)
    patch.setattr(elementwise, "_relu", relu)


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_linalg.py::test_spectra_of_balls_enclose_those_of_every_matrix_inside",
)
def singular_values_have_no_radius(patch):
    form(patch, "linalg_svdvals", lambda svdvals, x, **_: without_radius(svdvals(x)))


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_linalg.py::test_spectra_of_balls_enclose_those_of_every_matrix_inside",
)
def eigenvalues_have_no_radius(patch):
    form(patch, "linalg_eigvalsh", lambda eigvalsh, x, **_: without_radius(eigvalsh(x)))


@noticed(
    "balls", canary="decided at 256 bits", test="balls/test_numbers.py::test_precision_is_a_context"
)
def every_precision_is_that_of_a_double(patch):
    original = numbers.precision
    everywhere(patch, original, lambda bits: original(53))


@noticed(
    "balls",
    canary="a computed float",
    test="balls/test_numbers.py::test_a_computed_float_covers_what_was_meant",
)
def a_computed_float_is_exact(patch):
    patch.setattr(numbers, "constant", lambda value, held: held)


@noticed(
    "balls",
    canary="balls enclose",
    test="balls/test_numbers.py::test_instance_data_is_taken_as_the_dyadic_numbers_it_is",
)
def a_float_of_an_instance_is_rounded_to_single_precision(patch):
    def single(cls, data):
        rounded = data.float().double() if isinstance(data, torch.Tensor) else data
        return cls(conversion.object_array(rounded, conversion.as_it_is))

    patch.setattr(BallArray, "exact", classmethod(single))


@noticed("balls", canary="balls enclose", test="balls/test_guards.py::test_no_way_back_to_floats")
def a_ball_array_becomes_floats_when_asked(patch):
    patch.setattr(BallArray, "tolist", lambda self: self.midpoints().tolist())
    patch.setattr(BallArray, "item", lambda self: self.midpoints().item())
