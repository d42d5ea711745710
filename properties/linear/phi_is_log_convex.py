"""Not in the documents: the objective of Φ_L is log-convex, the reason why its solver can be
trusted."""

from fractions import Fraction

from rankcheck import bound, costs, leq, linalg, paper
from rankcheck.instances import Source, instances, matrix, positive

#: 2/(L − 1) for L = 2..7 and L = 21, and some others.
EXPONENTS = (2, 1, *(Fraction(2, n) for n in range(3, 7)), Fraction(1, 10), Fraction(7, 2), 4)


@instances
def scale_pairs(source: Source):
    """W, a, an exponent q, and μ, ν > 0: the scales μ², ν² and their midpoint μν."""
    K, D = source.integer(1, 5), source.integer(1, 4)
    W, a = matrix(source, K, D), source.tensor(K)
    return W, a, source.choice(EXPONENTS), positive(source, K), positive(source, K)


@instances
def proportional_scales(source: Source):
    """The same with ν a multiple of μ."""
    W, a, q, mu, _ = scale_pairs().build(source)
    return W, a, q, mu, positive(source, 1) * mu


def arithmetic(mu, nu):
    """The midpoint of the λ themselves, not of log λ."""
    return (mu * mu + nu * nu) / 2


def geometric(mu, nu):
    """The midpoint in log λ."""
    return mu * nu


@bound(
    "linear.phi-is-log-convex",
    paper("rankcheck", "the head of rankcheck.costs"),
    instances=scale_pairs(),
    tight=proportional_scales(),
    mutants={
        "exponent 2.04": {"exponent": Fraction(51, 25)},
        "exponent 1.96": {"exponent": Fraction(49, 25)},
        "the midpoint of the λ": {"midpoint": arithmetic},
    },
)
def test_phi_is_log_convex(W, a, q, mu, nu, *, exponent=2, midpoint=geometric):
    r"""The objective of $\Phi_L$ is convex in the logarithms of the scales.

    $F(u) = \log \|D_{e^{-u}} D_a W\|_{S^q} + \frac12 \log \sum_k e^{2u_k}$ is convex for every
    $q > 0$. So every local minimum of $F$ is global, and a tangent bounds $\Phi_L$ from below.

    Checked at midpoints, without logarithms: $G(\mu\nu)^2 \le G(\mu^2)\, G(\nu^2)$ with
    $G(\lambda) = e^{qF(\log \lambda)}$. That is enough, since $F$ is continuous where no row
    $a_k w_k$ vanishes, and such rows drop out.
    """
    G = [costs.scaled_schatten_power(W, a, lam, q) for lam in (midpoint(mu, nu), mu * mu, nu * nu)]
    return leq(linalg.power(G[0], exponent), G[1] * G[2])
