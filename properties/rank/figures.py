"""Figures 2 and 3 of `rank`: training experiments."""

from rankcheck import cited, paper


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
