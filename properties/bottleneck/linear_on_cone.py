"""Theorem 3.3/11.3 of `bottleneck`: linear maps on completely positive cones.

The witness interpolates between the kernels of the input and of the output.
"""

from fractions import Fraction

import torch

from rankcheck import Erratum, construction, eq, leq, paper, step
from rankcheck.claims.tolerances import network_scale
from rankcheck.costs.corrections import distortion, excess
from rankcheck.instances.cones import (
    linear_maps_on_cones,
    triangular,
)
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import frobenius_squared, log_pseudo_determinant
from rankcheck.scalars import scalar
from rankcheck.witnesses.cone import cone_network, interpolated_shares, stack_kernels


@instances
def images_outside_the_orthant(source: Source):
    """The same with −O_out, which takes AΩ to the negative orthant, and a hidden layer."""
    A, V, into, out, L, _, x = linear_maps_on_cones(depth=(2, 8))(source)
    return A, V, into, -out, L, 0, x


def one_kernel(depth):
    """p_ℓ = 1/2 for all ℓ: the function is right, but the first and last layer change the kernel."""
    return (Fraction(1, 2),) * (depth - 1)


@construction(
    "bottleneck.linear-on-cone",
    paper("bottleneck", "Thm 3.3"),
    instances=linear_maps_on_cones(),
    tight=linear_maps_on_cones(diagonal=(1.0, 1.0 + 2**-20), above=0.0),
    needs={"O_out takes the image into the orthant": images_outside_the_orthant()},
    mutants={
        "one kernel for all layers": {"shares": one_kernel},
        "two fifths of the rate": {"rate": Fraction(2, 5)},
    },
    errata=Erratum(
        printed="K_out(x,y) = xᵀAᵀAx",
        right="K_out(x, y) = xᵀAᵀAy",
        survives="Thm 11.3 and its proof.",
        place="proof of Thm 11.3",
    ),
    witness=cone_network,
)
def test_linear_on_cone(A, V, into, out, L, slope, x, *, shares=interpolated_shares, rate=1):
    r"""A linear map on a completely positive cone costs $kL + 2 \log|A|_+ + O(1/L)$.

    Let $A$ have rank $k$, and let $P_{\operatorname{Im} A^T} \Omega$ and $A \Omega$ be completely
    positive. The network with the kernels $K_p = (1 - p) P_{\operatorname{Im} A^T} + p A^T A$ at
    $p = \ell / L$ equals $A$ on $\Omega$ for every slope, and
    $$2 \log |A|_+ \le \|\theta\|^2 - kL
      \le 2 \log |A|_+ + \frac1L \sum_{i \le k} \Bigl( s_i - \frac{1}{s_i} \Bigr)^2.$$

    In the limit, with bottleneck.regularity-bound, $R^{(1)}(x \mapsto Ax; \Omega) = 2 \log |A|_+$.
    """
    net = cone_network(A, V, into, out, shares(L), slope)
    k = V.shape[-1]
    log_det, more = 2 * log_pseudo_determinant(A), excess(net, k)
    size = net.cost() + k * L
    value = (A @ x.unsqueeze(-1)).squeeze(-1)
    entries = network_scale(net, x.abs() + 1)  # x is computed, from entries of size one
    return (
        eq(net(x), value, scale=entries, label="the function"),
        leq(log_det, more, scale=size, label="from below"),
        leq(
            more,
            log_det + distortion(A) * scalar(Fraction(rate, L), A),
            scale=size,
            label="from above",
        ),
    )


def printed_shares(depth):
    """The kernels of the printed proof, p K_in + (1 − p) K_out: the ends are swapped."""
    return tuple(1 - p for p in interpolated_shares(depth))


@step(
    "bottleneck.linear-on-cone-as-printed",
    paper("bottleneck", "proof of Thm 11.3"),
    instances=linear_maps_on_cones(depth=(2, 8)),
    errata=Erratum(
        printed="the interpolation K_p = pK_in + (1-p)K_out ... using the convention B_{L,0} = I_{d_in} "
        "and B_{L,L} = I_out",
        right="K_p = (1 - p) K_in + p K_out and B_{L,L} = A. With the printed kernels the first layers "
        "represent AᵀA although α_0 = x has the kernel of the identity: the sum between the ends "
        "telescopes to -2 log|A|_+, and the jumps at the two ends cost about 2(‖A‖_F² - k).",
        survives="Thm 3.3/11.3, by the same proof with p and 1 - p exchanged: bottleneck.linear-on-cone.",
        weight="step",
    ),
    result="stands: with p and 1 - p exchanged the proof gives the theorem, bottleneck.linear-on-cone",
    readings={
        "p counts layers from the input": "this is what is tested; print puts p = ℓ/L",
        "p counts layers from the output": "excluded by K_{p=ℓ/L}(x, y) = xᵀ B_{L,ℓ}ᵀ B_{L,ℓ} y and "
        "B_{L,0} = I; the line after it repeats (ℓ/L) P + (1 - ℓ/L) AᵀA",
    },
    corrected_by="bottleneck.linear-on-cone",
)
def test_linear_on_cone_as_printed(A, V, into, out, L, slope, x):
    r"""A linear map costs $kL + 2 \log|A|_+ + O(1/L)$ with the kernels of the printed proof.

    With the kernels $K_p = p P_{\operatorname{Im} A^T} + (1 - p) A^T A$ at $p = \ell / L$ the
    network has $\|\theta\|^2 = kL + 2 \log |A|_+ + O(1/L)$. Tested with the rate of the corrected
    construction:
    $$\|\theta\|^2 - kL \le 2 \log |A|_+ + \frac1L \sum_i (s_i - 1/s_i)^2.$$
    """
    net = cone_network(A, V, into, out, printed_shares(L), slope)
    more = excess(net, V.shape[-1])
    return leq(more, 2 * log_pseudo_determinant(A) + distortion(A) / L, scale=net.cost())


@instances
def nonnegative_pairs(source: Source):
    """B and C, non-negative on the cone {Gy : y >= 0}, a share t in [0, 1], and a point Gy."""
    n = source.integer(1, 4)
    G = triangular(source, n, low=0.5, high=2.0, above=2.0)
    up, down = source.integer(1, 3), source.integer(1, 3)
    dual = torch.linalg.inv(G)
    B = source.tensor(up, n, low=0.0) @ dual
    C = source.tensor(down, n, low=0.0) @ dual
    y = source.tensor(n, low=0.0)
    return B, C, source.tensor(low=0.0, high=1.0), (G @ y.unsqueeze(-1)).squeeze(-1)


@instances
def signed_pairs(source: Source):
    """The same with −B for B, which takes the point outside the orthant."""
    B, C, t, x = nonnegative_pairs()(source)
    return -B, C, t, x


def without_roots(B, C, t):
    """The blocks weighted by t and 1 − t instead of their roots."""
    return torch.cat((t[..., None, None] * B, (1 - t)[..., None, None] * C), -2)


@construction(
    "bottleneck.convex-kernels",
    paper("bottleneck", "proof of Thm 11.3"),
    instances=nonnegative_pairs(),
    needs={"both factors are non-negative on the domain": signed_pairs()},
    mutants={"weights in place of their roots": {"stack": without_roots}},
    loose={"the orthant": "the right side is zero, which no factor tightens"},
    witness=stack_kernels,
)
def test_convex_kernels(B, C, t, x, *, stack=stack_kernels):
    r"""Convex combinations of completely positive kernels are completely positive.

    If $Bx \ge 0$ and $Cx \ge 0$ on $\Omega$ and $t \in [0, 1]$, the matrix
    $M = (\sqrt{t} B; \sqrt{1-t} C)$ has $Mx \ge 0$ on $\Omega$ and
    $M^T M = t B^T B + (1 - t) C^T C$.
    """
    M = stack(B, C, t)
    share = t[..., None, None]
    kernel = share * (B.mT @ B) + (1 - share) * (C.mT @ C)
    size = (frobenius_squared(B) + frobenius_squared(C))[..., None, None]
    value = (M @ x.unsqueeze(-1)).squeeze(-1)
    reach = (M.abs() @ x.abs().unsqueeze(-1)).squeeze(-1)
    return (
        eq(M.mT @ M, kernel, scale=size, label="the kernel"),
        leq(-value, 0, scale=reach, label="the orthant"),
    )
