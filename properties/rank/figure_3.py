"""Figure 3 of `rank`: autoencoders of a curve and of images, deep and shallow."""

from rankcheck import paper, statistical
from rankcheck.experiments.claims import mostly, recorded_runs
from rankcheck.experiments.figures.autoencoders import CURVE, HALF, NEARER, UNEXPLAINED, fits, pairs


@statistical(
    "rank.figure-3",
    paper("rank", "Figure 3"),
    instances=recorded_runs(
        experiment="rank.figure-3", where=((("data", "curve"),), (("data", "digits"),))
    ),
    needs={
        "a deep network (curve)": recorded_runs(
            experiment="rank.figure-3", where=((("data", "curve"), ("depth", 2)),)
        ),
        "a deep network (digits)": recorded_runs(
            experiment="rank.figure-3", where=((("data", "digits"), ("depth", 2)),)
        ),
    },
    no_batch="an instance is a recorded experiment",
    no_ball="trained weights are floats",
)
def test_figure_3(runs, *, half=HALF, nearer=NEARER, unexplained=UNEXPLAINED):
    r"""Deep trained autoencoders move random inputs nearer to their data than shallow ones do.

    For more than half of all pairs of a deep and a shallow network that are trained on the same data
    with the ridge $\lambda = 10^{-4}$, at the level 0.05 for each statement: both reproduce new clean
    points up to 15 % of their variance, and the deep one leaves at most 0.9 of what the shallow one leaves
    of the mean distance between its inputs and the data. For a curve in the plane, moreover, the deep
    network leaves at most half of that distance.

    Checked on a recorded experiment. A random curve $g(\mathbb R)$ in the plane: depths 20 and 2, width
    50, 100 points, 16 seeds; inputs are uniform in a box, and distances to the curve exact. Digits of 8 × 8
    pixels in place of MNIST: depths 9 and 2, width 80, 500 images, 5 seeds; inputs are new images with
    normal noise of standard deviation 0.5, for pixels in $[0, 1]$, and distances are to the clean image.
    The thresholds were set after trials on other seeds and, for the share 0.9 of the curve, on a first
    record of eight of these. Two stronger statements are not claimed: that shallow networks
    leave more than half of the distance to the curve (11 of 16 runs), and that deep ones leave at most
    half of what shallow ones leave (14 of 16 runs, but 6 of 8 in a trial with other seeds). The learning rate
    of the deep networks of the curve was lowered once, as two of the first eight had become constant; one
    still does. Other depths and ridges are not covered, nor is less noise: at a standard deviation of 0.1 the
    shallow network is the better one. That autoencoders of the true rank project is
    rank.denoising-projection.
    """
    both = pairs(runs)
    left = [(a.measured["left"], b.measured["left"]) for a, b in both]
    stated = [
        mostly(
            [fits(a, unexplained) and fits(b, unexplained) for a, b in both], "both fit", of="pairs"
        ),
        mostly([a <= nearer * b for a, b in left], "the deep one is nearer", of="pairs"),
    ]
    if all(run.settings["data"] == CURVE for run in runs):
        stated.append(mostly([a <= half for a, _ in left], "at most half is left"))
    return tuple(stated)
