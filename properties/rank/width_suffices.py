"""Remark 2 of `rank`: a width that is enough for every data set of N points."""

from rankcheck import cited, paper


@cited(
    "rank.width-suffices",
    paper("rank", "Remark 2"),
    reason="a theorem about global minima, which cannot be computed here; the paper quotes it from "
    "Jacot, Golikov, Hongler & Gabriel (2022b) without a proof",
)
def test_width_suffices():
    r"""Width N(N + 1) suffices for N data points.

    The least regularised loss over networks of any widths is attained with
    $n_\ell \le N(N + 1)$ in every hidden layer, for $N$ data points.
    """
