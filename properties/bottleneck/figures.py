"""Figure 2 of `bottleneck`: a trained network."""

from rankcheck import cited, paper


@cited(
    "bottleneck.figure-2",
    paper("bottleneck", "Fig. 2 and §5"),
    reason="open: the experiment has not been run here",
)
def test_figure_2():
    r"""A deep network trained to predict descent learns the rotation symmetry of the loss.

    A network of depth 25 and width 200 is trained with the ridge $\lambda = 0.0002$ to map $v(0)$ to
    $C(v(1)), \dots, C(v(T))$, the losses $\|vv^T - (ww^T + E)\|_F^2$ after each of $T$ steps of gradient
    descent. The weight matrices have two outlying singular values in the middle, the true rank of
    the task; in the first two principal components of $\alpha_6$ the images of the descent paths do
    not cross; and $\alpha_2$ takes equal values on the orbits of the rotations around $w$.

    The task itself is checked by bottleneck.rotation-symmetry.
    """
