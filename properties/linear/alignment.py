from rankcheck import cited, paper


@cited(
    "linear.alignment",
    paper("linear", "slides B, Effect of weight decay (Ji & Telgarsky 2018)"),
    reason="a theorem on the limit of training time, cited by the slides from Ji & Telgarsky, "
    "Gradient descent aligns the layers of deep linear networks, ICLR 2019; alignment is logarithmic "
    "in time, so that a run of any length shows neither the limit nor its failure",
)
def test_alignment():
    r"""Gradient descent aligns the layers of linear networks.

    Gradient descent on a deep linear network, for linearly separable data and a loss with an
    exponential tail, makes each $W_\ell / \|W_\ell\|_F$ tend to rank one, $u_\ell v_\ell^\top$,
    with $|v_{\ell+1} \cdot u_\ell| \to 1$: the layers align.
    """
