"""Theorem 6/15 of `bottleneck`: the weights of a cheap network are nearly projections.

True for projections on the right alone; the printed proof projects on both sides.
"""

from itertools import pairwise

import torch

from rankcheck import Erratum, Need, bound, construction, eq, leq, paper, step, witnesses
from rankcheck.instances import steep_networks

from ._bottlenecks import (
    dense_networks,
    isometries_beside_small_weights,
    networks_with_bottlenecks,
    sharp_bottlenecks,
)
from ._narrow_ends import narrow_ended_networks
from ._rounding import rounding, size, slack, tolerated


@bound(
    "bottleneck.weights-near-projections",
    paper("bottleneck", "Thm 6/15 (one-sided projections)"),
    instances=networks_with_bottlenecks(),
    tight=sharp_bottlenecks(),
    needs={
        "|a| ≤ 1": steep_networks(),
        "projected on the right alone": Need(
            narrow_ended_networks(), {"distances": witnesses.two_sided_distances}
        ),
    },
    mutants={
        "log|Jf|_+ counted 2.04 times": {"logs": 2.04},
        "rank 2 % larger": {"ranks": 1.02},
        "masks counted 1.02 times": {"masks": 1.02},
    },
    witness=witnesses.one_sided_frames,
    errata=Erratum(
        printed=r"$\|W_\ell - U_\ell V_{\ell+1}^T\|_F^2$ for $w_\ell \times k$ matrices $U_\ell$, "
        r"$V_\ell$",
        right=r"$U_\ell V_\ell^T$ with $U_\ell$ of $n_\ell$ rows and $V_\ell$ of $n_{\ell-1}$ "
        r"rows, as in the middle of the proof; $U_\ell V_{\ell+1}^T$ has not the shape of "
        r"$W_\ell$.",
        survives="Theorem 15, with this index.",
        place="Thm 15",
    ),
    effort=0.6,
    audit="at points: |a| ≤ 1, rank ≥ 1; ranks, heavy",
)
def test_weights_near_projections(
    net, x, *, distances=witnesses.one_sided_distances, logs=2, ranks=1, masks=1
):
    r"""The weights of a cheap network are close to partial isometries of rank k.

    With $k = \operatorname{rank} Jf(x) \ge 1$ and $c_1 = \|\theta\|^2 - kL$ there are semi-orthonormal
    $U_\ell$ ($n_\ell \times k$) and $V_\ell$ ($n_{\ell-1} \times k$) with

    $$\sum_{\ell=1}^L \|W_\ell - U_\ell V_\ell^\top\|_F^2 + \|b_\ell\|^2
      + \sum_{\ell<L} \bigl(k - \|D_\ell Q_\ell\|_F^2\bigr) \le c_1 - 2 \log |Jf(x)|_+$$

    for every slope $a$: $S_0$ is the row space of $Jf(x)$, $S_\ell = D_\ell W_\ell S_{\ell-1}$,
    $U_\ell V_\ell^\top$ is the polar part of $W_\ell P_{S_{\ell-1}}$, and $Q_\ell$ an orthonormal basis
    of $W_\ell S_{\ell-1}$, the image of $J\tilde\alpha_\ell(x)$ on $(\ker Jf(x))^\perp$. For
    $|a| \le 1$ each mask term is at least 0, so the printed bound follows. Its masks are projected on
    both sides as well; the biases are not in print.

    The squared distance to the polar part is computed as $\|W_\ell\|_F^2 + k - 2\|W_\ell P\|_*$, which
    needs no singular vectors (bottleneck.projection-frames). Both sides agree for isometries beside
    small weights and offsets, and to first order for masks that act on a small part of $Q_\ell$.

    Proof: docs/proofs/weights-near-projections.md.
    """
    at = witnesses.bottleneck(net, x)
    k, options = at.count, tolerated(net, at)
    near = distances(net, x, at.rank).sum() + sum(b @ b for b in net.biases)
    lost = witnesses.mask_losses(net, x, at.rank)
    return (
        leq(near + masks * lost.sum(), slack(net, at, logs, ranks), label="the sum", **options),
        leq(k - lost, k, label="each mask", **options),
    )


@bound(
    "bottleneck.most-layers",
    paper("bottleneck", "Thm 6/15"),
    instances=networks_with_bottlenecks(),
    tight=isometries_beside_small_weights(equal=True),
    needs={"|a| ≤ 1": steep_networks()},
    mutants={"log|Jf|_+ counted 2.04 times": {"logs": 2.04}, "rank 2 % larger": {"ranks": 1.02}},
    witness=witnesses.one_sided_frames,
    errata=Erratum(
        printed=r"there are at most $pL$ layers $\ell$ with both $\|W_\ell - U_\ell "
        r"V_{\ell+1}^T\|_F^2 \le \ldots$ and $\|P D_\ell(x) P\|_F^2 \ge k - \ldots$",
        right="At least $(1 - p)L$ layers have both.",
        survives="Theorem 15.",
        place="end of the proof of Thm 15",
    ),
    effort=0.6,
    audit="at points: |a| ≤ 1, rank ≥ 1; ranks, heavy",
)
def test_most_layers(net, x, *, logs=2, ranks=1):
    r"""All but pL of the layers are close to partial isometries, for every p.

    In the notation of bottleneck.weights-near-projections, for every $p \in (0, 1)$ at least $(1-p)L$
    layers have both
    $$\|W_\ell - U_\ell V_\ell^\top\|_F^2 \le \frac{c_1 - 2 \log |Jf(x)|_+}{pL}
      \quad\text{and}\quad
      \|D_\ell Q_\ell\|_F^2 \ge k - \frac{c_1 - 2 \log |Jf(x)|_+}{pL}.$$

    Checked for all $p$ together, and for the sum of both: the $m$-th largest of the $L$ numbers
    $\|W_\ell - U_\ell V_\ell^\top\|_F^2 + k - \|D_\ell Q_\ell\|_F^2$ (with $D_L = I$) is at most
    $(c_1 - 2 \log |Jf(x)|_+)/m$, for $m = 1, \dots, L$.
    """
    at = witnesses.bottleneck(net, x)
    lost = witnesses.mask_losses(net, x, at.rank)
    both = witnesses.one_sided_distances(net, x, at.rank) + lost
    ranked = both.sort(descending=True).values
    most = ranked * torch.arange(1, net.depth + 1, device=x.device)
    k, options = at.count, tolerated(net, at)
    return (
        leq(most, slack(net, at, logs, ranks), label="most layers", **options),
        leq(k - lost, k, label="each mask", **options),
    )


def defect(frames, k):
    """Σ ‖AᵀA − I_k‖_F² over the frames; all but the first k columns of A have to be zero."""
    grams = [A.mT @ A for A in frames]
    counted = [(torch.arange(len(G), device=G.device) < k).to(G.dtype) for G in grams]
    return sum((G - torch.diag(one)).square().sum() for G, one in zip(grams, counted, strict=True))


@construction(
    "bottleneck.projection-frames",
    paper("bottleneck", "Thm 6/15"),
    instances=networks_with_bottlenecks(),
    mutants={
        "every left frame reflected": {
            "pairs": lambda *at: [(-U, V) for U, V in witnesses.one_sided_frames(*at)]
        },
        "every second frame of the chain reflected": {
            "chain": lambda *at: [
                (-1) ** i * A for i, A in enumerate(witnesses.chained_frames(*at))
            ]
        },
    },
    witness=witnesses.projections,
    no_ball="singular vectors are irrational; the claims that bound the distances run on balls",
    effort=0.5,
    audit="left out: it checks a function of rankcheck, on any network",
)
def test_projection_frames(
    net, x, *, pairs=witnesses.one_sided_frames, chain=witnesses.chained_frames
):
    r"""Orthonormal frames along the weights attain the distances that Theorem 6/15 bounds.

    With $k = \operatorname{rank} Jf(x)$, the polar parts $U_\ell V_\ell^\top$ of
    $W_\ell P_{S_{\ell-1}}$ have

    $$\|W_\ell - U_\ell V_\ell^\top\|_F^2 = \|W_\ell\|_F^2 + k - 2\|W_\ell P_{S_{\ell-1}}\|_*,$$

    and the chained frames $A_\ell$ of $S_\ell$, each turned so that $A_\ell^\top W_\ell A_{\ell-1}$ is
    positive semi-definite, have

    $$\|W_\ell - A_\ell A_{\ell-1}^\top\|_F^2 =
      \|W_\ell\|_F^2 + k - 2\|P_{S_\ell} W_\ell P_{S_{\ell-1}}\|_*.$$

    All of them have $k$ orthonormal columns.
    """
    at = witnesses.bottleneck(net, x)
    k = at.rank
    one, A = pairs(net, x, k), chain(net, x, k)
    parts = [U @ V.mT for U, V in one], [b @ a.mT for a, b in pairwise(A)]
    near, chained = (
        torch.stack([(w - p).square().sum() for w, p in zip(net.weights, part, strict=True)])
        for part in parts
    )
    deviation = defect([*A, *(frame for pair in one for frame in pair)], k)
    options = {"scale": size(net, at), "error": rounding(net, at)}
    return (
        eq(near, witnesses.one_sided_distances(net, x, k), label="one-sided", **options),
        eq(chained, witnesses.chained_distances(net, x, k), label="chained", **options),
        eq(deviation, 0, scale=torch.ones_like(deviation), label="orthonormal"),
    )


@step(
    "bottleneck.weights-near-projections-proof",
    paper("bottleneck", "proof of Thm 15"),
    instances=dense_networks(),
    errata=Erratum(
        printed=r"$|Jf_\theta(x)|_+ = |W_L P_{\operatorname{Im} J\alpha_{L-1}(x)}|_+ "
        r"|P_{\operatorname{Im} J(\alpha_{L-1}\to f_\theta)(x)^T} D_{L-1}(x) P_{\operatorname{Im} "
        r"J\tilde\alpha_{L-1}(x)}| |P_{\operatorname{Im} J(\tilde\alpha_{L-1}\to f_\theta)(x)^T} "
        r"W_{L-1} P_{\operatorname{Im} J\alpha_{L-2}(x)}|_+ \cdots |P_{J(\tilde\alpha_1\to "
        r"f_\theta)(x)^T} W_1|_+$",
        right=r"$|Jf_\theta(x)|_+ = \prod_\ell |W_\ell P_{S_{\ell-1}}|_+ \prod_\ell |D_\ell "
        r"P_{W_\ell S_{\ell-1}}|_+$: right is to project on the right alone, onto the images "
        r"$S_\ell$ of the row space of $Jf$; $|Jf|_+$ is the product of the volumes of $W_\ell$ "
        r"on $S_{\ell-1}$ and of $D_\ell$ on $W_\ell S_{\ell-1}$. Pseudo-determinants multiply "
        "only if the image of each factor is the row space of the next "
        "(bottleneck.pseudo-determinant-product); projecting on both sides does not achieve this.",
        survives="Theorem 15, with the same right side, for the frames that belong to these factors, and "
        "with a mask term.",
        weight="step",
    ),
    readings={
        "$P$ projects on the image that its index names": "tested: 1/2 against 1 for $W_1 = (1, "
        r"1)^{\top}$, $W_2 = (1\ 0)$ and $x > 0$.",
        r"$\operatorname{Im} J\alpha$ is meant on the row space of $Jf$ only": "the example has one input, so "
        r"$J\alpha_\ell$ has rank one and both spaces agree.",
        "the product only bounds $|Jf|_+$ from above": "here it is below $|Jf|_+$.",
    },
    result="stands: bottleneck.weights-near-projections has a proof with projections on the right alone",
    corrected_by="bottleneck.weights-near-projections",
)
def test_weights_near_projections_proof(net, x):
    r"""The pseudo-determinant of the Jacobian is a product over layers projected twice.

    $|Jf(x)|_+$ is the product of the $|P_{\ell} W_\ell P'_{\ell-1}|_+$ and the
    $|Q_\ell D_\ell Q'_\ell|_+$, where $P_\ell$ projects on $\operatorname{Im} J(\tilde\alpha_\ell \to f)^\top$,
    $P'_\ell$ on $\operatorname{Im} J\alpha_\ell$, $Q_\ell$ on
    $\operatorname{Im} J(\alpha_\ell \to f)^\top$, and $Q'_\ell$ on $\operatorname{Im} J\tilde\alpha_\ell$.
    """
    at = witnesses.bottleneck(net, x)
    product = witnesses.two_sided_log_determinant(net, x).exp()
    return eq(product, at.log_determinant.exp(), where=at.rank > 0)


@step(
    "bottleneck.weights-near-two-sided-projections",
    paper("bottleneck", "proof of Thm 15"),
    instances=dense_networks(),
    errata=Erratum(
        printed=r"$\sum \|W_\ell - U_\ell V_{\ell+1}^T\|_F^2 + k - \|P_{\operatorname{Im} "
        r"J(\alpha_\ell\to f_\theta)(x)^T} D_\ell(x) P_{\operatorname{Im} "
        r"J\tilde\alpha_\ell(x)}\|_F^2 \le c_1 - 2 \log|Jf_\theta(x)|_+$, where $U_\ell S_\ell "
        r"V_\ell^T$ is the SVD decomposition of $P_{\operatorname{Im} J(\tilde\alpha_\ell\to "
        r"f_\theta)(x)^T} W_\ell P_{\operatorname{Im} J\alpha_{\ell-1}(x)}$",
        right=r"The bound holds with the singular vectors of $W_\ell$ projected on the right "
        "alone, onto the image of the row space of $Jf$.",
        survives="Theorem 15, which says only that some frames exist.",
        weight="step",
    ),
    readings={
        "the whole sum, with the masks": "a larger left side; it fails where the sum without them does.",
        "the sum over the weights alone": r"tested: $3 - \sqrt{2} = 1.59$ against 1 for $W_1 = "
        r"(1, 1)^{\top}$, $W_2 = (1\ 0)$ and $x > 0$.",
    },
    result="stands: other frames satisfy the theorem, bottleneck.weights-near-projections",
    corrected_by="bottleneck.weights-near-projections",
)
def test_weights_near_two_sided_projections(net, x):
    r"""The weights are close to the partial isometries of the printed proof.

    $\sum_\ell \|W_\ell - U_\ell V_\ell^\top\|_F^2 \le c_1 - 2 \log |Jf(x)|_+$, where $U_\ell$ and
    $V_\ell$ are the singular vectors of $P_\ell W_\ell P'_{\ell-1}$, $P_\ell$ projects on
    $\operatorname{Im} J(\tilde\alpha_\ell \to f)^\top$ and $P'_\ell$ on $\operatorname{Im} J\alpha_\ell$.
    """
    at = witnesses.bottleneck(net, x)
    left = witnesses.two_sided_distances(net, x, at.rank).sum(-1)
    return leq(left, at.slack, where=at.rank > 0)
