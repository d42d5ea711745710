"""Figure 2 of `rank`: a training experiment."""

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
