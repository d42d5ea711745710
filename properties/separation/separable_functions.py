"""“Separable functions” of `separation`: harmonics, inner products of zonal functions, and neurons."""

import math
from fractions import Fraction
from typing import Any

import torch

from rankcheck import (
    Erratum,
    Network,
    bound,
    eq,
    identity,
    leq,
    linalg,
    paper,
    separation,
    tolerances,
)
from rankcheck.instances import Instances, Source, instances, positive, unit_vectors

from ._helpers import directions


@instances
def dimensions_and_degrees(source: Source):
    """d ≥ 2 and n ≥ 0: small, and large enough for N_{d,n} of hundreds of digits."""
    return source.integer(2, source.choice((6, 500))), source.integer(0, source.choice((6, 500)))


@instances
def circles(source: Source):
    """d = 2 and n ≥ 1, where N_{d,n} is 2 for every n."""
    return 2, source.integer(1, 500)


def without_the_second_binomial(d, n):
    """The number of all homogeneous polynomials of degree n, not of the harmonic ones."""
    return math.comb(d + n - 1, d - 1)


def quotient(d, n):
    """(2n + d − 2)(n + d − 3)!/(n! (d − 2)!), and 1 for n = 0, where d = 2 would give 0 · (−1)!."""
    if n == 0:
        return 1
    product = (2 * n + d - 2) * math.factorial(n + d - 3)
    return product // (math.factorial(n) * math.factorial(d - 2))


@identity(
    "separation.multiplicity",
    paper("separation", "slide: Legendre polynomials"),
    instances=dimensions_and_degrees(),
    tight=circles(),
    mutants={"without the second binomial": {"number": without_the_second_binomial}},
    errata=Erratum(
        printed="$N_{n,d} = C(d+n-1, d-1) - C(d+n-3, d-1)$",
        right="$N_{d,n}$ on the left, as everywhere else: the dimension comes first.",
        survives="All of it.",
    ),
)
def test_multiplicity(d, n, *, number=separation.multiplicity):
    r"""The multiplicities $N_{d,n}$: closed forms, their sum over degrees, and their growth.

    $N_{d,n} = \binom{d+n-1}{d-1} - \binom{d+n-3}{d-1} = \frac{(2n+d-2)(n+d-3)!}{n!\,(d-2)!}$ ($1$
    for $n = 0$), $N_{2,n} = 2$ for $n \ge 1$, $\sum_{k \le n} N_{d,k} = N_{d+1,n}$, and $N_{d,n}$
    does not decrease in $n$; for $d \ge 3$ it grows by at least 2 (here: in dimension $d + 1$).

    The sum comes from restricting harmonics in $d + 1$ variables to the equator. Checked in exact
    integers, for $d$ and $n$ up to 500.
    """
    value, above = number(d, n), number(d + 1, n)
    restricted = sum(number(d, k) for k in range(n + 1))
    return (
        eq(value, quotient(d, n), label="the quotient of factorials"),
        eq(restricted, above, label="the sum over degrees"),
        leq(value, number(d, n + 1), label="growth"),
        leq(above + 2, number(d + 1, n + 1), label="growth by two"),
        eq(number(2, n + 1), 2, label="the circle"),
    )


@instances
def zonal_functions(source: Source, *, dimension: int, degree: int):
    """d ≥ 2, three degrees, all equal in half of the draws, and two unit vectors."""
    d, i = source.integer(2, dimension), source.integer(0, degree)
    others = source.integer(0, 1) > 0
    j, k = (source.integer(0, degree) if others else i for _ in range(2))
    return d, i, j, k, unit_vectors(source, d), unit_vectors(source, d)


def of_the_next_dimension(d, i, j, c):
    """The formula with P_i of dimension d + 1."""
    return separation.zonal_inner_product(d + 1, i, j, c)


def without_the_root(d, i, j, k, c):
    """P_i(⟨v, v′⟩), not divided by √N_{d,i}."""
    return separation.zonal_inner_product(d, i, j, c) if j == k else torch.zeros_like(c)


MUTANTS: dict[str, dict[str, Any]] = {
    "P of the next dimension": {"zonal": of_the_next_dimension},
    "without √N": {"cross": without_the_root},
}


@identity(
    "separation.zonal-inner-products",
    paper("separation", "slide: Separable functions"),
    instances=zonal_functions(dimension=8, degree=5),
    mutants=MUTANTS,
    witness=separation.zonal_by_moments,
)
def test_zonal_inner_products(
    d, i, j, k, v, w, *, zonal=separation.zonal_inner_product, cross=separation.cross_inner_product
):
    r"""Inner products of zonal functions, from the moments of the sphere.

    With $L_n^v(x) = h_n(v, x)$ and unit vectors $v, v'$: $\langle L_i^v, L_j^{v'} \rangle =
    \delta_{ij} P_i(\langle v, v' \rangle)$ and $\langle h_i, L_j^v \otimes L_k^{v'} \rangle =
    \delta_{ij} \delta_{ik} P_i(\langle v, v' \rangle)/\sqrt{N_{d,i}}$.

    The left sides come from the moments of the sphere (pairings). They are polynomials in
    $\langle v, v' \rangle$ with rational coefficients, on balls exact but for one square root.
    """
    c = v @ w
    one, top = torch.ones_like(c), max(i, j, k)
    of_two = separation.zonal_by_moments(d, i, j, c)
    of_three = separation.cross_by_moments(d, i, j, k, c)
    return (
        eq(of_two, zonal(d, i, j, c), scale=4**i * one, label="L with L"),
        eq(of_three, cross(d, i, j, k, c), scale=4**top * one, label="h with L ⊗ L"),
    )


@identity(
    "separation.zonal-inner-products-by-quadrature",
    paper("separation", "slide: Separable functions"),
    instances=zonal_functions(dimension=30, degree=12),
    mutants=MUTANTS,
    witness=separation.zonal_by_quadrature,
    no_ball="Gauss nodes are zeros of polynomials, computed in floats",
)
def test_zonal_inner_products_by_quadrature(
    d, i, j, k, v, w, *, zonal=separation.zonal_inner_product, cross=separation.cross_inner_product
):
    r"""Inner products of zonal functions, by quadrature.

    The identities of separation.zonal-inner-products for degrees up to 12 in dimensions up to 30,
    with the left sides from Gauss quadrature over the coordinates along and across $v$, first over
    $x$, then over $x'$.
    """
    c = v @ w
    one = torch.ones_like(c)
    of_two = separation.zonal_by_quadrature(d, i, j, c)
    of_three = separation.cross_by_quadrature(d, i, j, k, c)
    return (
        eq(of_two, zonal(d, i, j, c), scale=one, terms=2**14, label="L with L"),
        eq(of_three, cross(d, i, j, k, c), scale=one, terms=2**14, label="h with L ⊗ L"),
    )


def neuron(source: Source, d: int):
    """One hidden neuron on (x, x'): widths 2d, 1, 1."""
    weights = (source.tensor(1, 2 * d), source.tensor(1, 1))
    return Network(weights, (source.tensor(1), source.tensor(1)))


def reflected(x, normal):
    """x reflected along the vector `normal`, and x itself where that vanishes."""
    square = normal @ normal
    return x - 2 * (x @ normal) / torch.where(square == 0, 1.0, square) * normal


def orthogonal_part(u, v):
    """|v|² times the part of u orthogonal to v; 0 where they are nearly parallel and it cancels."""
    length = v @ v
    part = u * length - v * (u @ v)
    return torch.where(part @ part <= 2**-8 * (u @ u) * length**2, torch.zeros_like(part), part)


@instances
def neurons_at_reflected_points(source: Source):
    """A neuron, a pair of points, and the pair reflected along vectors orthogonal to v and v'."""
    d = source.integer(2, 6)
    net = neuron(source, d)
    v, w = net.weights[0][0, :d], net.weights[0][0, d:]
    first, second = source.tensor(d), source.tensor(d)
    x, other = unit_vectors(source, d), unit_vectors(source, d)
    moved = reflected(x, orthogonal_part(first, v)), reflected(other, orthogonal_part(second, w))
    return net, x, other, *moved


@instances
def neurons_at_other_points(source: Source):
    """A neuron and two independent pairs of points."""
    d = source.integer(2, 6)
    return neuron(source, d), *(unit_vectors(source, d) for _ in range(4))


@identity(
    "separation.neuron-is-separable",
    paper("separation", "slide: Separable functions"),
    instances=neurons_at_reflected_points(),
    needs={"the inner products with v and v′ are the same": neurons_at_other_points()},
    audit="left out: an identity of the formulas: both sides are the same for every network",
)
def test_neuron_is_separable(net, x, other, moved, other_moved):
    r"""A neuron is a separable function.

    $\sigma(\langle v, x \rangle + \langle v', x' \rangle + b)$ depends on
    $(\langle v, x \rangle, \langle v', x' \rangle)$ only.

    Checked: it takes the same value at a point of $S \times S$ and at its image under reflections
    that fix $v$ and $v'$.
    """
    before, after = torch.cat((x, other)), torch.cat((moved, other_moved))
    # A reflection mixes the entries of x: what cancels is of the size of v, not of v·|x|.
    scale = tolerances.network_scale(net, torch.ones_like(before))
    return eq(net(before), net(after), scale=scale)


@instances
def neurons(source: Source, *, high: int):
    """d, B, and w, w', b and an output weight with entries of at most B in size."""
    d, size = source.integer(2, high), positive(source)
    w, other = (size * source.tensor(d, low=-1.0, high=1.0) for _ in range(2))
    b, output = (size * source.tensor(low=-1.0, high=1.0) for _ in range(2))
    return d, size, w, other, b, output


@instances
def largest_neurons(source: Source, *, high: int):
    """Neurons with ±B for all entries of w and w', and b and the output weight equal to B."""
    d, size = source.integer(2, high), positive(source)
    w, other = (torch.where(source.tensor(d) >= 0, size, -size) for _ in range(2))
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


def of_one_sphere(d, bound, like):
    """B(1 + √d): the bound for a neuron on one sphere."""
    return bound * (1 + linalg.square_root(d, like))


@bound(
    "separation.neuron-norm",
    paper("separation", "slide: Example - conclusion"),
    instances=with_points(family=neurons(high=12)),
    tight=with_best_points(family=largest_neurons(high=12)),
    needs={"all weights are at most B": with_points(family=larger_neurons(high=12))},
    mutants={"the bound for one sphere": {"largest": of_one_sphere}},
)
def test_neuron_norm(d, size, w, other, b, output, x, y, *, largest=separation.neuron_norm_bound):
    r"""A neuron with weights of at most B is at most B²(1 + √(4d)) on S × S.

    $|u\,\sigma(\langle w, x \rangle + \langle w', x' \rangle + b)| \le
    |u|\,[\|w\| + \|w'\| + b]_+ \le B^2 (1 + \sqrt{4d})$ on $S^{d-1} \times S^{d-1}$ if no entry of
    $w$, $w'$, $b$, $u$ exceeds $B$ in size, since $\|w\|, \|w'\| \le B\sqrt d$. $B = 2^d$ gives the
    $2^{2d}(1 + \sqrt{4d})$ of the slides, which bounds the $L^2$ norm too.

    The maximum of $\sigma$ is attained at $x = w/\|w\|$, $x' = w'/\|w'\|$.
    """
    at_a_point = torch.relu(w @ x + other @ y + b)
    reached = torch.relu(w @ directions(w) + other @ directions(other) + b)
    supremum = separation.neuron_supremum(w, other, b)
    scale = separation.neuron_supremum(w, other, b.abs())
    return (
        leq(at_a_point, supremum, scale=scale, label="at a point"),
        eq(reached, supremum, scale=scale, label="where it is reached"),
        leq(output.abs() * supremum, size * size * largest(d, 1, size), label="the bound"),
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
    z = (points @ w).unsqueeze(-1) + points @ other + b
    beta, norm = separation.neuron_coefficients(d, w, other, b, 7, 8)
    diagonal, root = separation.diagonal_norms(beta, 1), torch.sqrt(moment)
    return (
        eq(weights @ (z * z) @ weights, moment, label="the second moment"),
        leq(norm * norm, moment, label="the norm"),
        leq(moment, summands * size * size, label="the bound"),
        leq(diagonal, linalg.scalar(half, moment) * root, scale=root, label="the diagonal"),
    )
