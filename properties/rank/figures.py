"""Figures 1 and 3 of `rank`: training experiments."""

from rankcheck import cited, paper


@cited(
    "rank.figure-1",
    paper("rank", "Figure 1"),
    reason="a training experiment (depth 13, width 100, N = 500) that has not been run here yet",
)
def test_figure_1():
    r"""A trained network of depth 13 represents a task of rank 4 in rank 4.

    For $f^*: \mathbb R^{50} \to \mathbb R^{50}$ of rank 4, $N = 500$, width 100 and
    $\lambda = 0.05/L$, training ends at $\|\theta\|^2/L \approx 6$. In the middle layers the
    representations have rank about 4, the nonlinearity changes the pre-activations little, and the
    weights have about 4 singular values that are not small.
    """


@cited(
    "rank.figure-3",
    paper("rank", "Figure 3"),
    reason="a training experiment (autoencoders on MNIST and on a curve in the plane) that has not "
    "been run here yet",
)
def test_figure_3():
    r"""Deep trained autoencoders project noisy inputs to the data, shallow ones do not.

    With ridge $\lambda = 10^{-4}$, on MNIST and on a curve in the plane. That autoencoders of the true
    rank project is rank.denoising-projection.
    """
