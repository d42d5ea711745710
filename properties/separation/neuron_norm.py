"""Example - conclusion, of `separation`: how large one neuron with bounded weights can be."""

from fractions import Fraction

import torch

from rankcheck import bound, eq, leq, linalg, paper, separation
from rankcheck.instances import Instances, Source, instances, positive, unit_vectors

from ._neurons import directions


@instances
def neurons(source: Source, *, high: int):
    """d, B, and w, w', b and an output weight with entries of at most B in size."""
    d, size = source.integer(2, high), positive(source)
    w, other = (size.unsqueeze(-1) * source.tensor(d, low=-1.0, high=1.0) for _ in range(2))
    b, output = (size * source.tensor(low=-1.0, high=1.0) for _ in range(2))
    return d, size, w, other, b, output


@instances
def largest_neurons(source: Source, *, high: int):
    """Neurons with ±B for all entries of w and w', and b and the output weight equal to B."""
    d, size = source.integer(2, high), positive(source)
    w, other = (
        size.unsqueeze(-1) * torch.where(source.tensor(d) >= 0, 1.0, -1.0) for _ in range(2)
    )
    return d, size, w, other, size, size


@instances
def larger_neurons(source: Source, *, high: int):
    """The same with weights of size 2B."""
    d, size, *entries = largest_neurons(high=high)(source)
    return d, size / 2, *entries


@instances
def with_points(source: Source, *, family: Instances):
    """The neurons of a family, and a point of S × S."""
    neuron = family(source)
    return *neuron, unit_vectors(source, neuron[0]), unit_vectors(source, neuron[0])


@instances
def with_best_points(source: Source, *, family: Instances):
    """The neurons of a family, and the point w/‖w‖, w'/‖w'‖."""
    d, size, w, other, *rest = family(source)
    return d, size, w, other, *rest, directions(w), directions(other)


@instances
def with_equal_bounds(source: Source):
    """The largest neurons, or w = w' = 0 and the bias alone."""
    d, size, w, other, *rest = largest_neurons(high=5)(source)
    factor = source.choice((1, 0))
    return d, size, factor * w, factor * other, *rest


def of_two_spheres(d, size):
    """B(1 + √(4d))."""
    return size * separation.neuron_norm_bound(d, 1, size)


def of_one_sphere(d, size):
    """B(1 + √d): the bound for a neuron on one sphere."""
    return size * (1 + linalg.square_root(d, size))


@bound(
    "separation.neuron-norm",
    paper("separation", "slide: Example - conclusion"),
    instances=with_points(family=neurons(high=12)),
    tight=with_best_points(family=largest_neurons(high=12)),
    needs={"all weights are at most B": with_points(family=larger_neurons(high=12))},
    mutants={"the bound for one sphere": {"largest": of_one_sphere}},
)
def test_neuron_norm(d, size, w, other, b, output, x, y, *, largest=of_two_spheres):
    r"""A neuron with weights of at most B is at most B²(1 + √(4d)) on S × S.

    $|u\,\sigma(\langle w, x \rangle + \langle w', x' \rangle + b)| \le
    |u|\,[\|w\| + \|w'\| + b]_+ \le B^2 (1 + \sqrt{4d})$ on $S^{d-1} \times S^{d-1}$ if no entry of
    $w$, $w'$, $b$, $u$ exceeds $B$ in size, since $\|w\|, \|w'\| \le B\sqrt d$. $B = 2^d$ gives the
    $2^{2d}(1 + \sqrt{4d})$ of the slides, which bounds the $L^2$ norm too.

    The maximum of $\sigma$ is attained at $x = w/\|w\|$, $x' = w'/\|w'\|$.
    """
    lengths = [linalg.power((a * a).sum(-1), Fraction(1, 2)) for a in (w, other)]
    first, second = directions(w), directions(other)

    def neuron(point, other_point):
        return torch.relu((w * point).sum(-1) + (other * other_point).sum(-1) + b)

    supremum = separation.neuron_supremum(w, other, b)
    scale = lengths[0] + lengths[1] + b.abs()
    return (
        leq(neuron(x, y), supremum, scale=scale, label="at a point"),
        eq(neuron(first, second), supremum, scale=scale, label="where it is reached"),
        leq(output.abs() * supremum, size * largest(d, size), label="the bound"),
    )


@bound(
    "separation.neuron-second-moment",
    paper("separation", "slide: Example - conclusion"),
    instances=neurons(high=5),
    tight=with_equal_bounds(),
    needs={"all weights are at most B": larger_neurons(high=5)},
    mutants={
        "√2·B for √3·B": {"summands": 2},
        "a quarter of the norm on the diagonal": {"half": Fraction(1, 4)},
    },
    loose={
        "the diagonal": "|z| has a mean, and parts beside the diagonal; best ratio 0.56, in d = 2"
    },
    no_ball="points of the rules are zeros of polynomials, computed in floats",
)
def test_neuron_second_moment(d, size, w, other, b, output, *, summands=3, half=Fraction(1, 2)):
    r"""The L² norm of a neuron is at most √3·B, before its output weight.

    With $z = \langle w, x \rangle + \langle w', x' \rangle + b$ on $S^{d-1} \times S^{d-1}$:
    $E[z]_+^2 \le E z^2 = \|w\|^2/d + \|w'\|^2/d + b^2 \le 3B^2$ if no entry of $w$, $w'$, $b$
    exceeds $B$ in size. The square of the maximum is larger by a factor of order $d$. Of this norm
    at most half is in products of harmonics of equal degrees $i \ge 1$: $\|Q_1 [z]_+\| \le \frac12
    \|z\|$, as $[z]_+ = \frac12 (z + |z|)$ and $Q_1 z = 0$. This gives the sharper width
    (separation.width-lower-bound).

    $E z^2$ is computed by a rule on the sphere that is exact for squares, $E[z]_+^2$ and the
    coefficients up to degree 7 by Gauss quadrature over the two inner products; the inequalities
    hold for the measure of the rule as well. Proof: docs/proofs/width-of-depth-two.md.
    """
    moment = separation.neuron_second_moment(w, other, b)
    points, weights = (array.to(w.device) for array in separation.sphere_rule(d, 2))
    z = (w @ points.mT).unsqueeze(-1) + (other @ points.mT).unsqueeze(-2) + b[..., None, None]
    square = (z * z * weights * weights.unsqueeze(-1)).sum((-2, -1))
    beta, norm = separation.neuron_coefficients(d, w, other, b, 7, 8)
    diagonal = separation.diagonal_norms(beta.unsqueeze(-3), 1).squeeze(-1)
    return (
        eq(square, moment, label="the second moment"),
        leq(norm * norm, moment, label="the norm"),
        leq(moment, summands * size * size, label="the bound"),
        leq(
            diagonal,
            linalg.scalar(half, moment) * torch.sqrt(moment),
            scale=torch.sqrt(moment),
            label="the diagonal",
        ),
    )
