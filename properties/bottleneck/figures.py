"""Figures 1 and 2 of `bottleneck`, on recorded experiments: norms by depth, and a symmetry learnt."""

from fractions import Fraction
from itertools import groupby
from statistics import linear_regression

from rankcheck import mostly, paper, recorded_runs, statistical

#: A network has fitted its data if the error is at most this; that of the network 0 is 1.
FITTED = 0.1
#: The shallow depths, at which the networks of a task have one rank.
SHALLOW = (5, 7, 9)
#: A slope is nearer to such a half than this: no whole number is as near.
QUARTER = Fraction(1, 4)


def recorded(figure, setting, value):
    """The recorded runs of a figure with this value of a setting."""
    return recorded_runs(experiment=f"bottleneck.figure-{figure}", where=(((setting, value),),))


def curves(runs):
    """The runs of each seed in the order of their depths."""
    ordered = sorted(runs, key=lambda run: (run.seed, run.settings["depth"]))
    return [list(curve) for _, curve in groupby(ordered, key=lambda run: run.seed)]


def shallow(curve):
    """The runs at the depths `SHALLOW`, if networks of one rank fit the data at all of them."""
    found = [run for run in curve if run.settings["depth"] in SHALLOW]
    fit = all(run.measured["error"] <= FITTED for run in found)
    return found if fit and len({run.measured["rank"] for run in found}) == 1 else []


def between(curve, below):
    """Whether the slope at the shallow depths is the rank minus so much, up to a quarter."""
    if not (found := shallow(curve)):
        return False
    norms = [run.measured["norm"] for run in found]
    slope, _ = linear_regression([run.settings["depth"] for run in found], norms)
    return abs(slope - (found[0].measured["rank"] - below)) < QUARTER


def one_too_many(curve):
    """Whether at the shallow depths the weights have a larger rank than the function."""
    found = shallow(curve)
    return bool(found) and all(
        run.measured["jacobian_rank"] < run.measured["rank"] for run in found
    )


def falling(curve):
    """Whether the rank is least at the largest depth, and smaller than at the smallest depth."""
    ranks = [run.measured["rank"] for run in curve]
    return ranks[-1] == min(ranks) < ranks[0]


def worse_fit(curve):
    """The error at the largest depth, as a multiple of that at the largest shallow one."""
    errors = {run.settings["depth"]: run.measured["error"] for run in curve}
    return errors[max(errors)] / errors[max(SHALLOW)]


@statistical(
    "bottleneck.figure-1",
    paper("bottleneck", "Fig. 1"),
    instances=recorded(1, "ridge", 0.001),
    needs={"there is a ridge": recorded(1, "ridge", 0.0)},
    mutants={
        "the slope is the rank": {"below": 0},
        "the slope is one less than the rank": {"below": 1},
    },
    loose="a p-value is as far from its level as the number of runs allows",
    no_ball="trained weights are floats",
)
def test_figure_1(runs, *, below=Fraction(1, 2)):
    r"""The trained parameter norm grows with the depth by less than the rank, and deep networks lose rank.

    In print the norm is well approximated, within each range of depths with one rank, by an affine
    function whose slope is the rank. Here tasks $y = h(z_1, z_2) \in \mathbb R^{20}$ of
    $x = g(z) \in \mathbb R^{20}$, $z \in \mathbb R^8$ normal, $g$ and $h$ random shallow networks, are
    learnt with the ridge $\lambda = 0.001$ by networks of the depths 5, 7, 9, 11, 13, 16, 20 and 25, all
    of them with 9000 steps. As in print, the rank is that of the weights: the number of singular
    values of $W_{\lceil L/2 \rceil}$ above 0.5. More than half of all such tasks, with their first
    weights, end like this, at the level 0.05 for each statement:

    * at the depths 5, 7 and 9 the networks fit (the error is at most 0.1, and 1 for the network 0) and
      have the same rank, and the line of least squares through their $\|\theta\|^2$ has a slope that
      differs from this rank minus 1/2 by less than 1/4: no whole number is as near, and the rank is
      not the slope;
    * there $Jf$ has, at most points of the data, a smaller rank than the weights;
    * the rank is least at the depth 25, and smaller than at the depth 5;
    * at the depth 25 the error is at least five times that at the depth 9.

    The first statement is no contradiction to $\|\theta\|^2 = kL + R^{(1)} + R^{(2)}/L + \dots$, whose
    slope tends to $k$ as $L$ grows, from below for $R^{(2)} > 0$.

    Depths, steps and thresholds were fixed on a pilot of five tasks; eight others test them. This is
    about width 40, 150 points, the scale of the values and the first weights of the experiment, which
    the document does not print, and Adam. Without ridge, the control group, no slope is like this.
    """
    some = curves(runs)
    return (
        mostly([between(curve, below) for curve in some], "the slope is below the rank"),
        mostly([one_too_many(curve) for curve in some], "the weights have a larger rank"),
        mostly([falling(curve) for curve in some], "the rank falls"),
        mostly([worse_fit(curve) >= 5 for curve in some], "the deepest fit worse"),
    )


#: Part of the variance of the values that may be left; 1 is that of a constant.
LEFT = 0.01
#: Part of the variance of new points that may be left within orbits. It is about 1/2 of the inputs.
COLLAPSED = 0.05


def most_middle_layers(run, rank):
    """Whether more than half of W_2, ..., W_{L−1} have so many singular values near 1."""
    middle = run.measured["near_one"][1:-1]
    return 2 * sum(count == rank for count in middle) > len(middle)


def symmetric(run):
    """Whether f collapses the orbits of the rotations, and those of the reflection."""
    shares = run.measured["rotation_shares"][-1], run.measured["reflection_share"]
    return max(shares) <= COLLAPSED


@statistical(
    "bottleneck.figure-2",
    paper("bottleneck", "Fig. 2 and §5"),
    instances=recorded(2, "group", "deep"),
    needs={
        "the task has the symmetry": recorded(2, "group", "noisy"),
        "the network is deep": recorded(2, "group", "shallow"),
        "the ridge": recorded(2, "group", "no-ridge"),
    },
    mutants={
        "three singular values": {"rank": 3},
        "orbits collapse in the first layer": {"layer": 1},
    },
    loose="a p-value is as far from its level as the number of runs allows",
    no_ball="trained weights are floats",
)
def test_figure_2(runs, *, rank=2, layer=2):
    r"""A deep network trained to predict descent learns the rotation symmetry of the loss.

    Networks of depth 25 are trained with a ridge to map $v(0) \in \mathbb R^d$ to
    $C(v(1)), \dots, C(v(T))$, the losses $\|vv^T - (ww^T + E)\|_F^2$ after each of $T$ steps of
    gradient descent. For $E = 0$ this function has rank two (bottleneck.symmetry-learning-rank). More
    than half of the trainings end with a network that fits its data; in which more than half of
    $W_2, \dots, W_{L-1}$ have exactly two singular values within 1/4 of 1; whose Jacobian has rank two
    at most points of the data; and of which, at new points, at most 5 % of the variance of $\alpha_2$
    and of $f$ is within orbits of the rotations about $w$, and at most 5 % of that of $f$ within pairs
    of points that the reflection $w \mapsto -w$ exchanges.

    The test is one of signs at the level 0.05, on five runs of the recorded experiment: $d = 8$,
    $T = 12$, width 50, 400 points, $\lambda = 0.001$ for a mean squared error over points and outputs of
    mean square 1, and entries of $E$ of standard deviation 0.005. The figure has width 200 and
    $\lambda = 0.0002$, and does not say the rest. Sizes and thresholds were fixed on a pilot of five
    other runs. "More than half" is over the data and the first weights at these sizes.

    Without one of the hypotheses the list fails: for entries of $E$ of standard deviation 0.3, orbits
    do not collapse; at depth 3, and without a ridge, the spectra are others. It does not fail in each
    item: at depth 3, too, $\alpha_2$ collapses the orbits. Not checked: width 200, and that $\alpha_6$
    is a function of the two statistics. On the pilot the images of descent paths under $\alpha_6$, in
    two principal components, crossed at most half as often at more than 30° as in
    $(|w^T v|, |u^T v|)$, $u \perp w$, which are no summary statistics; on the test they did in four
    runs of five, which the test of signs does not accept.
    """
    return (
        mostly([run.measured["error"] <= LEFT for run in runs], "the data are fitted"),
        mostly([most_middle_layers(run, rank) for run in runs], "two singular values near 1"),
        mostly([run.measured["jacobian_rank"] == 2 for run in runs], "the rank of the Jacobian"),
        mostly(
            [run.measured["rotation_shares"][layer] <= COLLAPSED for run in runs], "orbits in α_2"
        ),
        mostly([symmetric(run) for run in runs], "orbits in f"),
    )
