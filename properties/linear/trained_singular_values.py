"""Numerical example, slides B of `linear`: the singular values of trained networks."""

from rankcheck import cited, paper


@cited(
    "linear.trained-singular-values",
    paper("linear", "slides B, Numerical Example"),
    reason="a training run of networks of width 1000, which takes hours here; linear.rank-penalty "
    "does a smaller experiment of the same kind. The figures are from the authors' public notebooks "
    "and were not remade",
)
def test_trained_singular_values():
    r"""Trained networks with more linear layers have a smaller effective index rank.

    For data from a function of index rank $r$ in $d = 20$ variables, networks of width 1000 trained
    with weight decay $\lambda = 10^{-3}$:

    $r = 1$, 64 points: the singular values of $C_h^{1/2}$ are 19.69, 0.425, ... at $L = 2$, and 20.37,
    $7.7 \cdot 10^{-7}$, ... at $L = 4$; the generalisation error falls from 0.124 to $8.9 \cdot
    10^{-4}$. $r = 2$, 256 points: the error falls from 4.05 to 0.0235. With 64 points and $r = 2$ it
    gets worse, from 10.4 to 12.5.
    """
