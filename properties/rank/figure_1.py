"""Figure 1 of `rank`: a network of depth 13 on a task of low rank."""

from rankcheck import paper, statistical
from rankcheck.experiments.claims import mostly, recorded_runs
from rankcheck.experiments.figures.low_rank_task import (
    FITTED,
    PRINTED,
    bend_inside,
    bend_outside,
    dimension,
    near_one,
)


@statistical(
    "rank.figure-1",
    paper("rank", "Figure 1"),
    instances=recorded_runs(
        experiment="rank.figure-1",
        where=((("used", 4), ("gain", 1.41421)),),
    ),
    needs={
        "the network is deep": recorded_runs(
            experiment="rank.figure-1", where=((("used", 4), ("depth", 3)),)
        ),
    },
    mutants={
        "a dimension more": {"more": 1},
        "a dimension less": {"more": -1},
        "a thousandth of the nonlinearity in the middle": {"quiet": 0.001},
        "a tenth of the distance to the printed cost": {"near": 0.1},
    },
    no_batch="an instance is a recorded experiment",
    no_ball="trained weights are floats",
)
def test_figure_1(runs, *, more=0, quiet=0.1, near=1.0):
    r"""Trained networks of depth 13 carry a task of rank 4 in four or five dimensions.

    Networks of depth 13 and width 100 learn 500 values $y = h(z_1, \dots, z_k) \in \mathbb R^{50}$,
    $k = 4$, from $x = g(z) \in \mathbb R^{50}$, $z \in \mathbb R^{15}$ normal, $g$ and $h$ random shallow
    networks, with the ridge $\lambda = 0.05/L$; the values have mean squared norm 1, and the first
    weights the gain $\sqrt 2$, the last layer divided by $\sqrt{50}$. More than half of all such
    trainings, over data and first weights, end like this, at the level 0.05 for each statement, by
    five recorded ones:

    * the error is at most a tenth of that of the network 0;
    * the Jacobian has rank $k$ at most points, and in each of the layers $L/4 \le \ell \le 3L/4$ the
      centred representations $Z_\ell$ have the same number of singular values above 5 % of the
      largest, $k$ or $k + 1$, the next one smaller by a factor of ten;
    * as many singular values of each of the weights $W_\ell$ there are within 0.25 of 1;
    * the activation changes the pre-activations of these layers,
      $\|\tilde Z_\ell - \sigma(\tilde Z_\ell)\|_F / \|\tilde Z_\ell\|_F$, at most a tenth as much as
      those of the first and of the last hidden layer;
    * $5 \le \|\theta\|^2/L \le 7$, where the document has $\|\theta\|^2/L \approx 6$.

    This is about the size of the document and Adam. The recorded networks carry $k + 1$ dimensions,
    one more than the task needs; more often $k$ from smaller first weights, from which some trainings
    do not fit the data. Those, and the task with $k = 5$ that the appendix describes, are part of the
    experiment and not of this claim. Nothing is said of global minima. Networks of depth 3 are the
    control group.
    """
    k = runs[0].settings["used"]
    costs = [run.audit.per_layer for run in runs]
    return (
        mostly([run.measured["error"] <= FITTED for run in runs], "the data are fitted"),
        mostly([run.audit.rank == k + more for run in runs], "the rank of the Jacobian"),
        mostly([dimension(run) in (k, k + 1) for run in runs], "the dimension in the middle"),
        mostly([set(near_one(run)) == {dimension(run)} for run in runs], "singular values near 1"),
        mostly(
            [bend_inside(run) <= quiet * bend_outside(run) for run in runs],
            "nearly linear in the middle",
        ),
        mostly([abs(cost - PRINTED) <= near for cost in costs], "the cost per layer"),
    )
