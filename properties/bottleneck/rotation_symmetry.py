"""Section 5 of `bottleneck`: the symmetry of rank-one matrix matching, with and without noise."""

from fractions import Fraction

import torch

from rankcheck import bound, construction, costs, eq, identity, leq, linalg, paper
from rankcheck.instances import Source, instances, positive, semi_orthogonal


@instances
def starting_points(source: Source):
    """A start v, a unit vector w, a direction d, a start with the same split along w, a step size."""
    n = source.integer(1, 4)
    Q = semi_orthogonal(source, n, n)
    w, rest = Q[:, 0], Q[:, 1:]
    along, beside = source.tensor(1, low=-1.5, high=1.5), source.tensor(n - 1, low=-1.5, high=1.5)
    turned = semi_orthogonal(source, n - 1, n - 1) @ beside if n > 1 else beside
    v, other = along * w + rest @ beside, -along * w + rest @ turned
    d = source.tensor(n, low=-2.0, high=2.0)
    return v, w, d, other, source.tensor(low=2.0**-8, high=2.0**-5)


@instances
def other_splits(source: Source):
    """The same with a longer part along w in the second start."""
    v, w, d, other, step = starting_points()(source)
    return v, w, d, other + torch.where(w @ other >= 0, w, -w), step


#: A bound on the rounding error of the singular values of the Jacobian of the losses.
RANK_NOISE = 2.0**-40
#: Steps of gradient descent along which losses are compared.
STEPS = 4


def derivatives(v, w, d, E=None):
    """⟨∇C(v), d⟩, the derivative of C along d, and those of the two numbers along v′ = −∇C(v).

    The last three are differences of polynomials of degrees four and two, which are exact.
    """
    gradient = costs.matching_gradient(v, w, E)
    far, near, here, there = (costs.matching_loss(v + t * d, w, E) for t in (-2, -1, 1, 2))
    ahead, behind = costs.split_along(v - gradient, w), costs.split_along(v + gradient, w)
    along, beside = ((a - b) / 2 for a, b in zip(ahead, behind, strict=True))
    return gradient @ d, (8 * (here - near) - (there - far)) / 12, along, beside


def flow_rates(square, along, beside):
    """The two derivatives along the gradient flow, as the paper gives them."""
    return -8 * (square - 1) * along, -8 * square * beside


@identity(
    "bottleneck.rotation-symmetry",
    paper("bottleneck", "§5"),
    instances=starting_points(),
    needs={"the starts agree in both numbers": other_splits()},
    mutants={
        "no pull towards w": {"rates": lambda square, a, b: (-8 * square * a, -8 * square * b)}
    },
)
def test_rotation_symmetry(v, w, d, other, step, *, rates=flow_rates):
    r"""The losses of rank-one matching depend on two numbers of the start alone.

    This is the case $E = 0$; bottleneck.rotation-symmetry-with-noise has the other. Let $C(v) = \|vv^T - ww^T\|_F^2$ with $\|w\| = 1$. Then
    $C = \|v\|^4 - 2 (w^T v)^2 + 1$ and $\nabla C = 4 (\|v\|^2 v - (w^T v) w)$; and along
    $v' = -\nabla C$, $\frac{d}{dt} (w^T v)^2 = -8 (\|v\|^2 - 1) (w^T v)^2$ and
    $\frac{d}{dt} \|(1 - ww^T) v\|^2 = -8 \|v\|^2 \|(1 - ww^T) v\|^2$. Two starts with the same
    $(w^T v)^2$ and $\|(1 - ww^T) v\|^2$ have the same losses along gradient descent.

    Derivatives are differences of polynomials, which are exact, and four steps of descent are
    compared. The flow itself, the limit of small steps, is not checked.
    """
    square, (along, beside) = v @ v, costs.split_along(v, w)
    slope, on_line, rate_along, rate_beside = derivatives(v, w, d)
    due_along, due_beside = rates(square, along, beside)
    here = torch.stack(costs.descent_losses(v, w, step, STEPS))
    there = torch.stack(costs.descent_losses(other, w, step, STEPS))
    loss, size, reach = costs.matching_loss(v, w), 1 + square, 1 + square + 4 * (d @ d)
    steep = size * (1 + size) ** 4
    return (
        eq(loss, square * square - 2 * along + 1, scale=size**2, label="the loss"),
        eq(slope, on_line, scale=reach**2 * 16, label="the gradient"),
        eq(rate_along, due_along, scale=steep, label="along w"),
        eq(rate_beside, due_beside, scale=steep, label="beside w"),
        eq(there, here, scale=size**2, label="path"),
    )


@instances
def noisy_points(source: Source):
    """A point v, a unit vector w, a direction d, and a matrix E of noise, up to 1/4 an entry."""
    n = source.integer(1, 4)
    w = semi_orthogonal(source, n, n)[:, 0]
    v, d = source.tensor(n, low=-2.0, high=2.0), source.tensor(n, low=-2.0, high=2.0)
    return v, w, d, source.tensor(n, n, low=-0.25, high=0.25)


@instances
def worst_noise(source: Source):
    """v along w and E = eww^T, or v = cu with u ⊥ w and E = e(ww^T − uu^T)."""
    n = source.integer(2, 4)
    Q, c, e = semi_orthogonal(source, n, 2), positive(source), positive(source)
    w, u = Q.mT
    if source.choice(("along", "beside")) == "along":
        return c * w, w, u, e * torch.outer(w, w)
    return c * u, w, u, e * (torch.outer(w, w) - torch.outer(u, u))


@instances
def long_targets(source: Source):
    """The same with 2w for the unit vector w."""
    v, w, d, E = noisy_points()(source)
    return v, 2 * w, d, E


@bound(
    "bottleneck.rotation-symmetry-with-noise",
    paper("bottleneck", "§5"),
    instances=noisy_points(),
    tight=worst_noise(),
    needs={"w is a unit vector": long_targets()},
    mutants={"noise that weighs 2 % less": {"weight": 0.98}},
)
def test_rotation_symmetry_with_noise(v, w, d, E, *, weight=1):
    r"""Noise changes the two rates and the loss by a multiple of its norm.

    Let $C(v) = \|vv^T - (ww^T + E)\|_F^2$ with $\|w\| = 1$ and any matrix $E$, and
    $u = (1 - ww^T) v$. Along $v' = -\nabla C$
    $$\Bigl| \frac{d}{dt} (w^T v)^2 + 8 (\|v\|^2 - 1) (w^T v)^2 \Bigr|
        \le 8 |w^T v| \|v\| \|E\|_{op}, \qquad
      \Bigl| \frac{d}{dt} \|u\|^2 + 8 \|v\|^2 \|u\|^2 \Bigr| \le 8 \|u\| \|v\| \|E\|_{op},$$
    and $|C(v) - (\|v\|^4 - 2 (w^T v)^2 + 1)| \le 2 (1 + \|v\|^2) \|E\|_{op} + \|E\|_F^2$. These are the
    terms $O(\|E\|)$ of the source.

    Derivatives are differences of polynomials, which are exact.
    """
    square, (along, beside) = v @ v, costs.split_along(v, w)
    slope, on_line, rate_along, rate_beside = derivatives(v, w, d, E)
    due_along, due_beside = flow_rates(square, along, beside)
    off = costs.matching_loss(v, w, E) - (square * square - 2 * along + 1)
    noise, half = linalg.operator_norm(E), Fraction(1, 2)
    size = 1 + square + noise
    reach, steep = size + 4 * (d @ d), size * (1 + size) ** 4
    error = 2 * (1 + square) * noise + linalg.frobenius_squared(E)
    most_along = 8 * linalg.power(along * square, half) * noise
    most_beside = 8 * linalg.power(beside * square, half) * noise
    return (
        eq(slope, on_line, scale=reach**2 * 16, label="the gradient"),
        leq((rate_along - due_along).abs(), weight * most_along, scale=steep, label="along w"),
        leq((rate_beside - due_beside).abs(), weight * most_beside, scale=steep, label="beside w"),
        leq(off.abs(), weight * error, scale=size**2, label="the loss"),
    )


@instances
def starts_and_a_plane(source: Source):
    """A start v, orthonormal w and u, a step size, and a number T >= 2 of steps."""
    n = source.integer(2, 4)
    w, u = semi_orthogonal(source, n, 2).mT
    v = source.tensor(n, low=-1.5, high=1.5)
    return v, w, u, source.tensor(low=2.0**-8, high=2.0**-5), source.integer(2, 4)


@instances
def starts_on_the_axis(source: Source):
    """The same with u = w, so that the point (w + u)/2 is w."""
    v, w, _, step, T = starts_and_a_plane()(source)
    return v, w, w, step, T


def split_losses_of_the_flow(along, beside, step, steps):
    """One step of Euler for the flow of the two numbers, in place of one of descent for v."""
    losses = []
    for _ in range(steps + 1):
        square = along + beside
        losses.append(square * square - 2 * along + 1)
        first, second = flow_rates(square, along, beside)
        along, beside = along + step * first, beside + step * second
    return tuple(losses)


@construction(
    "bottleneck.symmetry-learning-rank",
    paper("bottleneck", "§5"),
    instances=starts_and_a_plane(),
    needs={"u is orthogonal to w": starts_on_the_axis()},
    mutants={"the flow in place of descent": {"outer": split_losses_of_the_flow}},
    witness=costs.split_losses,
)
def test_symmetry_learning_rank(v, w, u, step, T, *, outer=costs.split_losses):
    r"""The function that predicts the losses of descent has rank two.

    For $E = 0$ and $T \ge 2$ let $f^*(v(0)) = (C(v(1)), \dots, C(v(T)))$ be the losses along gradient
    descent with step size $\eta$. Then $f^* = h \circ (a, b)$ with $a = (w^T v)^2$,
    $b = \|(1 - ww^T) v\|^2$, and the polynomial $h$ that iterates
    $(a, b) \mapsto (a (1 - 4\eta(a + b - 1))^2, b (1 - 4\eta(a + b))^2)$, with the loss
    $(a + b)^2 - 2a + 1$. So $f^*$ factors through $\mathbb R^2$, and no less will do:
    $\operatorname{rank} Jf^*(v) = 2$ at $v = (w + u)/2$, $u \perp w$.

    The source says that $f^*$ has bottleneck rank 2. As its rank is defined with piecewise linear
    factors, and $h$ and $(a, b)$ are polynomials, this is the rank with continuous factors.
    """
    losses = torch.stack(costs.descent_losses(v, w, step, T))
    reduced = torch.stack(outer(*costs.split_along(v, w), step, T))
    rank = linalg.rank(costs.descent_jacobian((w + u) / 2, w, step, T), RANK_NOISE)
    return (
        eq(losses, reduced, scale=(1 + v @ v) ** 2, label="the losses"),
        eq(rank, 2, label="the rank"),
    )
