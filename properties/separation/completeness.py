"""“Legendre polynomials”, “Inner product functions”, “Separable functions” of `separation`: the three
orthonormal systems are complete. Plane waves are expanded in them, with explicit tails."""

from fractions import Fraction

import torch

from rankcheck import leq, limit, linalg, paper, separation
from rankcheck.instances import Source, instances, unit_vectors


def wave(source: Source, d: int):
    """q with ω = π√q ≤ 4π, and a number of degrees from which on the tails are explicit."""
    q = Fraction(source.integer(1, source.choice((8, 64))), 4)
    return q, separation.plane_wave_degrees(d, q) + source.integer(0, 6)


def angle(q, t):
    """ωt = π√q t."""
    return (
        linalg.square_root(q.numerator, t) / linalg.square_root(q.denominator, t) * linalg.pi(t) * t
    )


def partial_sums(d, q, t, basis):
    """The real and the imaginary part of Σ_{k < K} i^k a_k √N P_k(t), for a basis (*t, K)."""
    terms = separation.plane_wave_coefficients(d, q, basis.shape[-1] - 1, t) * basis
    zero = 0 * terms[..., :1]
    terms = torch.cat((terms, zero, zero, zero), -1)
    real = (terms[..., 0::4].sum(-1)) - (terms[..., 2::4].sum(-1))
    return real, terms[..., 1::4].sum(-1) - terms[..., 3::4].sum(-1)


def within(z, sums, tail, *, label):
    """|cos z − real part| and |sin z − imaginary part| are at most the tail."""
    return tuple(
        leq(
            (exact - near).abs(), tail, scale=exact.abs() + near.abs() + 1, label=f"{label}, {part}"
        )
        for part, exact, near in zip(
            ("cos", "sin"), (torch.cos(z), torch.sin(z)), sums, strict=True
        )
    )


def without_multiplicities(d, n, t):
    """P_n in place of √N_{d,n} P_n."""
    return separation.legendre_table(d, n, t)


def next_dimension(d, n, t):
    """The basis of one dimension more."""
    return separation.orthonormal_table(d + 1, n, t)


def of_three_more_degrees(d, q, n, like):
    """The tails from degree n + 3 on, though the degrees below n are summed."""
    return separation.plane_wave_tails(d, q, n + 3, like)


@instances
def waves_on_the_interval(source: Source):
    """d, a wave, a number of degrees, and t in [−1, 1]."""
    d = source.integer(2, source.choice((4, 12)))
    return d, *wave(source, d), source.tensor(low=-1.0, high=1.0)


@limit(
    "separation.legendre-completeness",
    paper("separation", "slide: Legendre polynomials"),
    instances=waves_on_the_interval(),
    mutants={
        "without the multiplicities": {"basis": without_multiplicities},
        "the next dimension": {"basis": next_dimension},
        "tails of three more degrees": {"tails": of_three_more_degrees},
    },
    loose={
        "at a point, cos": "a geometric series bounds the tail for the worst t",
        "at a point, sin": "a geometric series bounds the tail for the worst t",
    },
    witness=separation.plane_wave_coefficients,
)
def test_legendre_completeness(
    d, q, n, t, *, basis=separation.orthonormal_table, tails=separation.plane_wave_tails
):
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
    energy = (a * a).sum()
    sine = separation.sine_coefficients(d, q, n - 1, t)
    odd, whole = (sine * sine).sum(), separation.sine_energy(d, q, t)
    sums = partial_sums(d, q, t, basis(d, n - 1, t))
    one = torch.ones_like(t)
    return (
        leq(energy * one, 1, label="Bessel"),
        leq(one, energy + squares, label="Parseval"),
        leq(odd * one, whole, label="Bessel for the sine"),
        leq(whole * one, odd + squares, label="Parseval for the sine"),
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
    mutants={
        "without the multiplicities": {"basis": without_multiplicities},
        "the next dimension": {"basis": next_dimension},
        "tails of three more degrees": {"tails": of_three_more_degrees},
    },
    loose={
        "at a pair, cos": "a geometric series bounds the tail for the worst pair",
        "at a pair, sin": "a geometric series bounds the tail for the worst pair",
    },
    witness=separation.plane_wave_coefficients,
)
def test_inner_product_completeness(
    d, q, n, x, other, *, basis=separation.orthonormal_table, tails=separation.plane_wave_tails
):
    r"""The functions $h_n(x, x')$ are complete in the functions of $\langle x, x' \rangle$.

    $|e^{i\omega\langle x, x' \rangle} - \sum_{k < n} i^k a_k h_k(x, x')| \le \sum_{k \ge n} N_{d,k}
    c_k$ in both parts at every pair of unit vectors, with the numbers of
    separation.legendre-completeness.

    In the limit $n \to \infty$ the expansion converges uniformly on $S \times S$ for every $\omega$,
    and these functions span a dense subspace of the functions of $\langle x, x' \rangle$. That the
    $h_k$ are orthonormal is separation.inner-product-basis. Checked for $d \le 6$, $\omega \le 4\pi$.
    """
    t = (x * other).sum(-1)
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
    mutants={
        "without the multiplicities": {"basis": without_multiplicities},
        "the next dimension": {"basis": next_dimension},
        "tails of three more degrees": {"tails": of_three_more_degrees},
    },
    loose={
        "at a pair, cos": "geometric series bound the tails for the worst pair",
        "at a pair, sin": "geometric series bound the tails for the worst pair",
    },
    witness=separation.plane_wave_coefficients,
)
def test_separable_completeness(
    d,
    first,
    second,
    n,
    v,
    w,
    x,
    other,
    *,
    basis=separation.orthonormal_table,
    tails=separation.plane_wave_tails,
):
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
    s, t = (v * x).sum(-1), (w * other).sum(-1)
    (squares, uniform), (more_squares, more) = tails(d, first, n, s), tails(d, second, n, s)
    a, b = (separation.plane_wave_coefficients(d, q, n - 1, s) for q in (first, second))
    energy = ((a * a).unsqueeze(-1) * (b * b)).sum()
    (c, e), (f, h) = (
        partial_sums(d, q, place, basis(d, n - 1, place)) for q, place in ((first, s), (second, t))
    )
    sums = c * f - e * h, c * h + e * f
    one = torch.ones_like(s)
    return (
        leq(energy * one, 1, label="Bessel"),
        leq(one, energy + squares + more_squares, label="Parseval"),
        *within(
            angle(first, s) + angle(second, t),
            sums,
            uniform + more + uniform * more,
            label="at a pair",
        ),
    )
