"""Proof of Prop. 7 of `rank`: the Jacobian as a product of masked weights."""

from rankcheck import bound, leq, linalg, paper
from rankcheck.instances import balanced_linear_networks, networks_at_points, steep_networks


@bound(
    "rank.masked-weights",
    paper("rank", "proof of Prop. 7"),
    instances=networks_at_points(depth=(2, 5)),
    tight=balanced_linear_networks(depth=(2, 5)),
    needs={"|a| ≤ 1": steep_networks()},
    audit="at points: |a| ≤ 1, L ≥ 2",
)
def test_masked_weights(net, x):
    r"""Masking the weights by the derivatives of the activation never raises their norm.

    $\sum_{\ell < L} \|D_\ell W_\ell\|_F^2 \le \sum_{\ell < L} \|W_\ell\|_F^2$, because
    $\|D_\ell\|_{op} \le 1$ for $|a| \le 1$.
    """
    masked = sum(
        linalg.frobenius_squared(d.unsqueeze(-1) * w)
        for d, w in zip(net.masks(x), net.weights[:-1], strict=True)
    )
    return leq(masked, sum(linalg.frobenius_squared(w) for w in net.weights[:-1]))
