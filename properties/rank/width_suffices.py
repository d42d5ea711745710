from rankcheck import cited, paper

cited(
    "rank.width-suffices",
    reference=paper("rank", "Remark 2"),
    title="Width N(N + 1) suffices for N data points",
    statement=r"For $N$ data points, the least regularised loss over networks of any widths is attained "
    r"with $n_\ell \le N(N + 1)$ in every hidden layer.",
    reason="a theorem of Jacot, Golikov, Hongler & Gabriel (2022b) on global minima, which no program "
    "can find; the paper quotes it and proves nothing about it",
)
