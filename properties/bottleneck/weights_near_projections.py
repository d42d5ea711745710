import torch

from rankcheck import Need, bound, eq, leq, paper, refuted
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


@instances
def steep_networks(source: Source):
    """Networks with a slope between 3/2 and 4, which the theory excludes."""
    net, x = networks_at_points(depth=(2, 4), slopes="relu")(source)
    slope = source.tensor(low=1.5, high=4.0)
    return Network.unchecked_slope(net.weights, net.biases, slope), x


def rounding(net, at):
    """What the turn of the subspaces by rounding can do to a sum of squared distances."""
    return 2**8 * at.error * (net.cost() + at.count * net.depth)


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
    r"""The weights of a cheap network are nearly partial isometries of the rank of its Jacobian.

    With $k = \operatorname{rank} Jf(x) \ge 1$ and $c_1 = \|\theta\|^2 - kL$ there are semi-orthonormal
    $U_\ell$ ($n_\ell \times k$) and $V_\ell$ ($n_{\ell-1} \times k$) with

    $$\sum_{\ell=1}^L \|W_\ell - U_\ell V_\ell^\top\|_F^2 + \|b_\ell\|^2 \le c_1 - 2 \log |Jf(x)|_+$$

    for every slope $a$: $S_0$ is the row space of $Jf(x)$, $S_\ell = D_\ell W_\ell S_{\ell-1}$, and
    $U_\ell V_\ell^\top$ the polar part of $W_\ell P_{S_{\ell-1}}$. The biases are not in print.

    The distance to the polar part is $\|W_\ell\|_F^2 + k - 2\|W_\ell P\|_*$, which needs no singular
    vectors (bottleneck.projection-frames). The bound is tight in ratio, for large isometries. (The
    $k$ leading singular vectors of $W_\ell$ itself are nearer still, but know nothing of $x$.)
    """
    at = bottleneck(net, x)
    left = distances(net, x, at.rank).sum(-1) + sum((b * b).sum(-1) for b in net.biases)
    size = net.cost() + at.count * net.depth
    return leq(left, at.slack, where=at.rank > 0, scale=size, error=rounding(net, at))


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
    r"""All but pL of the layers are near partial isometries, for every p.

    At least $(1-p)L$ layers have
    $\|W_\ell - U_\ell V_\ell^\top\|_F^2 \le (c_1 - 2 \log |Jf(x)|_+)/(pL)$, for every $p \in (0, 1)$.

    Together for all $p$: the $m$-th largest of the $L$ distances is at most
    $(c_1 - 2 \log |Jf(x)|_+)/m$, for $m = 1, \dots, L$.
    """
    at = bottleneck(net, x)
    ranked = torch.sort(one_sided_distances(net, x, at.rank), -1, descending=True).values
    places = torch.arange(1, net.depth + 1, device=x.device)
    size = (net.cost() + at.count * net.depth).unsqueeze(-1)
    error = rounding(net, at).unsqueeze(-1)
    slack = at.slack.unsqueeze(-1)
    return leq(ranked * places, slack, where=at.rank > 0, scale=size, error=error)


@refuted(
    "bottleneck.weights-near-projections-proof",
    paper("bottleneck", "proof of Thm 15"),
    instances=networks_at_points(depth=(1, 3), width=(1, 3)),
    errata="A product of pseudo-determinants needs the image of one factor to be what the next one "
    "keeps. Projected on the left as well, the factors do not meet: project on the right alone, on "
    "the images of the row space of Jf.",
    corrected_by="bottleneck.weights-near-projections",
)
def test_weights_near_projections_proof(net, x):
    r"""The pseudo-determinant of the Jacobian as a product over layers projected on both sides.

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
    errata="With the singular vectors of W_ℓ projected on both sides the bound is false; with those of "
    "W_ℓ projected on the right it is true.",
    corrected_by="bottleneck.weights-near-projections",
)
def test_weights_near_two_sided_projections(net, x):
    r"""The bound on the weights with the partial isometries of the printed proof.

    $\sum_\ell \|W_\ell - U_\ell V_\ell^\top\|_F^2 \le c_1 - 2 \log |Jf(x)|_+$ with the singular
    vectors of $P_\ell W_\ell P'_{\ell-1}$, where $P_\ell$ projects on
    $\operatorname{Im} J(\tilde\alpha_\ell \to f)^\top$ and $P'_\ell$ on $\operatorname{Im} J\alpha_\ell$.
    """
    at = bottleneck(net, x)
    return leq(two_sided_distances(net, x, at.rank).sum(-1), at.slack)
