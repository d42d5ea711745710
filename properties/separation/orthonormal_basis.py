

from rankcheck import claim, eq, paper
from rankcheck.instances.source import Source, instances
from rankcheck.legendre import even_moment, orthonormal_table, quadrature


@instances
def expansions(source: Source):
    """A dimension d ≥ 2 and the coefficients of two polynomials in the basis √N P_n."""
    d, n = source.integer(2, 60), source.integer(0, 12)
    return d, source.tensor(n + 1), source.tensor(n + 1)


def chebyshev_weight(d, m):
    """Nodes and weights of another measure."""
    return quadrature(2 if d != 2 else 3, m)


@claim(
    "separation.orthonormal-basis",
    kind="identity",
    title="The normalised d-dimensional Legendre polynomials are orthonormal under μ_d",
    source=paper("separation", "slide: Legendre polynomials"),
    instances=expansions(),
    mutants={"another measure": {"rule": chebyshev_weight}},
    no_ball="Gauss–Gegenbauer nodes are zeros of polynomials, computed in floats",
    witness="rankcheck.legendre.quadrature",
)
def test_orthonormal_basis(d, p, q, *, rule=quadrature):
    r"""$\langle \sum_n p_n \sqrt{N_{d,n}} P_n, \sum_n q_n \sqrt{N_{d,n}} P_n \rangle_{L^2(\mu_d)} =
    \sum_n p_n q_n$, with $d\mu_d = \frac{\Gamma(d/2)}{\sqrt\pi\,\Gamma((d-1)/2)} (1-x^2)^{(d-3)/2} dx$.

    By a quadrature rule that is exact for these degrees; its mass and its even moments are held
    against those of a coordinate of a uniform point of the sphere, $\mu_d$ being their law.
    """
    degree = p.shape[-1] - 1
    nodes, weights = rule(d, degree + 2)
    table = orthonormal_table(d, degree, nodes)
    inner = ((p @ table.mT) * (q @ table.mT) * weights).sum(-1)
    scale = (p * p).sum(-1).sqrt() * (q * q).sum(-1).sqrt()
    moments = tuple(
        eq(
            (weights * nodes ** (2 * k)).sum() + 0 * inner,
            inner.new_tensor(float(even_moment(d, k))) + 0 * inner,
            label=f"the moment of order {2 * k}",
        )
        for k in range(min(degree + 2, 4))
    )
    return (eq(inner, (p * q).sum(-1), scale=scale, terms=2**12, label="orthonormality"), *moments)
