"""Section 5 of `bottleneck`: the symmetry of rank-one matrix matching."""

import torch

from rankcheck import eq, identity, paper
from rankcheck.costs.rank_one_matching import (
    descent_losses,
    matching_gradient,
    matching_loss,
    split_along,
)
from rankcheck.instances.matrices import semi_orthogonal
from rankcheck.instances.source import Source, instances


@instances
def starting_points(source: Source):
    """A start v, a unit vector w, a direction d, a start with the same split along w, a step size."""
    n = source.integer(1, 4)
    Q = semi_orthogonal(source, n, n)
    w, rest = Q[..., 0], Q[..., 1:]
    along, beside = source.tensor(1, low=-1.5, high=1.5), source.tensor(n - 1, low=-1.5, high=1.5)
    turned = beside
    if n > 1:
        turned = (semi_orthogonal(source, n - 1, n - 1) @ beside.unsqueeze(-1)).squeeze(-1)
    v = along * w + (rest @ beside.unsqueeze(-1)).squeeze(-1)
    other = -along * w + (rest @ turned.unsqueeze(-1)).squeeze(-1)
    d = source.tensor(n, low=-2.0, high=2.0)
    return v, w, d, other, source.tensor(low=2.0**-8, high=2.0**-5)


@instances
def other_splits(source: Source):
    """The same with a longer part along w in the second start."""
    v, w, d, other, step = starting_points()(source)
    along = (w * other).sum(-1, keepdim=True)
    return v, w, d, other + torch.where(along >= 0, w, -w), step


#: Steps of gradient descent along which losses are compared.
STEPS = 4


def slope_of_a_quartic(f):
    """The derivative at 0 of a polynomial of degree four from its values at ±1, ±2: exact."""
    return (8 * (f(1) - f(-1)) - (f(2) - f(-2))) / 12


def slope_of_a_square(f):
    """The derivative at 0 of a polynomial of degree two: exact."""
    return (f(1) - f(-1)) / 2


def flow_rates(square, along, beside):
    """The two derivatives along the gradient flow, as the paper gives them."""
    return -8 * (square - 1) * along, -8 * square * beside


def flow_rates_without_target(square, along, beside):
    """The same without the pull towards w."""
    return -8 * square * along, -8 * square * beside


@identity(
    "bottleneck.rotation-symmetry",
    paper("bottleneck", "§5"),
    instances=starting_points(),
    needs={"the starts agree in both numbers": other_splits()},
    mutants={"no pull towards w": {"rates": flow_rates_without_target}},
)
def test_rotation_symmetry(v, w, d, other, step, *, rates=flow_rates):
    r"""The losses of rank-one matching depend on two numbers of the start alone.

    Let $C(v) = \|vv^T - ww^T\|_F^2$ with $\|w\| = 1$. Then
    $C = \|v\|^4 - 2 (w^T v)^2 + 1$ and $\nabla C = 4 (\|v\|^2 v - (w^T v) w)$; and along
    $v' = -\nabla C$, $\frac{d}{dt} (w^T v)^2 = -8 (\|v\|^2 - 1) (w^T v)^2$ and
    $\frac{d}{dt} \|(1 - ww^T) v\|^2 = -8 \|v\|^2 \|(1 - ww^T) v\|^2$. Two starts with the same
    $(w^T v)^2$ and $\|(1 - ww^T) v\|^2$ have the same losses along gradient descent.

    Derivatives are differences of polynomials, which are exact, and four steps of descent are
    compared. The flow itself, the limit of small steps, is not checked.
    """
    square, (along, beside) = (v * v).sum(-1), split_along(v, w)
    gradient = matching_gradient(v, w)
    on_line = slope_of_a_quartic(lambda t: matching_loss(v + t * d, w))
    rate_along = slope_of_a_square(lambda t: split_along(v - t * gradient, w)[0])
    rate_beside = slope_of_a_square(lambda t: split_along(v - t * gradient, w)[1])
    expected_along, expected_beside = rates(square, along, beside)
    here, there = descent_losses(v, w, step, STEPS), descent_losses(other, w, step, STEPS)
    size = 1 + square
    reach = 1 + square + 4 * (d * d).sum(-1)
    steep = size * (1 + size) ** 4
    return (
        eq(matching_loss(v, w), square * square - 2 * along + 1, scale=size**2, label="the loss"),
        eq((gradient * d).sum(-1), on_line, scale=reach**2 * 16, label="the gradient"),
        eq(rate_along, expected_along, scale=steep, label="along w"),
        eq(rate_beside, expected_beside, scale=steep, label="beside w"),
        eq(torch.stack(there, -1), torch.stack(here, -1), scale=(size**2)[..., None], label="path"),
    )
