"""Theorem 6 of `bottleneck`, main text: one chain of frames near all weights, for a ≥ 0 alone."""

from fractions import Fraction

from rankcheck import Erratum, Need, bound, construction, eq, leq, linalg, paper, refuted, witnesses
from rankcheck.instances import STEEPEST, Source, instances, positive

from ._bottlenecks import dense_networks, networks_with_bottlenecks, sharp_bottlenecks
from ._narrow_ends import narrow_ended_networks
from ._right_angles import best_chain, chain_distance, drawn_chain, norms_and_overlap, right_angles
from ._rounding import slack, tolerated


@bound(
    "bottleneck.chained-projections",
    paper("bottleneck", "Thm 6 (0 ≤ a < 1)"),
    instances=networks_with_bottlenecks(slopes="nonnegative"),
    tight=sharp_bottlenecks(slopes="nonnegative"),
    needs={
        "a ≥ 0": narrow_ended_networks(slopes="negative"),
        "the images of the row space of Jf": Need(
            narrow_ended_networks(slopes="nonnegative"),
            {"distances": witnesses.two_sided_distances},
        ),
    },
    mutants={
        "log|Jf|_+ counted 2.04 times": {"logs": Fraction(51, 25)},
        "rank 2 % larger": {"ranks": Fraction(51, 50)},
        "the turns counted 2.04 times": {"turns": Fraction(51, 25)},
    },
    witness=witnesses.chained_frames,
    effort=0.6,
    audit="at points: 0 ≤ a ≤ 1, rank ≥ 1; ranks, heavy",
)
def test_chained_projections(
    net, x, *, distances=witnesses.chained_distances, logs=2, ranks=1, turns=2
):
    r"""For slopes from 0 to 1 one chain of orthonormal frames is close to all weights.

    With $k = \operatorname{rank} Jf(x) \ge 1$, $c_1 = \|\theta\|^2 - kL$ and a slope $0 \le a < 1$ there
    are semi-orthonormal $A_0, \dots, A_L$ ($n_\ell \times k$) with

    $$\sum_{\ell=1}^L \|W_\ell - A_\ell A_{\ell-1}^\top\|_F^2 + \|b_\ell\|^2
      + 2 \sum_{\ell<L} \log\det A_\ell^\top D_\ell^+ A_\ell \le c_1 - 2 \log |Jf(x)|_+,$$

    where $A_\ell^\top D_\ell^+ A_\ell \succeq I$; hence the same without the last sum. $A_0$ spans the
    row space of $Jf(x)$ and $A_\ell$ the image of $A_{\ell-1}$ under $D_\ell W_\ell$, each turned so
    that $A_\ell^\top W_\ell A_{\ell-1} \succeq 0$. What is computed is the squared distance that these
    frames attain, $\|W_\ell\|_F^2 + k - 2\|P_\ell W_\ell P_{\ell-1}\|_*$
    (bottleneck.projection-frames). Proof: docs/proofs/chains-for-negative-slopes.md.
    """
    at = witnesses.bottleneck(net, x)
    near = distances(net, x, at.rank).sum() + sum(b @ b for b in net.biases)
    turned = witnesses.chain_turns(net, x, at.rank)
    left = near + turned.sum() * linalg.scalar(turns, near)
    return (
        leq(left, slack(net, at, logs, ranks), label="the sum", **tolerated(net, at)),
        leq(1, turned + 1, label="each turn", **tolerated(net, at)),
    )


@refuted(
    "bottleneck.chained-projections-as-printed",
    paper("bottleneck", "Thm 6"),
    instances=dense_networks(depth=(2, 2), slopes="negative"),
    errata=Erratum(
        printed=r"there are $w_\ell \times k$ (semi-)orthonormal $V_\ell$ such that "
        r"$\sum_{\ell=1}^L \|W_\ell - V_\ell V_{\ell+1}^T\|_F^2 \le c_1 - 2 \log|Jf_\theta(x)|_+$ "
        r"thus for any $p \in (0, 1)$ there are at least $(1 - p)L$ layers $\ell$ with $\|W_\ell "
        r"- V_\ell V_{\ell-1}^T\|_F^2 \le \frac{c_1 - 2 \log|Jf_\theta(x)|_+}{pL}$",
        right=r"$\sum_{\ell=1}^L \|W_\ell - V_\ell V_{\ell-1}^T\|_F^2 \le c_1 - 2 "
        r"\log|Jf_\theta(x)|_+$ for slopes $0 \le a < 1$: then one family $V_\ell$ for all layers "
        r"exists (bottleneck.chained-projections), with $V_\ell V_{\ell-1}^T$ in both formulas. "
        r"For $a < 0$ it need not: $W_1 = (1, -1)^{\top}$, $W_2 = (1, 1)$, no biases, $x > 0$. "
        "Section 2 allows every slope in $(-1, 1)$.",
        survives=r"Theorem 15, the form of the theorem in the appendix, has two frames $U_\ell$ "
        r"and $V_\ell$ for each layer and holds for every slope "
        "(bottleneck.weights-near-projections). Corollary 8/17 quotes the chain but needs only "
        "that each weight is near some matrix of rank $k$.",
        weight="theorem",
    ),
    readings={
        r"$V_\ell V_{\ell-1}^T$, as in the second formula": "tested, with a lower bound of the left "
        "side for all $V_0$, $V_1$, $V_2$.",
        r"$V_\ell V_{\ell+1}^T$, as in the first formula": r"it has not the shape of $W_\ell$. Where "
        "all widths are equal it wants the row space of $W_1$ near the image of $W_2$, which "
        r"fails for every slope: $W_1 = e_1 e_1^{\top}$ and $W_2 = e_2 e_1^{\top}$, with a bias "
        r"of any $\varepsilon > 0$ at the second unit, have $c_1 = \varepsilon^2$, $|Jf|_+ = 1$ "
        r"and a sum of at least $4 - 2\sqrt{2}$.",
        r"only the second half, on $(1 - p)L$ layers, with $V_\ell$ that depend on $p$": "tested: as "
        r"$p \to 1/2$ from below both layers have to comply, so the sum is at most twice the "
        "bound; 2 against 1.49.",
        "for large $L$": r"with $W_\ell = 1$ for $\ell > 2$ the two sides do not change, and for $p "
        "< 1/L$ all layers have to comply.",
        "ReLU only": r"that is in the corrected statement; §2 has $\sigma_a$ with a in (−1, 1), "
        "and where ReLU is meant, as in Prop. 13, print says so.",
        r"as restated in Theorem 15, with two frames $U_\ell$, $V_\ell$ for each layer": "that is true "
        "for every slope (bottleneck.weights-near-projections), and the abstract and Cor. 8/17 "
        "need no more. Theorem 6 has one family for all layers, and print uses it so in the "
        r"proof of Cor. 17, $V_\ell V_{\ell-1}^T$.",
    },
    corrected_by="bottleneck.chained-projections",
)
def test_chained_projections_as_printed(net, x):
    r"""For every slope one chain of orthonormal frames is close to all weights.

    For every slope $a \in (-1, 1)$, $k = \operatorname{rank} Jf(x)$ and $c_1 = \|\theta\|^2 - kL$ there
    are semi-orthonormal $V_\ell$ ($n_\ell \times k$) with
    $\sum_\ell \|W_\ell - V_\ell V_{\ell-1}^\top\|_F^2 \le c_1 - 2 \log |Jf(x)|_+$; or, weaker, for
    every $p \in (0, 1)$ such $V_\ell$ with which $(1-p)L$ layers are within
    $(c_1 - 2 \log |Jf(x)|_+)/(pL)$.

    Tested at depth 2, where both imply that for some $V_\ell$ the sum is at most twice the bound ($p$
    just below $\frac12$ takes both layers). The left side has a lower bound for *all*
    $V_0, V_1, V_2$: as the columns of $(V_0; V_2)/\sqrt 2$ are orthonormal, it is at least
    $\|W_1\|_F^2 + \|W_2\|_F^2 + 2k - 2\sqrt2 \sum_{i \le k} s_i((W_1\ W_2^\top))$.
    """
    at = witnesses.bottleneck(net, x)
    norms, overlap = norms_and_overlap(net, at.rank)
    return leq(norms + 2 * at.rank - 2 * overlap, 2 * at.slack, where=at.rank > 0)


@instances
def negative_slopes_with_chains(source: Source):
    """A slope a < 0 (−i/64, or any), a chain of frames for a rank k and L ≥ 2, a point x > 0."""
    k, depth = source.integer(1, 3), source.integer(2, 6)
    if source.integer(0, 1) == 0:
        index = source.integer(1, 63)
        slope = 0 * source.tensor(low=0.0, high=1.0) - index / 64
    else:
        slope = source.tensor(low=-STEEPEST, high=-(2.0**-16))
    return slope, drawn_chain(source, k, depth), positive(source, k)


@instances
def best_chains(source: Source):
    """The same with the best chain, A_1 = (I; 0) and A_ℓ = I otherwise."""
    slope, chain, x = negative_slopes_with_chains()(source)
    return slope, best_chain(chain), x


@construction(
    "bottleneck.chained-projections-negative-slope",
    paper("bottleneck", "beyond Thm 6"),
    instances=negative_slopes_with_chains(),
    tight=best_chains(),
    mutants={"the second half read with the same sign": {"sign": -1}},
)
def test_chained_projections_negative_slope(slope, chain, x, *, sign=1):
    r"""For every negative slope some network is far from every chain of frames.

    For every $a \in (-1, 0)$, however small, $k \ge 1$ and $L \ge 2$ the bound of
    bottleneck.chained-projections fails: with $W_1 = (I; -I)$, $W_2 = (I\ I)$, $W_\ell = I_k$ for
    $\ell > 2$, no biases and $x > 0$,

    $$\sum_{\ell=1}^L \|W_\ell - A_\ell A_{\ell-1}^\top\|_F^2 \ge 2k >
      2k - 2k \log(1 + |a|) = c_1 - 2 \log |Jf(x)|_+$$

    for every chain of semi-orthonormal $A_\ell$, with equality for $A_1 = (I; 0)$ and $A_\ell = I$
    otherwise. Checked on drawn chains and on that one.
    Proof: docs/proofs/chains-for-negative-slopes.md.
    """
    k = len(x)
    net = right_angles(linalg.scalar(1, x), slope, k, len(chain) - 1, sign)
    right = 2 * k - 2 * k * (1 - slope).log()
    at = witnesses.bottleneck(net, x)
    return (
        leq(2 * k, chain_distance(net, chain), label="every chain"),
        eq(at.slack, right, scale=net.cost(), label="the right side"),
    )
