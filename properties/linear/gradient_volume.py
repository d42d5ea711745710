"""Not in the documents: a lower bound of the cost from the product of the singular values of
C_f^{1/2}, sharper than the mixed variation."""

from fractions import Fraction
from itertools import combinations

import torch

from rankcheck import bound, costs, leq, linalg, paper
from rankcheck.instances import (
    Source,
    depth,
    functions_of_any_rank,
    instances,
    positive,
    semi_orthogonal,
    separate_units_at_points,
    signs,
)

from ._reach import index_ranks

#: For n units, squares of rationals that sum to one over the number of sets of (n + 1)/2 units.
SQUARES = {
    1: (Fraction(1),),
    3: (Fraction(1, 9),) * 3,
    5: (Fraction(9, 100), Fraction(1, 100)),
}


@instances
def functions_of_rank(source: Source):
    """Units W, b, a, points x of masses p, a depth, λ > 0, and n up to the rank that fits."""
    family = source.choice((functions_of_any_rank(least=2), separate_units_at_points()))
    W, b, a, x, p, L, lam = family.build(source)
    return W, b, a, x, p, L, lam, source.integer(1, min(*W.shape[-2:], x.shape[-2], 3))


@instances
def half_of_the_units(source: Source):
    """An odd number n of orthogonal units of one length; any (n + 1)/2 of them are active."""
    n = source.choice(tuple(SQUARES))
    t = positive(source, 1, 1, low=0.5, high=2.0)
    rows = semi_orthogonal(source, source.integer(n, max(n, 4)), n).mT
    sets = [set_ for set_ in combinations(range(n), (n + 1) // 2) for _ in SQUARES[n]]
    active = torch.zeros(len(sets), n, dtype=torch.float64)
    for place, members in enumerate(sets):
        active[place, list(members)] = 1.0
    a = signs(source, n)
    one = t[..., 0] * 0 + 1
    x = (one.unsqueeze(-1) * active.to(t.device)) @ rows / t
    masses = [one * m.numerator / m.denominator for m in SQUARES[n]]
    p = torch.cat(masses * (len(sets) // len(SQUARES[n])), -1)
    return t * rows, -one.expand(a.shape) / 2, a, x, p, depth(source), a * a, n


@instances
def heavier_laws(source: Source):
    """The same under four times the mass."""
    W, b, a, x, p, L, lam, n = half_of_the_units().build(source)
    return W, b, a, x, 4 * p, L, lam, n


@bound(
    "linear.gradient-volume",
    paper("rankcheck", "docs/proofs/printed-budget.md, Theorem 1"),
    instances=functions_of_rank(),
    reach=index_ranks,
    tight=half_of_the_units(),
    needs={"the law has mass one": heavier_laws()},
    mutants={
        "exponent 2.04/(nL)": {"exponent": Fraction(51, 50)},
        "exponent 1.96/(nL)": {"exponent": Fraction(49, 50)},
        "κ_n 2 % larger": {"constant": Fraction(51, 50)},
        "λ_max ≥ 1.02 τ²": {"trace": Fraction(51, 50)},
    },
)
def test_gradient_volume(W, b, a, x, p, L, lam, n, *, exponent=1, constant=1, trace=1):
    r"""The product of the gradients' singular values bounds the cost from below.

    For $h(x) = a^\top [Wx + b]_+ + c$, every law of $x$, every $\lambda > 0$ with $\|\lambda\| = 1$
    and every $n \le \operatorname{rank} C_h$, with $\sigma_i = \sigma_i(C_h^{1/2})$:
    $$n\,\kappa_n^{1/L}\,(\sigma_1 \cdots \sigma_n)^{\frac2{nL}} \le
      \|D_\lambda^{-1} D_a W\|_{S^{2/(L-1)}}^{2/L}, \qquad \kappa_n = \frac{4n}{(n+1)^{1+1/n}}.$$
    So $R\,\kappa_R^{1/L} |C_f^{1/2}|_+^{2/(RL)} \le R_L(f)$ with $R = \operatorname{rank}_I(f)$.
    linear.mixed-variation-bound gives the same with 1 in place of $\kappa_n$; $\kappa_1 = 1$,
    $\kappa_2 = 1.54$, $\kappa_3 = 1.89$, and $\kappa_n \to 4$.

    So $R_L(f) \le r^{(L-2)/L} J^{2/L}$ with $J < \varepsilon r\,(1 + \frac1r)^{L/2}
    \sqrt{\kappa_{r+1}}$ gives $\operatorname{rank}_{I,\varepsilon}(f) \le r$.

    The step that is new: $B = \mathbb E[vv^\top]$ with $v = \lambda \circ s(x)$, $s(x) \in \{0, 1\}^K$
    the active units, has $\lambda_{\max}(B) \ge (\operatorname{tr} B)^2$, since
    $\|v\|^2 = \lambda^\top v$. Checked as well.

    For odd $n$, orthogonal units of one length of which any $(n + 1)/2$ are active with the same
    probability attain the bound. For even $n$ no case of equality is known. Checked for laws with
    finitely many atoms and $n \le 5$. Proof: docs/proofs/printed-budget.md.
    """
    net = costs.two_layer_network(W, b, a)
    root, noise = costs.egop_root(net.jacobian(x).squeeze(-2), p), net.jacobian_noise(x).amax(-1)
    full = linalg.rank(root, noise) >= n
    sigma = linalg.singular_values(root)[..., :n]
    sigma = torch.where(full.unsqueeze(-1), sigma, torch.ones_like(sigma))
    least = costs.gradient_volume_bound(linalg.power(sigma, exponent), L)
    least = least * linalg.power(linalg.scalar(constant, least), Fraction(1, L))

    active = (net.preactivations(x)[0] >= 0).to(torch.float64)
    length = linalg.power((lam * lam).sum(-1, keepdim=True), Fraction(1, 2))
    v = costs.egop_root(active * (lam / length).unsqueeze(-2), p)
    largest, total = linalg.singular_values(v)[..., 0], (v * v).sum((-2, -1))
    return (
        leq(least, costs.phi_at(W, a, L, lam), where=full, label="the cost"),
        leq(total * total * float(trace), largest * largest, label="the active units"),
    )
