"""Figure 2 of `rank`: four classes in the plane, and where three of them meet."""

from rankcheck import paper, statistical
from rankcheck.experiments.claims import mostly, recorded_runs
from rankcheck.experiments.figures.four_classes import MARGIN, MARGINS, fits


@statistical(
    "rank.figure-2",
    paper("rank", "Figure 2"),
    instances=recorded_runs(
        experiment="rank.figure-2", where=((("ridge", 0.0),), (("ridge", 3e-4),))
    ),
    mutants={
        "depth 2 in place of 9": {"deep": 2},
        "depth 9 in place of 2": {"shallow": 9},
        "in the box of the data alone": {"margin": 0.0},
    },
    no_batch="an instance is a recorded experiment",
    no_ball="trained weights are floats",
)
def test_figure_2(runs, *, deep=9, shallow=2, margin=MARGIN):
    r"""Trained classifiers have tripoints at depth two and mostly none at depth nine.

    A tripoint is a point where three or more classes meet. Four classes, each an inverted S in the
    plane, are moved along the $x$-axis by class. More than half of all trained ReLU networks of
    depth 9 fit all their points and have no tripoint in a box around the data, and more than half of
    those of depth 2 fit them and have one: each at the level 0.05, with the ridge
    $\lambda = 3 \cdot 10^{-4}$ and without one.

    Checked on a recorded experiment: 16 seeds of data and first weights for each depth and ridge, 160
    points, width 24, cross-entropy, 6 000 steps of Adam. Tripoints are found as vertices of the
    linear regions of the trained network, in the box of the data with half of its sides added on
    each side. In the box of the data alone most networks of depth 2 have none either (a mutant):
    three classes meet beyond the ends of the S shapes. It is not claimed that *every* deep network has
    none. That those of bottleneck rank one have none is rank.no-tripoints.
    """
    box = MARGINS.index(margin)

    def outcomes(depth, some):
        return [
            fits(run) and (run.measured["tripoints_by_margin"][box] > 0) == some
            for run in runs
            if run.settings["depth"] == depth
        ]

    return (
        mostly(outcomes(deep, False), "none at depth 9"),
        mostly(outcomes(shallow, True), "some at depth 2"),
    )
