"""The three orthonormal systems of `separation` are complete: plane waves have small tails."""

from fractions import Fraction
from typing import Any

import torch

from rankcheck import eq, identity, leq, limit, linalg, paper, separation
from rankcheck.instances import Source, instances, unit_vectors


def wave(source: Source, d: int):
    """q with ω = π√q ≤ 4π, and a number of degrees from which on the tails are explicit."""
    q = Fraction(source.integer(1, source.choice((8, 64))), 4)
    return q, separation.plane_wave_degrees(d, q) + source.integer(0, 6)


def angle(q, t):
    """ωt = π√q t."""
    root = linalg.square_root(q.numerator, t) / linalg.square_root(q.denominator, t)
    return root * linalg.pi(t) * t


def partial_sums(d, q, t, basis):
    """The real and the imaginary part of Σ_{k < K} i^k a_k √N P_k(t), for a basis (K)."""
    terms = separation.plane_wave_coefficients(d, q, basis.shape[-1] - 1, t) * basis
    first, second, third, fourth = (terms[k::4].sum() for k in range(4))
    return first - third, second - fourth


def within(z, sums, tail, *, label):
    """|cos z − real part| and |sin z − imaginary part| are at most the tail."""
    relations = []
    for part, exact, near in zip(("cos", "sin"), (torch.cos(z), torch.sin(z)), sums, strict=True):
        scale = exact.abs() + near.abs() + 1
        relations.append(leq((exact - near).abs(), tail, scale=scale, label=f"{label}, {part}"))
    return tuple(relations)


def next_dimension(d, n, t):
    """The basis of one dimension more."""
    return separation.orthonormal_table(d + 1, n, t)


def of_three_more_degrees(d, q, n, like):
    """The tails from degree n + 3 on, though the degrees below n are summed."""
    return separation.plane_wave_tails(d, q, n + 3, like)


BASIS, TAILS = separation.orthonormal_table, separation.plane_wave_tails
MUTANTS: dict[str, dict[str, Any]] = {
    "without the multiplicities": {"basis": separation.legendre_table},
    "the next dimension": {"basis": next_dimension},
    "tails of three more degrees": {"tails": of_three_more_degrees},
}


@instances
def waves_on_the_interval(source: Source):
    """d, a wave, a number of degrees, and t in [−1, 1]."""
    d = source.integer(2, source.choice((4, 12)))
    return d, *wave(source, d), source.tensor(low=-1.0, high=1.0)


@limit(
    "separation.legendre-completeness",
    paper("separation", "slide: Legendre polynomials"),
    instances=waves_on_the_interval(),
    mutants=MUTANTS,
    loose={
        "at a point, cos": "a geometric series bounds the tail for the worst t",
        "at a point, sin": "a geometric series bounds the tail for the worst t",
    },
    witness=separation.plane_wave_coefficients,
)
def test_legendre_completeness(d, q, n, t, *, basis=BASIS, tails=TAILS):
    r"""The Legendre polynomials are a complete system: Parseval for plane waves, with the tail.

    With $a_k = \sqrt{N_{d,k}}\,\Gamma(d/2)\,(2/\omega)^{d/2-1} J_{k+d/2-1}(\omega)$,
    $c_k = \Gamma(d/2)(\omega/2)^k/\Gamma(k+d/2)$, and $n$ so large that the terms of the series
    decay by half from there on: $1 - \sum_{k \ge n} N_{d,k} c_k^2 \le \sum_{k < n} a_k^2 \le 1 =
    \|e^{i\omega t}\|^2$; $\|\sin(\omega t)\|^2 - \sum_{k \ge n} N_{d,k} c_k^2 \le
    \sum_{k < n,\,k\text{ odd}} a_k^2 \le \|\sin(\omega t)\|^2$ in $L^2(\mu_d)$; and
    $|e^{i\omega t} - \sum_{k < n} i^k a_k \sqrt{N_{d,k}} P_k(t)| \le \sum_{k \ge n} N_{d,k} c_k$ in
    both parts, at every $t \in [-1, 1]$. The tails are bounded by geometric series.

    The limit $n \to \infty$ is Parseval's identity for $e^{i\omega t}$ for every $\omega$, and these
    functions span a dense subspace of $L^2(\mu_d)$. Checked for $d \le 12$, $\omega \le 4\pi$.
    """
    squares, uniform = tails(d, q, n, t)
    a = separation.plane_wave_coefficients(d, q, n - 1, t)
    sine = separation.sine_coefficients(d, q, n - 1, t)
    energy, odd, whole = a @ a, sine @ sine, separation.sine_energy(d, q, t)
    sums = partial_sums(d, q, t, basis(d, n - 1, t))
    return (
        leq(energy, 1, label="Bessel"),
        leq(1, energy + squares, label="Parseval"),
        leq(odd, whole, label="Bessel for the sine"),
        leq(whole, odd + squares, label="Parseval for the sine"),
        *within(angle(q, t), sums, uniform, label="at a point"),
    )


@instances
def waves_at_pairs(source: Source):
    """d, a wave, a number of degrees, and two unit vectors."""
    d = source.integer(2, 6)
    return d, *wave(source, d), unit_vectors(source, d), unit_vectors(source, d)


@limit(
    "separation.inner-product-completeness",
    paper("separation", "slide: Inner product functions"),
    instances=waves_at_pairs(),
    mutants=MUTANTS,
    loose={
        "at a pair, cos": "a geometric series bounds the tail for the worst pair",
        "at a pair, sin": "a geometric series bounds the tail for the worst pair",
    },
    witness=separation.plane_wave_coefficients,
)
def test_inner_product_completeness(d, q, n, x, other, *, basis=BASIS, tails=TAILS):
    r"""The functions $h_n(x, x')$ are complete in the functions of $\langle x, x' \rangle$.

    $|e^{i\omega\langle x, x' \rangle} - \sum_{k < n} i^k a_k h_k(x, x')| \le \sum_{k \ge n} N_{d,k}
    c_k$ in both parts at every pair of unit vectors, with the numbers of
    separation.legendre-completeness.

    In the limit $n \to \infty$ the expansion converges uniformly on $S \times S$ for every $\omega$,
    and these functions span a dense subspace of the functions of $\langle x, x' \rangle$. That the
    $h_k$ are orthonormal is separation.inner-product-basis. Checked for $d \le 6$, $\omega \le 4\pi$.
    """
    t = x @ other
    _, uniform = tails(d, q, n, t)
    sums = partial_sums(d, q, t, basis(d, n - 1, t))
    return within(angle(q, t), sums, uniform, label="at a pair")


@instances
def pairs_of_waves(source: Source):
    """d, two waves, a number of degrees for both, unit vectors v, v', and two unit vectors x, x'."""
    d = source.integer(2, 6)
    first, one = wave(source, d)
    second, other = wave(source, d)
    return d, first, second, max(one, other), *(unit_vectors(source, d) for _ in range(4))


@limit(
    "separation.separable-completeness",
    paper("separation", "slide: Separable functions"),
    instances=pairs_of_waves(),
    mutants=MUTANTS,
    loose={
        "at a pair, cos": "geometric series bound the tails for the worst pair",
        "at a pair, sin": "geometric series bound the tails for the worst pair",
    },
    witness=separation.plane_wave_coefficients,
)
def test_separable_completeness(d, first, second, n, v, w, x, other, *, basis=BASIS, tails=TAILS):
    r"""The products of zonal functions are complete in the separable functions: plane waves.

    For $g(x, x') = e^{i(\omega \langle v, x \rangle + \omega' \langle v', x' \rangle)}$, a
    $(v, v')$-separable function, $\beta_{kl} = i^{k+l} a_k a'_l$ has $1 - T - T' \le \sum_{k, l < n}
    |\beta_{kl}|^2 \le 1 = \|g\|^2$, and $|g - \sum_{k, l < n} \beta_{kl} L_k^v(x) L_l^{v'}(x')| \le U
    + U' + UU'$ in both parts at every pair of unit vectors, with the numbers $a_k$, $T = \sum_{k \ge
    n} N_{d,k} c_k^2$ and $U = \sum_{k \ge n} N_{d,k} c_k$ of separation.legendre-completeness.

    In the limit $n \to \infty$ this is Parseval's identity and uniform convergence, for all $\omega$
    and $\omega'$, and these functions span a dense subspace of the $(v, v')$-separable functions.
    Checked for $d \le 6$ and frequencies of at most $4\pi$.
    """
    s, t = v @ x, w @ other
    (squares, uniform), (more_squares, more) = tails(d, first, n, s), tails(d, second, n, s)
    a, b = (separation.plane_wave_coefficients(d, q, n - 1, s) for q in (first, second))
    energy = (a @ a) * (b @ b)
    c, e = partial_sums(d, first, s, basis(d, n - 1, s))
    f, h = partial_sums(d, second, t, basis(d, n - 1, t))
    z, tail = angle(first, s) + angle(second, t), uniform + more + uniform * more
    return (
        leq(energy, 1, label="Bessel"),
        leq(1, energy + squares + more_squares, label="Parseval"),
        *within(z, (c * f - e * h, c * h + e * f), tail, label="at a pair"),
    )


@instances
def expansions(source: Source):
    """d ≥ 2 and the coefficients of two inner-product functions, in h_0, ..., h_n."""
    d = source.integer(2, 4)
    n = source.integer(0, 10 - 2 * d)
    return d, source.tensor(n + 1), source.tensor(n + 1)


@identity(
    "separation.inner-product-basis",
    paper("separation", "slide: Inner product functions"),
    instances=expansions(),
    mutants={"without the multiplicities": {"basis": separation.legendre_table}},
    no_ball="the points of the rule on the sphere are zeros of polynomials, computed in floats",
    witness=separation.sphere_rule,
)
def test_inner_product_basis(d, alpha, gamma, *, basis=separation.orthonormal_table):
    r"""The functions $h_n(x, x') = \sqrt N P_n(\langle x, x' \rangle)$ are orthonormal on $S \times S$.

    $\langle \sum_i \alpha_i h_i, \sum_i \gamma_i h_i \rangle_{L^2(S \times S)} =
    \sum_i \alpha_i \gamma_i$ with $h_n(x, x') = \sqrt{N_{d,n}}\,P_n(\langle x, x' \rangle)$:
    orthonormality, and Parseval's identity for $\gamma = \alpha$.

    Checked by a double sum over the points of a rule on the sphere that is exact for these degrees,
    without reduction to $\mu_d$. That every inner-product function is a limit of such sums is
    separation.inner-product-completeness.
    """
    n = len(alpha) - 1
    points, weights = (array.to(alpha.device) for array in separation.sphere_rule(d, 2 * n))
    table = basis(d, n, points @ points.mT).reshape(-1, n + 1)
    gram = table.mT @ (torch.outer(weights, weights).reshape(-1, 1) * table)
    relations = []
    for name, other in (("orthonormality", gamma), ("Parseval", alpha)):
        scale = ((alpha @ alpha) * (other @ other)).sqrt()
        inner = alpha @ gram @ other
        relations.append(eq(inner, alpha @ other, scale=scale, terms=2**12, label=name))
    return tuple(relations)
