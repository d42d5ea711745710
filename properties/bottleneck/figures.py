"""Figure 1 of `bottleneck`: trained networks."""

from rankcheck import cited, paper


@cited(
    "bottleneck.figure-1",
    paper("bottleneck", "Fig. 1"),
    reason="open: the experiment has not been run here",
)
def test_figure_1():
    r"""Over ranges of depths the trained parameter norm is affine, with the rank as its slope.

    Networks are trained on synthetic data of optimal rank $k^* = 2$ with the ridge
    $\lambda = 0.001$, at a range of depths. The rank of $W_{L/2}$ (the number of its singular values
    above 0.1) falls as the depth grows, until training fails and ends at the parameters 0 for
    $L > 25$. In a range of depths with one rank, $\|\theta\|^2$ is well approximated by an affine
    function of the depth whose slope is the rank, and the singular values of the $W_\ell$ stay the
    same but for the low-rank part in the middle, which grows with the depth.
    """
