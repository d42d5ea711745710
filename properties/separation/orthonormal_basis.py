"""“Legendre polynomials” of `separation`: the normalised polynomials are orthonormal."""

import torch

from rankcheck import eq, identity, linalg, paper, separation
from rankcheck.instances import Source, instances


@instances
def expansions(source: Source):
    """A dimension d ≥ 2 and the coefficients of two polynomials in the basis √N P_n."""
    d, n = source.integer(2, source.choice((6, 200))), source.integer(0, source.choice((6, 100)))
    return d, source.tensor(n + 1), source.tensor(n + 1)


def against_dt(d, degree, like):
    """Nodes and weights of the measure with the density of μ_d, for polynomials of that degree.

    For odd d the density is a polynomial, and the Gauss–Legendre rule (weight 1/2) is exact. For
    even d it is a polynomial over √(1 − t²), and the Gauss–Chebyshev rule (weight 1/(π√(1 − t²)))
    is.
    """
    nodes, weights = (
        array.to(like.device) for array in separation.quadrature(2 + d % 2, (degree + d) // 2)
    )
    inverse = 2 if d % 2 else linalg.pi(like) * torch.sqrt(1 - nodes * nodes)
    return nodes, weights * inverse * separation.density(d, nodes)


def gauss_gegenbauer(d, degree, like):
    """The Gauss rule of μ_d itself, scaled to mass 1."""
    nodes, weights = separation.quadrature(d, degree // 2 + 1)
    return nodes.to(like.device), weights.to(like.device)


def next_dimension(d, degree, like):
    """The measure of one dimension more."""
    return against_dt(d + 1, degree, like)


@identity(
    "separation.orthonormal-basis",
    paper("separation", "slide: Legendre polynomials"),
    instances=expansions(),
    mutants={"another measure": {"measure": next_dimension}},
    no_ball="Gauss–Gegenbauer nodes are zeros of polynomials, computed in floats",
    witness=separation.quadrature,
)
def test_orthonormal_basis(d, p, q, *, measure=against_dt):
    r"""The normalised d-dimensional Legendre polynomials are orthonormal under $\mu_d$.

    $\langle \sum_n p_n \sqrt{N_{d,n}} P_n, \sum_n q_n \sqrt{N_{d,n}} P_n \rangle_{L^2(\mu_d)} =
    \sum_n p_n q_n$, with $d\mu_d = \frac{\Gamma(d/2)}{\sqrt\pi\,\Gamma((d-1)/2)} (1-x^2)^{(d-3)/2}
    dx$, which has mass 1 and the even moments $\frac{(2k-1)!!}{d(d+2)\cdots(d+2k-2)}$ of a
    coordinate of a uniform point of the sphere.

    Checked by two rules that are exact for these degrees: one against $dx$ with the density as
    printed, and the Gauss rule of $\mu_d$. That the basis is complete is
    separation.legendre-completeness.
    """
    degree = p.shape[-1] - 1
    exact = (p * q).sum(-1)
    scale = (p * p).sum(-1).sqrt() * (q * q).sum(-1).sqrt()
    relations = []
    for name, rule in (("with the density", measure), ("by the Gauss rule", gauss_gegenbauer)):
        nodes, weights = rule(d, 2 * degree, p)
        table = separation.orthonormal_table(d, degree, nodes)
        inner = ((p @ table.mT) * (q @ table.mT) * weights).sum(-1)
        relations.append(eq(inner, exact, scale=scale, terms=2**15, label=name))
    nodes, weights = measure(d, 2 * degree, p)
    for k in range(min(degree + 1, 4)):
        moment = (weights * nodes ** (2 * k)).sum()
        expected = p.new_tensor(float(separation.even_moment(d, k)))
        relations.append(eq(moment, expected, terms=2**15, label=f"the moment of order {2 * k}"))
    return tuple(relations)
