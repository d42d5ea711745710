"""Proof of Prop. 7 of `rank`: the Jacobian as a product of masked weights."""

from rankcheck import Erratum, bound, eq, leq, paper, refuted
from rankcheck.instances.networks import balanced_linear_networks, networks_at_points
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import frobenius_squared
from rankcheck.networks import Network


@instances
def steep_networks(source: Source):
    """Networks with a slope between 3/2 and 4, which the theory excludes."""
    net, x = networks_at_points(depth=(2, 4), slopes="relu")(source)
    slope = source.tensor(low=1.5, high=4.0)
    return Network.unchecked_slope(net.weights, net.biases, slope), x


@bound(
    "rank.masked-weights",
    paper("rank", "proof of Prop. 7"),
    instances=networks_at_points(depth=(2, 5)),
    tight=balanced_linear_networks(depth=(2, 5)),
    needs={"|a| ≤ 1": steep_networks()},
)
def test_masked_weights(net, x):
    r"""Masking the weights by the derivatives of the activation never raises their norm.

    $\sum_{\ell < L} \|D_\ell W_\ell\|_F^2 \le \sum_{\ell < L} \|W_\ell\|_F^2$, because
    $\|D_\ell\|_{op} \le 1$ for $|a| \le 1$.
    """
    masked = sum(
        frobenius_squared(d.unsqueeze(-1) * w)
        for d, w in zip(net.masks(x), net.weights[:-1], strict=True)
    )
    return leq(masked, sum(frobenius_squared(w) for w in net.weights[:-1]))


@refuted(
    "rank.activation-derivative",
    paper("rank", "proof of Prop. 7"),
    instances=networks_at_points(depth=(2, 4)),
    errata=Erratum(
        printed="TODO",
        right="The diagonal of D_ℓ is printed as σ_a of the pre-activations; σ_a′ is right.",
        survives="TODO",
        weight="theorem",
    ),
    readings={"TODO": "TODO"},
    corrected_by="rank.piecewise-affine",
)
def test_activation_derivative(net, x):
    r"""The Jacobian, with the activations in place of their derivatives.

    $Jf(x) = W_L D_{L-1} W_{L-1} \cdots D_1 W_1$ with
    $D_\ell = \mathrm{diag}(\sigma_a(\tilde\alpha_\ell(x)))$.
    """
    J = net.weights[0]
    for alpha, w in zip(net.activations(x)[1:], net.weights[1:], strict=True):
        J = w @ (alpha.unsqueeze(-1) * J)
    return eq(net.jacobian(x), J)
