"""Figure 1 of `bottleneck`: the parameter norm of trained networks against their depth."""

from rankcheck import paper, statistical
from rankcheck.experiments.claims import mostly, recorded_runs
from rankcheck.experiments.figures.norm_against_depth import HALF, curves, falling, ranges


@statistical(
    "bottleneck.figure-1",
    paper("bottleneck", "Fig. 1"),
    instances=recorded_runs(experiment="bottleneck.figure-1", where=((("ridge", 0.001),),)),
    needs={
        "there is a ridge": recorded_runs(
            experiment="bottleneck.figure-1", where=((("ridge", 0.0),),)
        ),
    },
    mutants={
        "a slope of one more": {"more": 1},
        "a slope of one less": {"more": -1},
    },
    no_batch="an instance is a recorded experiment",
    no_ball="trained weights are floats",
)
def test_figure_1(runs, *, more=0):
    r"""Over ranges of depths the trained parameter norm is affine, with the rank as its slope.

    Five tasks $y = h(z_1, z_2) \in \mathbb R^{20}$ of $x = g(z) \in \mathbb R^{20}$, $z \in \mathbb R^8$
    normal, $g$ and $h$ random shallow networks, are learnt with the ridge $\lambda = 0.001$ by networks
    of the depths 5, 7, 9, 11, 13, 16, 20 and 25. The rank of a network is the number of singular values
    of $W_{\lceil L/2 \rceil}$ above 0.5. More than half of all such tasks, with their first weights,
    end like this, at the level 0.05 for each statement, by the five recorded ones:

    * there are three or more successive depths at which the networks fit the data (the error is at
      most 0.1, and 1 for the network 0) and have the same rank, and the slope of the line of least
      squares through their $\|\theta\|^2$ differs from that rank by less than 1/2, so that no other
      whole number is as near; and so it is for every such range;
    * the rank is least at the depth 25, and smaller than at the depth 5.

    This is about width 40, 150 points, the scale of the values and the first weights of the
    experiment, which the document does not print, and Adam. Without ridge, the control group, no line
    has such a slope.
    """
    some = curves(runs)
    found = [ranges(curve) for curve in some]
    slopes = [
        bool(each) and all(abs(one.slope - one.rank - more) < HALF for one in each)
        for each in found
    ]
    return (
        mostly(slopes, "the slope is the rank", of="tasks"),
        mostly([falling(curve) for curve in some], "the rank falls", of="tasks"),
    )
