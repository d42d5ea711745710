"""Effect of weight decay, slides B of `linear`: gradient descent aligns linear layers."""

from rankcheck import cited, paper


@cited(
    "linear.alignment",
    paper("linear", "slides B, Effect of weight decay (Ji & Telgarsky 2018)"),
    reason="a theorem about infinite training time (Ji & Telgarsky, Gradient descent aligns the "
    "layers of deep linear networks, ICLR 2019); the layers align at a logarithmic rate, so no "
    "finite run confirms or contradicts the limit",
)
def test_alignment():
    r"""Gradient descent aligns the layers of linear networks.

    On linearly separable data, with a loss that has an exponential tail, gradient descent on a
    deep linear network makes each $W_\ell / \|W_\ell\|_F$ tend to a rank-one matrix
    $u_\ell v_\ell^\top$, with $|v_{\ell+1} \cdot u_\ell| \to 1$. Not checked.
    """
