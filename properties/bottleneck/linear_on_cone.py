"""Theorem 3.3/11.3 of `bottleneck`: linear maps on completely positive cones."""

from fractions import Fraction

import torch

from rankcheck import Erratum, construction, costs, eq, leq, linalg, paper, tolerances, witnesses
from rankcheck.instances import Source, instances, linear_maps_on_cones, triangular


@instances
def images_outside_the_orthant(source: Source):
    """The same with −O_out, which takes AΩ to the negative orthant, and a hidden layer."""
    A, V, into, out, L, _, x = linear_maps_on_cones(depth=(2, 8))(source)
    return A, V, into, -out, L, 0, x


@construction(
    "bottleneck.linear-on-cone",
    paper("bottleneck", "Thm 3.3"),
    instances=linear_maps_on_cones(),
    tight=linear_maps_on_cones(diagonal=(1.0, 1.0 + 2**-20), above=0.0),
    needs={"O_out takes the image into the orthant": images_outside_the_orthant()},
    mutants={
        "one kernel for all layers": {"shares": lambda L: (Fraction(1, 2),) * (L - 1)},
        "the kernels as printed": {"shares": lambda L: witnesses.interpolated_shares(L)[::-1]},
        "two fifths of the rate": {"rate": Fraction(2, 5)},
    },
    errata=(
        Erratum(
            printed=r"$K_{out}(x,y) = x^{\top}A^{\top}Ax$",
            right=r"$K_{out}(x, y) = x^{\top}A^{\top}Ay$",
            survives="Thm 11.3 and its proof.",
            place="proof of Thm 11.3",
        ),
        Erratum(
            printed="the interpolation $K_p = pK_{in} + (1-p)K_{out}$ ... using the convention "
            "$B_{L,0} = I_{d_{in}}$ and $B_{L,L} = I_{out}$",
            right=r"$K_p = (1 - p) K_{in} + p K_{out}$ with $p = \ell/L$, as $\alpha_0 = x$ has "
            "the kernel $K_{in}$, and $B_{L,L} = A$, as $W_L = B_{L,L} B_{L,L-1}^+$ ends in "
            r"$Ax$. The line after it, $(\ell/L) P + (1 - \ell/L) A^{\top}A$, is exchanged "
            r"likewise; the last sum of the proof, $2 \log|A|_+ - 2 \log|I|_+$, is not.",
            survives="Thm 11.3 and its proof, with $p$ and $1 - p$ exchanged.",
            place="proof of Thm 11.3",
        ),
        Erratum(
            printed=r"$\|W_\ell\|_F^2 - \operatorname{Rank} A = \sum_i 2 \log s_i(W_i) + "
            "O(L^{-2})$",
            right=r"$s_i(W_\ell)$",
            survives="Thm 11.3 and its proof.",
            place="proof of Thm 11.3",
        ),
    ),
    witness=witnesses.cone_network,
)
def test_linear_on_cone(
    A, V, into, out, L, slope, x, *, shares=witnesses.interpolated_shares, rate=1
):
    r"""A linear map on a completely positive cone costs $kL + 2 \log|A|_+ + O(1/L)$.

    Let $A$ have rank $k$, and let $P_{\operatorname{Im} A^T} \Omega$ and $A \Omega$ be completely
    positive. The network with the kernels $K_p = (1 - p) P_{\operatorname{Im} A^T} + p A^T A$ at
    $p = \ell / L$ equals $A$ on $\Omega$ for every slope, and
    $$2 \log |A|_+ \le \|\theta\|^2 - kL
      \le 2 \log |A|_+ + \frac1L \sum_{i \le k} \Bigl( s_i - \frac{1}{s_i} \Bigr)^2.$$

    With $p$ and $1 - p$ exchanged, as printed, the first layers represent $A^T A$ although $\alpha_0 = x$:
    the inner layers telescope to $-2 \log |A|_+$, and the jumps at the two ends cost about
    $2 (\|A\|_F^2 - k)$, which a control shows to be too much.

    In the limit, with bottleneck.regularity-bound, $R^{(1)}(x \mapsto Ax; \Omega) = 2 \log |A|_+$.
    """
    net = witnesses.cone_network(A, V, into, out, shares(L), slope)
    k = V.shape[1]
    log_det, more = 2 * linalg.log_pseudo_determinant(A), costs.excess(net, k)
    most = log_det + costs.distortion(A) * linalg.scalar(Fraction(rate, L), A)
    size = net.cost() + k * L
    entries = tolerances.network_scale(net, x.abs() + 1)  # x is computed, from entries of size one
    return (
        eq(net(x), A @ x, scale=entries, label="the function"),
        leq(log_det, more, scale=size, label="from below"),
        leq(more, most, scale=size, label="from above"),
    )


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
    return B, C, source.tensor(low=0.0, high=1.0), G @ y


@instances
def signed_pairs(source: Source):
    """The same with −B for B, which takes the point outside the orthant."""
    B, C, t, x = nonnegative_pairs()(source)
    return -B, C, t, x


@construction(
    "bottleneck.convex-kernels",
    paper("bottleneck", "proof of Thm 11.3"),
    instances=nonnegative_pairs(),
    needs={"both factors are non-negative on the domain": signed_pairs()},
    mutants={
        "weights in place of their roots": {
            "stack": lambda B, C, t: torch.vstack((t * B, (1 - t) * C))
        }
    },
    loose={"the orthant": "the right side is zero, which no factor tightens"},
    witness=witnesses.stack_kernels,
)
def test_convex_kernels(B, C, t, x, *, stack=witnesses.stack_kernels):
    r"""Convex combinations of completely positive kernels are completely positive.

    If $Bx \ge 0$ and $Cx \ge 0$ on $\Omega$ and $t \in [0, 1]$, the matrix
    $M = (\sqrt{t} B; \sqrt{1-t} C)$ has $Mx \ge 0$ on $\Omega$ and
    $M^T M = t B^T B + (1 - t) C^T C$.
    """
    M = stack(B, C, t)
    kernel = t * (B.mT @ B) + (1 - t) * (C.mT @ C)
    size = linalg.frobenius_squared(B) + linalg.frobenius_squared(C)
    return (
        eq(M.mT @ M, kernel, scale=size, label="the kernel"),
        leq(-M @ x, 0, scale=M.abs() @ x.abs(), label="the orthant"),
    )
