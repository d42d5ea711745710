"""Main result of `separation`: inner-product functions are far from sums of separable functions."""

import torch

from rankcheck import Erratum, Need, bound, leq, linalg, paper, separation
from rankcheck.instances import Source, instances, unit_vectors

from ._helpers import neurons_and_constant


@instances
def separable_sums(source: Source):
    """F, n, and all β^j_{kl} of r separable functions, half of them small or of fewer degrees."""
    d, degrees = source.integer(2, 8), source.integer(1, 5)
    alpha = source.tensor(degrees + source.choice((0, 3)))
    n, r = source.integer(0, degrees - 1), source.integer(1, 4)
    beta = source.tensor(r, degrees, degrees) / source.choice((1, 64))
    return d, n, alpha, beta, unit_vectors(source, r, d), unit_vectors(source, r, d)


@instances
def small_and_aligned(source: Source):
    """F = a h_n and g = s L_n^v ⊗ L_n^v for a small s > 0, where the two sides differ by s²."""
    d, n = source.integer(2, 8), source.integer(0, 4)
    one = linalg.eye(n + 1, source.tensor())[n]
    a, s = source.tensor(low=0.5, high=2.0), source.tensor(low=2.0**-14, high=2.0**-12)
    v = unit_vectors(source, 1, d)
    return d, n, a * one, s * torch.outer(one, one).unsqueeze(0), v, v


@instances
def vectors_of_length_two(source: Source):
    """The same, with a v of length 2."""
    d, n, alpha, beta, v, w = small_and_aligned()(source)
    return d, n, alpha, beta, 2 * v, w


def with_a_larger_multiplicity(d, n, alpha, norms):
    """√N_{d+1,n+1} in place of √N_{d,n}: all degrees of F are raised by one."""
    raised = torch.cat((alpha.new_zeros(1), alpha))
    return separation.main_lower_bound(d + 1, n + 1, raised, norms)


def without_the_factor_two(d, n, alpha, norms):
    """Σ‖g_j‖ in place of 2 Σ‖g_j‖."""
    return separation.main_lower_bound(d, n, alpha, norms / 2)


@bound(
    "separation.main-theorem",
    paper("separation", "slide: Main result"),
    instances=separable_sums(),
    tight=small_and_aligned(),
    needs={"v and v′ are unit vectors": vectors_of_length_two()},
    mutants={
        "a larger multiplicity": {"lower": with_a_larger_multiplicity},
        "without the factor two": {"lower": without_the_factor_two},
    },
    witness=separation.main_lower_bound,
    errata=(
        Erratum(
            printed=r"$\|F - \sum g_j\|^2 = \|P_nF\| (\|P_nF\| - 2 \sum\|g_j\|/\sqrt{N_{d,n}})$",
            right="≥ in place of =, which the proof on the next slide gives; the conversion of "
            r"the text at hand may have made the one of the other. $F = h_1$ and $g = L_1 \otimes "
            "L_1$ in $d = 3$ have 0.845 on the left and −0.155 on the right.",
            survives="The theorem as it is used: the conclusion needs the lower bound only.",
        ),
        Erratum(
            printed=r"$\|F - N_2\|^2 = \sum_{i\ge0} \|\alpha_i h_i - \sum_j \beta_i^j L_i^{v_j} "
            r"\otimes L_i^{v'_j}\|^2$",
            right="≥ in place of the first =. A separable function has coefficients "
            r"$\beta_{i,k}$ with $i \ne k$ too, as two slides before; they are orthogonal to the "
            "rest and are dropped here.",
            survives="The proof.",
            place="slide: Main result - proof",
        ),
    ),
)
def test_main_theorem(d, n, alpha, beta, v, w, *, lower=separation.main_lower_bound):
    r"""An inner-product function is far from sums of few small separable functions.

    For $F = \sum_i \alpha_i h_i$ and separable $g_1, \dots, g_r$,
    $\|F - \sum_j g_j\|^2 \ge \|P_n F\| \bigl(\|P_n F\| - \frac{2 \sum_j \|g_j\|}{\sqrt{N_{d,n}}}
    \bigr)$, where $P_n F = \sum_{i \ge n} \alpha_i h_i$.

    Checked in coefficients, for finite sums
    $g_j = \sum_{kl} \beta^j_{kl} L_k^{v_j} \otimes L_l^{v'_j}$; the general case is their limit.
    Off-diagonal coefficients count in $\|g_j\|$ and in the distance.
    """
    norms = separation.separable_norms(beta)
    size = (alpha @ alpha).sqrt() + norms.sum()
    distance = separation.distance_squared(d, alpha, beta, v, w)
    return leq(lower(d, n, alpha, norms), distance, scale=size * size)


@instances
def rules_on_the_sphere(source: Source):
    """F = a h_n and g_j = s w_j L_n^v ⊗ L_n^v, v and w_j from a rule of degree 2n: F and Σg_j are parallel."""
    d, n = source.integer(2, 3), source.integer(0, 3)
    points, weights = separation.sphere_rule(d, 2 * n)
    a, share = source.tensor(low=0.5, high=2.0), source.tensor(low=0.0, high=1.0)
    one = linalg.eye(n + 1, a)[n]
    v, weights = points.to(a.device) + 0 * a, a * share * weights.to(a.device)
    return d, n, a * one, weights[:, None, None] * torch.outer(one, one), v, v


def of_degrees_beyond(d, n, alpha, beta):
    """The norms of the parts of degrees beyond n, without n itself."""
    return separation.norm_lower_bound(d, n, alpha, separation.diagonal_norms(beta, n + 1))


def with_the_next_dimension(d, n, alpha, beta):
    """√N_{d+1,n+1} in place of √N_{d,n}: all degrees of F are raised by one."""
    raised = torch.cat((alpha.new_zeros(1), alpha))
    return separation.norm_lower_bound(d + 1, n + 1, raised, separation.diagonal_norms(beta, n))


def in_norm(d, n, alpha, beta):
    """The right side of the theorem in norm."""
    return separation.norm_lower_bound(d, n, alpha, separation.diagonal_norms(beta, n))


@bound(
    "separation.main-theorem-in-norm",
    paper("rankcheck", "docs/proofs/width-of-depth-two.md, Theorem 1"),
    instances=separable_sums(),
    tight=rules_on_the_sphere(),
    needs={"v and v′ are unit vectors": vectors_of_length_two()},
    mutants={
        "without the part of degree n": {"lower": of_degrees_beyond},
        "a larger multiplicity": {"lower": with_the_next_dimension},
    },
    witness=separation.norm_lower_bound,
)
def test_main_theorem_in_norm(d, n, alpha, beta, v, w, *, lower=in_norm):
    r"""The distance of an inner-product function from a sum of separable functions.

    $\|F - \sum_j g_j\| \ge \|P_n F\| - \frac{\sum_j \|Q_n g_j\|}{\sqrt{N_{d,n}}}$ for $F = \sum_i
    \alpha_i h_i$ and separable $g_j = \sum_{kl} \beta^j_{kl} L_k^{v_j} \otimes L_l^{v'_j}$, where
    $Q_n g = \sum_{i \ge n} \beta_{ii} L_i^v \otimes L_i^{v'}$. Where the right side is positive, its
    square is at least the bound of separation.main-theorem; constants and linear functions cost
    nothing for $n \ge 1$.

    There is equality for $F = a h_n$ and $g_j = s w_j L_n^{v_j} \otimes L_n^{v_j}$ with the points
    and weights of a rule on the sphere that is exact for degree $2n$. Checked in coefficients, for
    finite sums. Proof: docs/proofs/width-of-depth-two.md.
    """
    norms, least = separation.separable_norms(beta), lower(d, n, alpha, beta).clamp(min=0)
    scale = ((alpha @ alpha).sqrt() + norms.sum()) ** 2
    distance = separation.distance_squared(d, alpha, beta, v, w)
    slides = separation.main_lower_bound(d, n, alpha, norms)
    return (
        leq(least * least, distance, scale=scale),
        leq(slides, least * least, scale=scale, label="the theorem on the slides"),
    )


def hidden(source: Source, d: int):
    """w, w' (r, d) and b (r) of r ≤ 4 hidden neurons, with entries in [−2, 2]."""
    r = source.integer(1, 4)
    return [source.tensor(*shape, low=-2.0, high=2.0) for shape in ((r, d), (r, d), (r,))]


@instances
def fits_of_drawn_functions(source: Source):
    """d, n, the coefficients of F up to degree n + 2, and neurons."""
    d, n = source.integer(2, 4), source.integer(0, 3)
    return d, n, source.tensor(n + 3), *hidden(source, d)


@instances
def fits_of_the_example(source: Source):
    """d, n = d², the coefficients of sin(πd³t) up to degree n + 6, and neurons."""
    d = source.integer(2, 4)
    w, other, b = hidden(source, d)
    alpha = separation.sine_coefficients(d, d**6, d * d + 6, b)
    return d, d * d, alpha, w, other, b


def least_squares(d, alpha, w, other, b):
    """‖F − N‖² and the norms of the parts of N: the neurons times their best output weights, and the
    best constant. The distance counts the degrees of F only; the norms are of whole neurons."""
    beta, norms, v, u = neurons_and_constant(d, len(alpha) - 1, w, other, b)
    cross = separation.correlations(d, alpha, beta, v, u)
    weight = separation.best_fit(separation.separable_gram(d, beta, v, u), cross)
    distance = separation.distance_squared(d, alpha, weight[:, None, None] * beta, v, u)
    return distance, weight.abs() * norms


def by_itself(d, alpha, w, other, b):
    """F fitted by F, which is one part but not a separable one."""
    return 0 * alpha[0], (alpha @ alpha).sqrt().unsqueeze(0)


def without_neurons(d, n, alpha, norms):
    """‖P_nF‖², the squared distance of F to degrees below n."""
    return separation.tail_norm(alpha, n) ** 2


@instances
def idle_neurons(source: Source):
    """F = h_n, n ≥ 1, and neurons that are zero on the sphere: the best fit is 0."""
    d, n = source.integer(2, 4), source.integer(1, 3)
    w, other, b = hidden(source, d)
    return d, n, linalg.eye(n + 1, b)[n], 0 * w, 0 * other, -1 - b.abs()


@bound(
    "separation.depth-two-fit",
    paper("separation", "slide: Main result"),
    instances=fits_of_drawn_functions(),
    tight=idle_neurons(),
    needs={"the parts are separable": Need(fits_of_drawn_functions(), {"fit": by_itself})},
    mutants={"without the norms of the neurons": {"lower": without_neurons}},
    no_ball="coefficients of neurons by quadrature, and least squares, in floats",
)
def test_depth_two_fit(
    d, n, alpha, w, other, b, *, fit=least_squares, lower=separation.main_lower_bound
):
    r"""Instances of the main theorem: least-squares fits with random neurons stay above its bound.

    The least-squares fit $N = \sum_j u_j \sigma(\langle w_j, x \rangle + \langle w'_j, x' \rangle +
    b_j) + c$ of $F = \sum_i \alpha_i h_i$ with random hidden neurons, $d = 2, 3, 4$, has
    $\|F - N\|^2 \ge \|P_nF\| (\|P_nF\| - 2 (\sum_j \|u_j \sigma_j\| + |c|)/\sqrt{N_{d,n}})$.

    The error counts harmonics up to the degree of $F$ only, so it is at most the error on the
    sphere; the norms are those of whole neurons. The bound is attained if $F = h_n$ is fitted by
    zero.

    It is the theorem for these networks, so nothing is left to chance, and no threshold is fixed by
    looking at fits. The hidden weights are random; training them is not tried.
    """
    distance, norms = fit(d, alpha, w, other, b)
    size = (alpha @ alpha).sqrt() + norms.sum()
    return leq(lower(d, n, alpha, norms), distance, scale=size * size, terms=2**12)


@bound(
    "separation.depth-two-fit-of-the-example",
    paper("separation", "slide: Example - conclusion"),
    instances=fits_of_the_example(),
    needs={"the parts are separable": Need(fits_of_the_example(), {"fit": by_itself})},
    loose={
        "the bound": "the tail is cut off at degree n + 6, and a few neurons fit almost nothing"
    },
    no_ball="coefficients of neurons by quadrature, and least squares, in floats",
    effort=0.4,
)
def test_depth_two_fit_of_the_example(d, n, alpha, w, other, b, *, fit=least_squares):
    r"""Instances of the main theorem: random neurons hardly fit the oscillating example.

    The bound of separation.depth-two-fit for $F = \sin(\pi d^3 \langle x, x' \rangle)$, $n = d^2$,
    cut off at degree $n + 6$, with up to four neurons. The bound is positive for nearly all fits in
    $d = 3, 4$, and for a third of those with four neurons in $d = 2$.

    It is the theorem for these fits, and says no more about them. Beside it: of 15 000 such fits the best
    left 0.81, 0.987 and 0.9998 of $\|F\|^2$ in $d = 2, 3, 4$. No claim rests on these numbers.
    """
    distance, norms = fit(d, alpha, w, other, b)
    size = (alpha @ alpha).sqrt() + norms.sum()
    lower = separation.main_lower_bound(d, n, alpha, norms)
    return leq(lower, distance, scale=size * size, terms=2**12, label="the bound")
