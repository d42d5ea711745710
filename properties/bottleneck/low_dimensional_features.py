"""Corollary 8/17 of `bottleneck`: most layers map the data to nearly k dimensions."""

import torch

from rankcheck import Erratum, Need, bound, leq, paper, refuted
from rankcheck.instances.balanced import balanced_networks_with_inputs
from rankcheck.instances.matrices import orthogonal
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import eye, log_pseudo_determinant, rank, singular_values
from rankcheck.networks import Network
from rankcheck.networks.tangent_kernel import ntk_trace
from rankcheck.separation.legendre import stereographic

from ._capped import capped


@instances
def equal_layers(source: Source, *, depth=(1, 100), points=(2, 3)):
    """ReLU networks of width two, without biases, with one matrix rM in all layers; N points.

    M has rows and columns of length one: a rotation, a reflection, or one of these with the sign of
    one entry changed. The network is therefore balanced neuron by neuron.
    """
    layers, number = source.integer(*depth), source.integer(*points)
    sign = source.choice((1, -1))
    r = source.tensor(1, 1, low=0.25, high=1.5)
    unit = stereographic(source.tensor(1, low=-2.0, high=2.0))
    s, c = unit[..., :1], -unit[..., 1:]
    rows = (torch.cat((c, s), -1), torch.cat((sign * s, c), -1))
    weight = r * torch.stack(rows, -2)
    return Network.linear((weight,) * layers), source.tensor(number, 2)


@instances
def offset_isometries(source: Source):
    """x ↦ (Qx, β) from R^k to R^{k+1} at 2k points ±εe_i, where β is small against ε = 1/16.

    The ratio of the sides is near k/(k+1).
    """
    k = source.integer(1, 6)
    Q = orthogonal(source, k)
    offset = source.tensor(1, low=2.0**-10, high=2.0**-6)
    identity = eye(k, like=Q).expand(Q.shape) / 16
    weight = torch.cat((Q, torch.zeros_like(Q[..., :1, :])), -2)
    bias = torch.cat((torch.zeros_like(Q[..., 0]), offset), -1)
    return Network((weight,), (bias,)), torch.cat((identity, -identity), -2)


@instances
def balanced_networks_of_any_depth(source: Source):
    """Small balanced networks, networks of up to 100 equal layers, or isometries and an offset."""
    kind = source.integer(0, 4)
    if kind < 3:
        both = balanced_networks_with_inputs(points=(2, 4), constructions=("exact", "rescaled"))
        return both(source)
    if kind == 3:
        return equal_layers(depth=source.choice(((2, 8), (24, 100))))(source)
    return offset_isometries()(source)


def features(net, X, growth):
    """The sides of the bound for all p together, and where it is asserted.

    With s the m-th largest of the L values s_{k+1}(α̃_ℓ(X)/√N), returns

    * the left side (m s)² k min|Jf|^{2/k}/growth, shape (*B, L);
    * twice a pair of shape (*B, 1): the right side, (c_1 − 2 log max|Jf|) times the mean trace of
      the kernel, and its scale, ‖θ‖² + kL times that trace. The first pair is for the kernel of all
      parameters, the second for that of the weights;
    * bools (*B): all Jf(x_i) have one rank k ≥ 1.
    """
    J, noise = net.jacobian(X), net.jacobian_noise(X)
    ranks, logs = rank(J, noise), log_pseudo_determinant(J, noise)
    k = ranks[..., 0]
    agree = (ranks == k.unsqueeze(-1)).all(-1) & (k > 0)
    excess = net.cost() - k * net.depth
    count = torch.zeros_like(excess) + torch.where(k > 0, k, 1)
    below = count * (logs.amin(-1) * 2 / count).exp() / growth(excess / count)
    slack, size = excess - 2 * logs.amax(-1), net.cost() + count * net.depth
    following = torch.stack([_entry(singular_values(z), k) for z in net.preactivations(X)], -1)
    ranked = torch.sort(following, -1, descending=True).values
    places = torch.arange(1, net.depth + 1, device=X.device)
    left = (ranked * places) ** 2 / X.shape[-2] * below.unsqueeze(-1)
    traces = [ntk_trace(net, X, biases).mean(-1) for biases in (True, False)]
    right = [((slack * t).unsqueeze(-1), (size * t).unsqueeze(-1)) for t in traces]
    return left, *right, agree


def _entry(s, k):
    """s_{k+1}, zero if there are only k singular values."""
    places = torch.arange(s.shape[-1], device=s.device)
    return torch.where(places == k.unsqueeze(-1), s, torch.zeros_like(s)).sum(-1)


def without_biases(net):
    """Bools (*B): all biases vanish."""
    zero = [(b == 0).all(-1) for b in net.biases]
    return torch.stack(zero, -1).all(-1)


@bound(
    "bottleneck.low-dimensional-features",
    paper("bottleneck", "Cor. 8/17 (corrected)"),
    instances=balanced_networks_of_any_depth(),
    needs={
        "max(1, e^{c_1/k})": Need(equal_layers(depth=(24, 100)), {"growth": torch.exp}),
        "the biases count in Θ": Need(offset_isometries(), {"biases": False}),
    },
    loose={
        "all parameters": "the best ratio known is k/(k + 1), at depth 1: sharp only as k grows",
        "without biases": "the proof chains Cauchy-Schwarz, Markov and the inequality of the means",
    },
    effort=0.5,
)
def test_low_dimensional_features(net, X, *, growth=capped, biases=True):
    r"""With a bounded tangent kernel almost all layers map the data to nearly k dimensions.

    For balanced parameters, points $x_1, \dots, x_N$ with $\operatorname{rank} Jf(x_i) = k \ge 1$,
    $c_1 = \|\theta\|^2 - kL$ and $c = \frac1{NL} \sum_i \operatorname{tr} \Theta(x_i, x_i)$, where $\Theta$
    is the kernel of weights *and biases*, and every $p \in (0, 1)$, at least $(1-p)L$ layers have

    $$s_{k+1}\bigl(\tfrac1{\sqrt N} \tilde\alpha_\ell(X)\bigr) \le
      \sqrt{\frac{c\,(c_1 - 2 \log \max_i |Jf(x_i)|_+) \max(1, e^{c_1/k})}
                 {k \min_i |Jf(x_i)|_+^{2/k}}}\; \frac1{p \sqrt L}.$$

    For networks without biases the kernel of the weights is enough. Checked for all $p$ together: the
    $m$-th largest of the $L$ singular values is at most $L/m$ times the bound with $p = 1$.

    With biases $\tilde\alpha_\ell(X) = (W_\ell\ b_\ell)(\alpha_{\ell-1}(X); 1)$. Both factors have to
    count the biases: $c_1$ does, and so must $\Theta$. No control drops the balance: a chain of
    isometries that is not balanced gains a factor of at most 1.28 in the squares, and the bound is not
    sharp enough to fail there.
    """
    left, all_parameters, weights, agree = features(net, X, growth)
    right, size = all_parameters if biases else weights
    alone = agree & without_biases(net)
    return (
        leq(left, right, where=agree, scale=size, label="all parameters"),
        leq(left, weights[0], where=alone, scale=weights[1], label="without biases"),
    )


@refuted(
    "bottleneck.low-dimensional-features-as-printed",
    paper("bottleneck", "Cor. 8/17"),
    instances=equal_layers(),
    errata=Erratum(
        printed="TODO",
        right="Print has the factor e^{c_1/k}. For c_1 < 0 it must be max(1, e^{c_1/k}), as in Theorem 7, "
        "from which it comes.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="bottleneck.low-dimensional-features",
)
def test_low_dimensional_features_as_printed(net, X):
    r"""Most layers map the data to nearly k dimensions, with e^{c_1/k} for every c_1.

    For balanced parameters, points with $\operatorname{rank} Jf(x_i) = k$, $c_1 = \|\theta\|^2 - kL$ and
    $c = \frac1{NL} \operatorname{tr} \Theta(X, X)$, for every $p \in (0, 1)$ at least $(1-p)L$ layers have
    $s_{k+1}(\tilde\alpha_\ell(X)/\sqrt N) \le
    \sqrt{c\,(c_1 - 2 \log \max_i |Jf(x_i)|_+)\,e^{c_1/k} / (k \min_i |Jf(x_i)|_+^{2/k})} / (p\sqrt L)$.

    Tested on networks without biases, with $\Theta$ over the weights.
    """
    left, _, (weights, _), agree = features(net, X, torch.exp)
    return leq(left, weights, where=agree & net.is_differentiable_at(X).all(-1))
