"""Figures 1 and 2 of `rank`: training experiments."""

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
    "rank.figure-2",
    paper("rank", "Figure 2"),
    reason="a training experiment (four classes in the plane, depths 2 and 9) that has not been run "
    "here yet",
)
def test_figure_2():
    r"""Trained classifiers have tripoints at depth two and none at depth nine.

    For four classes in the plane, with or without ridge. That classifiers of bottleneck rank one
    have none is rank.no-tripoints.
    """
