"""“Separable functions” of `separation`: inner products of zonal functions, the core of the
proof."""

import torch

from rankcheck import eq, identity, paper, separation
from rankcheck.instances import Source, instances, unit_vectors


def degrees(source: Source, high: int):
    """Three degrees i, j, k, all equal in half of the draws."""
    i = source.integer(0, high)
    if source.integer(0, 1) == 0:
        return i, i, i
    return i, source.integer(0, high), source.integer(0, high)


@instances
def zonal_functions(source: Source, *, dimension: int, degree: int):
    """d ≥ 2, three degrees, and two unit vectors."""
    d = source.integer(2, dimension)
    return d, *degrees(source, degree), unit_vectors(source, d), unit_vectors(source, d)


def of_the_next_dimension(d, i, j, c):
    """The formula with P_i of dimension d + 1."""
    return separation.zonal_inner_product(d + 1, i, j, c)


def without_the_root(d, i, j, k, c):
    """P_i(⟨v, v′⟩), not divided by √N_{d,i}."""
    return separation.zonal_inner_product(d, i, j, c) if j == k else torch.zeros_like(c)


@identity(
    "separation.zonal-inner-products",
    paper("separation", "slide: Separable functions"),
    instances=zonal_functions(dimension=8, degree=5),
    mutants={
        "P of the next dimension": {"zonal": of_the_next_dimension},
        "without √N": {"cross": without_the_root},
    },
    witness=separation.zonal_by_moments,
)
def test_zonal_inner_products(
    d, i, j, k, v, w, *, zonal=separation.zonal_inner_product, cross=separation.cross_inner_product
):
    r"""Inner products of zonal functions, from the moments of the sphere.

    With $L_n^v(x) = h_n(v, x)$ and unit vectors $v, v'$:
    $\langle L_i^v, L_j^{v'} \rangle = \delta_{ij} P_i(\langle v, v' \rangle)$ and
    $\langle h_i, L_j^v \otimes L_k^{v'} \rangle = \delta_{ij} \delta_{ik}
    P_i(\langle v, v' \rangle)/\sqrt{N_{d,i}}$.

    The left sides come from the moments of the sphere (pairings). They are polynomials in
    $\langle v, v' \rangle$ with rational coefficients, on balls exact but for one square root.
    """
    c = (v * w).sum(-1)
    one = torch.ones_like(c)
    return (
        eq(
            separation.zonal_by_moments(d, i, j, c),
            zonal(d, i, j, c),
            scale=4**i * one,
            label="L with L",
        ),
        eq(
            separation.cross_by_moments(d, i, j, k, c),
            cross(d, i, j, k, c),
            scale=4 ** max(i, j, k) * one,
            label="h with L ⊗ L",
        ),
    )


@identity(
    "separation.zonal-inner-products-by-quadrature",
    paper("separation", "slide: Separable functions"),
    instances=zonal_functions(dimension=30, degree=12),
    mutants={
        "P of the next dimension": {"zonal": of_the_next_dimension},
        "without √N": {"cross": without_the_root},
    },
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
    c = (v * w).sum(-1)
    one = torch.ones_like(c)
    return (
        eq(
            separation.zonal_by_quadrature(d, i, j, c),
            zonal(d, i, j, c),
            scale=one,
            terms=2**14,
            label="L with L",
        ),
        eq(
            separation.cross_by_quadrature(d, i, j, k, c),
            cross(d, i, j, k, c),
            scale=one,
            terms=2**14,
            label="h with L ⊗ L",
        ),
    )
