"""“Inner product functions” of `separation`: an orthonormal basis of the functions of ⟨x, x′⟩."""

from rankcheck import eq, identity, paper, separation
from rankcheck.instances import Source, instances


@instances
def expansions(source: Source):
    """d ≥ 2 and the coefficients of two inner-product functions, in h_0, ..., h_n."""
    d = source.integer(2, 4)
    n = source.integer(0, 10 - 2 * d)
    return d, source.tensor(n + 1), source.tensor(n + 1)


def without_multiplicities(d, n, t):
    """P_n in place of √N_{d,n} P_n."""
    return separation.legendre_table(d, n, t)


@identity(
    "separation.inner-product-basis",
    paper("separation", "slide: Inner product functions"),
    instances=expansions(),
    mutants={"without the multiplicities": {"basis": without_multiplicities}},
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
    n = alpha.shape[-1] - 1
    points, weights = separation.sphere_rule(d, 2 * n)
    points, weights = points.to(alpha.device), weights.to(alpha.device)
    table = basis(d, n, points @ points.mT).reshape(-1, n + 1)
    gram = table.mT @ ((weights.unsqueeze(-1) * weights).reshape(-1, 1) * table)
    relations = []
    for name, other in (("orthonormality", gamma), ("Parseval", alpha)):
        inner = ((alpha @ gram) * other).sum(-1)
        scale = ((alpha * alpha).sum(-1) * (other * other).sum(-1)).sqrt()
        exact = (alpha * other).sum(-1)
        relations.append(eq(inner, exact, scale=scale, terms=2**12, label=name))
    return tuple(relations)
