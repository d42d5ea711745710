"""Random programs: their value at a point of a box lies in their value on the box."""

import random
from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from torch.nn import functional

from rankcheck.balls import BallArray, Undecided, log_pseudo_determinant, numbers, precision

SHARP = 500
STEPS = {
    "exp": torch.exp,
    "sin": torch.sin,
    "tanh": torch.tanh,
    "atan": torch.atan,
    "log": torch.log,
    "sqrt": torch.sqrt,
    "abs": torch.abs,
    "square": torch.square,
    "relu": torch.relu,
    "leaky relu": lambda x: functional.leaky_relu(x, 0.25),
    "two thirds": lambda x: x.abs() ** Fraction(2, 3),
    "divide": lambda x: x / (x.square() + 1),
    "remainder": lambda x: x % 3,
    "where": lambda x: torch.where(x > Fraction(1, 3), x, -x),
    "maximum": lambda x: torch.maximum(x, x.mean()),
    "minimum": lambda x: torch.minimum(x, x.amax(-1, keepdim=True) * 0.5),
    "cumsum": lambda x: x.cumsum(-1),
    "sort": lambda x: x.sort(-1, descending=True).values,
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-1, keepdim=True),
    "3-norm": lambda x: torch.linalg.vector_norm(x, 3, dim=-1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "softmax": lambda x: torch.softmax(x, -1),
    "gram": lambda x: x @ x.mT,
    "singular values": torch.linalg.svdvals,
    "eigenvalues": lambda x: torch.linalg.eigvalsh(x @ x.mT),
    "determinant": lambda x: torch.linalg.det(x @ x.mT),
    "pseudo-inverse": torch.linalg.pinv,
    "pseudo-determinant": log_pseudo_determinant,
}


def box_and_point(rng, shape):
    """Balls and rationals mixed, and a rational point inside."""
    box, point = (np.empty(shape, dtype=object) for _ in range(2))
    radius = fmpq(1, 2 ** rng.choice([2, 5, 10, 40, 100]))
    for index in np.ndindex(shape):
        middle = fmpq(rng.randint(-32, 32), 16)
        exact = rng.random() < 0.3
        box[index] = middle if exact else arb(middle, arb(radius))
        point[index] = middle if exact else middle + fmpq(rng.randint(-8, 8), 8) * radius
    return BallArray(box), BallArray(point)


def run(program, x):
    for step in program:
        x = STEPS[step](x if x.ndim == 2 else x.reshape(-1, 1))
    return x


@pytest.mark.parametrize("seed", range(8))
def test_programs_enclose_their_values(seed):
    rng = random.Random(seed)
    checked = 0
    for _ in range(60):
        program = rng.choices(list(STEPS), k=rng.randint(1, 4))
        box, point = box_and_point(rng, (rng.randint(1, 3), rng.randint(1, 3)))
        try:
            outer = run(program, box)
            with precision(SHARP):
                inner = run(program, point)
                values = [numbers.bounds(x) for x in inner.elements.ravel()]
        except Undecided:
            continue
        assert outer.shape == inner.shape
        for ball, (below, above) in zip(outer.elements.ravel(), values, strict=True):
            if isinstance(ball, arb) and not ball.is_finite():
                continue
            checked += 1
            slack = Fraction(1, 2**200) * (1 + abs(above))
            low, high = numbers.bounds(ball)
            assert low - slack <= above, program
            assert below <= high + slack, program
    assert checked > 60
