"""Safran 2026, Timor, Vardi, Shamir 2022 and Bantzis, Simon, Jacot 2025: three statements near those
of `rank` whose constants are not at hand."""

from rankcheck import cited, paper


@cited(
    "field.width-of-the-maximum",
    paper("safran2026", "main result, from the abstract"),
    reason="no constants at hand: the width is given up to a factor, and it is about every network of "
    "that width; rank.piecewise-linear-depth has a depth that is enough",
)
def test_width_of_the_maximum():
    r"""The maximum of d numbers needs more than linear width at small depth.

    As recalled: a ReLU network of depth $k$, $3 \le k \le \log_2 \log_2 d$, that equals
    $\max(x_1, \dots, x_d)$ everywhere has width at least $c_k\, d^{1 + 1/(2^{k-2} - 1)}$, with a constant
    $c_k > 0$ that is not given here. The proof finds cliques in a graph on the inputs that the
    first layer defines.
    """


@cited(
    "field.stable-ranks-at-least-norm",
    paper("timor2022", "on deep networks, as recalled"),
    reason="no constants at hand: the bound depends on the depth and the norm of a shallower network "
    "that fits the data; about global minima, which no instance has. "
    "rank.jacobian-bounds-cost and rank.balanced-layer-norms bound single layers by the cost",
)
def test_stable_ranks_at_least_norm():
    r"""In a deep ReLU network of least norm that fits its data, most layers have low stable rank.

    As recalled: if a network of fixed depth with bounded weights fits (or classifies) the data, then
    among the networks of depth $L$ that do so and have the least $\|\theta\|$, the harmonic mean over
    the layers of $\|W_\ell\|_F / \|W_\ell\|_2$, the root of the stable rank, is at most a bound that
    tends to an absolute constant as $L \to \infty$. It depends on $L$ and on the first network, and is
    not given here.
    """


@cited(
    "field.singular-gap-of-escape-directions",
    paper("bantzis2025", "main result, from the abstract"),
    reason="no constants at hand: a factor that may depend on the task is not in the abstract; about "
    "maximisers over all parameters of norm one, which no instance is known to be. "
    "rank.bottleneck-layer is a similar statement about minima",
)
def test_singular_gap_of_escape_directions():
    r"""The best way out of the saddle at the origin is nearly of rank one in later layers.

    As recalled: a network with small weights leaves the origin along a direction $\theta$, $\|\theta\| =
    1$; in one along which the loss decreases fastest, the second singular value of $W_\ell$ is at
    most $C \ell^{-1/4}$ times the first, with a constant $C$ that is not given here. So
    the bias towards rank one grows with the place of the layer.
    """
