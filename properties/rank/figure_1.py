"""Figure 1 of `rank`: a network of depth 13 on a task of low rank."""

import math

from rankcheck import Erratum, mostly, paper, recorded_runs, statistical

#: The share of the error of the network 0 up to which a network has fitted its data.
FITTED = 0.1
#: He's gain of the first weights, as a setting is recorded.
HE = 1.41421
#: A rank is one only if the next singular value is smaller by this factor.
GAP = 10


def middle(run, values):
    """Of values for the layers 1, 2, ..., those of the layers ℓ with L/4 ≤ ℓ ≤ 3L/4."""
    depth = run.settings["depth"]
    return values[math.ceil(depth / 4) - 1 : 3 * depth // 4]


def dimension(run, which=""):
    """The rank of the Z_ℓ, or of the centred ones, if all middle layers have it, with a gap."""
    ranks, gaps = (middle(run, run.measured[f"{which}{name}"]) for name in ("ranks", "gaps"))
    return ranks[0] if len(set(ranks)) == 1 and min(gaps) >= GAP else None


def nearly_linear(run, quiet):
    """Whether the activation changes the middle at most so much times as the ends."""
    bends = run.measured["bends"]
    return max(middle(run, bends)) <= quiet * min(bends[0], bends[-1])


@statistical(
    "rank.figure-1",
    paper("rank", "Figure 1"),
    instances=recorded_runs(
        experiment="rank.figure-1",
        where=(
            (("used", 4), ("gain", 1.41421), ("depth", 13)),
            (("used", 4), ("gain", 1.1), ("depth", 13)),
        ),
    ),
    needs={
        "the network is deep (gain √2)": recorded_runs(
            experiment="rank.figure-1", where=((("used", 4), ("gain", 1.41421), ("depth", 3)),)
        ),
        "the network is deep (gain 1.1)": recorded_runs(
            experiment="rank.figure-1", where=((("used", 4), ("gain", 1.1), ("depth", 3)),)
        ),
    },
    mutants={
        "a dimension more": {"more": 1},
        "a dimension less": {"more": -1},
        "a Jacobian of a rank more": {"jacobian": 1},
        "a thousandth of the nonlinearity in the middle": {"quiet": 0.001},
    },
    loose="a p-value is as far from its level as the number of runs allows",
    no_ball="trained weights are floats",
    errata=Erratum(
        printed=r"the outputs equal $y = h(x_1, \ldots, x_5)$ for a function $h$: $R^5 \to "
        "R^{50}$ which depends only on the first 5 coordinates of the latent space",
        right=r"$h(z_1, \ldots, z_5)$: $x$ are the 50 inputs, and $z$ the 15 latent coordinates. "
        r"The caption has a true function of rank 4, which would be $h(z_1, \ldots, z_4)$.",
        survives="The figure; the experiment has both numbers of coordinates.",
        weight="misprint",
        place="App. F",
    ),
)
def test_figure_1(runs, *, more=0, jacobian=0, quiet=0.1):
    r"""Deep networks, from He's gain, carry a task of rank 4 in five dimensions.

    Networks of depth 13 and width 100 learn 500 values $y = h(z_1, \dots, z_k) \in \mathbb R^{50}$,
    $k = 4$, from $x = g(z) \in \mathbb R^{50}$, $z \in \mathbb R^{15}$ normal, $g$ and $h$ random shallow
    networks, with the ridge $\lambda = 0.05/L$. A network *carries* $d$ dimensions if in each of the
    layers $L/4 \le \ell \le 3L/4$ the matrix $Z_\ell$ of its representations has $d$ singular values
    above 5 % of the largest, the next one smaller by a factor of ten, and so has the centred matrix.
    More than half of all trainings, over data and first weights, at the level 0.05 for each statement,
    end like this from first weights of the gain $\sqrt 2$, the last layer divided by $\sqrt{50}$:

    * the network carries exactly $k + 1$ dimensions, one more than the task needs (so that fewer than
      half carry $k$), and the Jacobian has rank $k$ at most points;
    * as many singular values of each of the weights $W_\ell$ are within 0.25 of 1;
    * the error is at most a tenth of that of the network 0;

    and from these as well as from first weights of the gain $1.1$:

    * the activation changes the pre-activations of these layers,
      $\|\tilde Z_\ell - \sigma(\tilde Z_\ell)\|_F / \|\tilde Z_\ell\|_F$, at most a tenth as much as
      those of the first and of the last hidden layer.

    This is about the size of the document and Adam, on a recorded experiment with 8 and 10 seeds;
    thresholds were fixed on a pilot with five other ones. There, 3 of 5 trainings from the gain 1.1
    carried exactly $k$ and all fitted; *more than a fifth carry $k$* and *more than half fit* were to be
    tested, and are not confirmed: 3 of 10 carry $k$ and 8 fit, the others end in fewer dimensions or in
    five. The document's $\|\theta\|^2/L \approx 6$ is no part of the claim: that number follows from the
    scale of the values, which is not printed. Nothing is said of global minima. Networks of depth 3 are
    the control group of each start.
    """
    linear = mostly(
        [nearly_linear(run, quiet) for run in runs],
        "nearly linear in the middle",
    )
    if runs[0].settings["gain"] != HE:
        return (linear,)
    k = runs[0].settings["used"]
    carried = k + 1 + more
    return (
        linear,
        mostly([run.measured["error"] <= FITTED for run in runs], "the data are fitted"),
        mostly(
            [run.measured["jacobian_rank"] == k + jacobian for run in runs],
            "the rank of the Jacobian",
        ),
        mostly(
            [dimension(run) == dimension(run, "centred_") == carried for run in runs],
            "the dimension in the middle",
        ),
        mostly(
            [{*middle(run, run.measured["near_one"])} == {dimension(run)} for run in runs],
            "singular values near 1",
        ),
    )
