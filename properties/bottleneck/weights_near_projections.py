"""Theorem 6/15 of `bottleneck`: the weights of a cheap network are nearly projections.

True for projections on the right alone; the printed proof projects on both sides.
"""

import torch

from rankcheck import Erratum, Need, bound, eq, leq, paper, refuted
from rankcheck.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.instances.source import Source, instances
from rankcheck.networks import Network
from rankcheck.witnesses.projections import (
    bottleneck,
    one_sided_distances,
    one_sided_frames,
    two_sided_distances,
    two_sided_log_determinant,
)

from ._narrow_ends import narrow_ended_networks
from ._rounding import rounding, size


@instances
def steep_networks(source: Source):
    """Networks with a slope between 3/2 and 4, which the theorem excludes, and a point."""
    net, x = networks_at_points(depth=(2, 4), slopes="relu")(source)
    slope = source.tensor(low=1.5, high=4.0)
    return Network.unchecked_slope(net.weights, net.biases, slope), x


@bound(
    "bottleneck.weights-near-projections",
    paper("bottleneck", "Thm 6/15 (one-sided projections)"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(scale=(2.0**21, 2.0**22), equal=True),
    needs={
        "|a| ≤ 1": steep_networks(),
        "projected on the right alone": Need(
            narrow_ended_networks(), {"distances": two_sided_distances}
        ),
    },
    witness=one_sided_frames,
    effort=0.4,
)
def test_weights_near_projections(net, x, *, distances=one_sided_distances):
    r"""The weights of a cheap network are close to partial isometries of rank k.

    With $k = \operatorname{rank} Jf(x) \ge 1$ and $c_1 = \|\theta\|^2 - kL$ there are semi-orthonormal
    $U_\ell$ ($n_\ell \times k$) and $V_\ell$ ($n_{\ell-1} \times k$) with

    $$\sum_{\ell=1}^L \|W_\ell - U_\ell V_\ell^\top\|_F^2 + \|b_\ell\|^2 \le c_1 - 2 \log |Jf(x)|_+$$

    for every slope $a$: $S_0$ is the row space of $Jf(x)$, $S_\ell = D_\ell W_\ell S_{\ell-1}$, and
    $U_\ell V_\ell^\top$ the polar part of $W_\ell P_{S_{\ell-1}}$. The biases are not in print.

    The squared distance to the polar part is computed as $\|W_\ell\|_F^2 + k - 2\|W_\ell P\|_*$, which
    needs no singular vectors (bottleneck.projection-frames). The ratio of the sides tends to one for
    large isometries. The $k$ leading singular vectors of $W_\ell$ itself are closer still, but do not
    depend on $x$.
    """
    at = bottleneck(net, x)
    left = distances(net, x, at.rank).sum(-1) + sum((b * b).sum(-1) for b in net.biases)
    return leq(left, at.slack, where=at.rank > 0, scale=size(net, at), error=rounding(net, at))


@bound(
    "bottleneck.most-layers",
    paper("bottleneck", "Thm 6"),
    instances=networks_at_points(),
    tight=balanced_linear_networks(scale=(2.0**21, 2.0**22), equal=True),
    needs={"|a| ≤ 1": steep_networks()},
    witness=one_sided_frames,
    effort=0.4,
)
def test_most_layers(net, x):
    r"""All but pL of the layers are close to partial isometries, for every p.

    In the notation of bottleneck.weights-near-projections, for every $p \in (0, 1)$ at least $(1-p)L$
    layers have $\|W_\ell - U_\ell V_\ell^\top\|_F^2 \le (c_1 - 2 \log |Jf(x)|_+)/(pL)$.

    Checked for all $p$ together: the $m$-th largest of the $L$ squared distances is at most
    $(c_1 - 2 \log |Jf(x)|_+)/m$, for $m = 1, \dots, L$.
    """
    at = bottleneck(net, x)
    ranked = torch.sort(one_sided_distances(net, x, at.rank), -1, descending=True).values
    places = torch.arange(1, net.depth + 1, device=x.device)
    return leq(
        ranked * places,
        at.slack.unsqueeze(-1),
        where=at.rank > 0,
        scale=size(net, at).unsqueeze(-1),
        error=rounding(net, at).unsqueeze(-1),
    )


@refuted(
    "bottleneck.weights-near-projections-proof",
    paper("bottleneck", "proof of Thm 15"),
    instances=networks_at_points(depth=(1, 3), width=(1, 3)),
    errata=Erratum(
        printed="TODO",
        right="Print projects the layers on both sides and multiplies pseudo-determinants. These multiply "
        "only if the image of each factor is the row space of the next, and here it is not. Right is to "
        "project on the right alone, onto the images of the row space of Jf.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.weights-near-projections",
)
def test_weights_near_projections_proof(net, x):
    r"""The pseudo-determinant of the Jacobian is a product over layers projected twice.

    $|Jf(x)|_+$ is the product of the $|P_{\ell} W_\ell P'_{\ell-1}|_+$ and the
    $|Q_\ell D_\ell Q'_\ell|_+$, where $P_\ell$ projects on $\operatorname{Im} J(\tilde\alpha_\ell \to f)^\top$,
    $P'_\ell$ on $\operatorname{Im} J\alpha_\ell$, $Q_\ell$ on
    $\operatorname{Im} J(\alpha_\ell \to f)^\top$, and $Q'_\ell$ on $\operatorname{Im} J\tilde\alpha_\ell$.
    """
    return eq(two_sided_log_determinant(net, x).exp(), bottleneck(net, x).log_determinant.exp())


@refuted(
    "bottleneck.weights-near-two-sided-projections",
    paper("bottleneck", "proof of Thm 15"),
    instances=networks_at_points(depth=(1, 3), width=(1, 3)),
    errata=Erratum(
        printed="TODO",
        right="Print takes the singular vectors of W_ℓ projected on both sides, with which the bound is "
        "false. It is true with those of W_ℓ projected on the right alone.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.weights-near-projections",
)
def test_weights_near_two_sided_projections(net, x):
    r"""The weights are close to the partial isometries of the printed proof.

    $\sum_\ell \|W_\ell - U_\ell V_\ell^\top\|_F^2 \le c_1 - 2 \log |Jf(x)|_+$, where $U_\ell$ and
    $V_\ell$ are the singular vectors of $P_\ell W_\ell P'_{\ell-1}$, $P_\ell$ projects on
    $\operatorname{Im} J(\tilde\alpha_\ell \to f)^\top$ and $P'_\ell$ on $\operatorname{Im} J\alpha_\ell$.
    """
    at = bottleneck(net, x)
    return leq(two_sided_distances(net, x, at.rank).sum(-1), at.slack)
