from rankcheck import cited, paper


@cited(
    "rank.width-suffices",
    paper("rank", "Remark 2"),
    reason="a theorem of Jacot, Golikov, Hongler & Gabriel (2022b) on global minima, which no program "
    "can find; the paper quotes it and proves nothing about it",
)
def test_width_suffices():
    r"""Width N(N + 1) suffices for N data points.

    For $N$ data points, the least regularised loss over networks of any widths is attained with
    $n_\ell \le N(N + 1)$ in every hidden layer.
    """
