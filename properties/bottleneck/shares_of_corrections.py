"""End of the proof of Prop. 14 of `bottleneck`: what the layers in the middle of a network cost."""

from fractions import Fraction

import torch

from rankcheck import Erratum, leq, limit, linalg, paper, witnesses
from rankcheck.instances import (
    Source,
    instances,
    isometry_at,
    nonnegative_isometry,
    positive,
    semi_orthogonal,
    slope,
)


def middle(source: Source, depth: int):
    """The layers behind which a part of the network begins and ends: 0 ≤ first < last ≤ L."""
    first = source.integer(0, depth - 1)
    return first, source.integer(first + 1, depth)


@instances
def cheapest_linear_networks(source: Source):
    """A linear map as a network of least cost; k, R^(1)(A), the numbers t_i = log s_i; two layers."""
    k, L = source.integer(1, 3), source.integer(2, 12)
    V = semi_orthogonal(source, k + source.integer(0, 1), k)
    U = semi_orthogonal(source, k + source.integer(0, 1), k)
    roots = positive(source, k, low=0.5, high=2.0)
    if source.choice(("orthant", "any")) == "orthant":
        inside = [nonnegative_isometry(source, k, V) for _ in range(L - 1)]
    else:
        y = source.tensor(k, low=0.0) - 2
        inside = [isometry_at(source, roots**layer * y) for layer in range(1, L)]
    net = witnesses.balanced_cone_network(roots, (V, *inside, U), slope(source))
    logs = roots.log() * L
    return net, k, 2 * logs.sum(-1), logs, *middle(source, L)


@instances
def planes_beside_constants(source: Source):
    """y ↦ (y, c), 0 < c ≤ 2, as a network of least cost, with R^(1) = R(c); layers in the middle."""
    n, L = source.integer(1, 3), source.integer(5, 12)
    c = positive(source, low=0.5, high=1.0)
    net = witnesses.plane_beside_constant(n, c, L, slope(source))
    return net, n, c * c, c.new_zeros((*source.batch, n)), 0, source.integer(1, L - 2)


@limit(
    "bottleneck.shares-of-the-first-correction",
    paper("bottleneck", "end of the proof of Prop. 14"),
    instances=cheapest_linear_networks(),
    needs={"f is linear": planes_beside_constants()},
    mutants={
        "2 % more than the share": {"share": Fraction(51, 50)},
        "a remainder of a third": {"rest": Fraction(1, 3)},
    },
    errata=Erratum(
        printed=r"We know that $\lim R^{(1)}(\alpha_{\ell_1} \to \alpha_{\ell_2}; \Omega) = "
        r"R^{(1)}(f_\theta; \Omega) \lim (\ell_2 - \ell_1)/L$",
        right="for the linear maps of part 3, whose proof the line ends. For other functions it "
        r"fails: $f(y) = (y, c)$ on $[0, 1]^n$ with $0 < c \le 1$ has $R^{(1)}(f) = c^2$, and an "
        "optimal network pays it in its last layer alone.",
        survives=r"Prop. 4.3 and 14.3. The two lines after it, $1/p R^{(2)}(\alpha) + 1/(1 - p) "
        r"R^{(2)}(\alpha \to f) \ge R^{(2)}(f)$, are Eq. (1) of the proof.",
    ),
    witness=witnesses.balanced_cone_network,
    audit="left out: it is about networks whose first correction is known",
)
def test_shares_of_the_first_correction(net, k, correction, logs, first, last, *, share=1, rest=1):
    r"""In the cheapest network of a linear map every layer has its share of the first correction.

    In the network $W_\ell = U_\ell S^{1/L} U_{\ell-1}^T$ of $A = U S V^T$ (bottleneck.second-correction-linear)
    the layers $\ell_1 + 1, \dots, \ell_2$ are $M = \ell_2 - \ell_1$ layers of least cost for a map with the
    singular values $s_i^{M/L}$, and
    $$0 \le \sum_{\ell_1 < \ell \le \ell_2} \|W_\ell\|_F^2 - kM - \frac ML R^{(1)}(A)
      \le \frac{2M}{L^2} \sum_i (\log s_i)^2 \max(1, s_i^{2/L}).$$
    So $R^{(1)}(\alpha_{\ell_1} \to \alpha_{\ell_2}) = \frac ML R^{(1)}(f)$, the line at the end of the proof of
    Prop. 14.3, which is about linear maps.

    The control has the same line for a map that is not linear. $f(y) = (y, c)$ with $0 < c \le 1$ has
    $R(f; L) = nL + c^2$ at every $L \ge 2$ (bottleneck.plane-beside-a-constant), and a network of this cost pays
    for $c$ in its last layer alone: for $p_2 < 1$ the layers between the ratios $p_1$ and $p_2$ cost $n$ each, and
    their first correction is 0 and not $(p_2 - p_1)\,c^2$.
    """
    L, M = net.depth, last - first
    costs = torch.stack(net.layer_costs(), -1)
    more = costs[..., first:last].sum(-1) - k * M
    part = correction * linalg.scalar(Fraction(M, L), correction)
    growth = torch.relu(logs * linalg.scalar(Fraction(2, L), logs)).exp()
    remainder = (logs * logs * growth).sum(-1) * linalg.scalar(Fraction(2 * M, L * L) * rest, logs)
    size = costs.sum(-1) + k * L
    return (
        leq(part * linalg.scalar(share, part), more, scale=size, label="from below"),
        leq(more, part + remainder, scale=size, label="from above"),
    )
