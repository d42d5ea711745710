"""Cor. 1 of `rank`: a depth that is enough for every piecewise-linear function."""

from rankcheck import construction, eq, paper, tolerances, witnesses
from rankcheck.instances import STEEPEST, Source, instances, max_form


def functions(source: Source, times: int = 1) -> witnesses.MaxForm:
    """A function of up to four variables, of `times` n + 1 pieces in a maximum."""
    n, terms, outputs = source.integer(1, 4), source.integer(1, 4), source.integer(1, 2)
    return max_form(source, n, outputs=outputs, terms=terms, pieces=times * (n + 1))


@instances
def piecewise_linear_functions(source: Source):
    """A function of n variables, layers beyond the least depth, a slope, and a point."""
    form = functions(source)
    x = source.tensor(form.gradients.shape[-1])
    return form, source.integer(0, 3), source.tensor(low=-STEEPEST, high=STEEPEST), x


@instances
def twice_as_many_pieces(source: Source):
    """The same with maxima of 2n + 2 affine functions, in a network that needs one layer more."""
    form = functions(source, times=2)
    return (
        form,
        0,
        source.tensor(low=-STEEPEST, high=STEEPEST),
        source.tensor(form.gradients.shape[-1]),
    )


@instances
def integer_functions(source: Source):
    """The same with integer coefficients and points and a dyadic slope: nothing is rounded."""
    form, extra, _, x = piecewise_linear_functions()(source)
    whole = witnesses.MaxForm(form.gradients.round(), form.offsets.round(), form.signs)
    return whole, extra, source.choice((0.0, 0.5, -0.5)), x.round()


def minima(form, depth=None):
    """The tree that takes minima."""
    return witnesses.max_network(
        witnesses.MaxForm(-form.gradients, -form.offsets, -form.signs), depth
    )


def one_layer_more(form, depth=None):
    """A network with a layer too many."""
    net = witnesses.max_network(form)
    return witnesses.deepen(net, net.depth + 1 if depth is None else depth)


@construction(
    "rank.piecewise-linear-depth",
    paper("rank", "Cor. 1"),
    instances=piecewise_linear_functions(),
    needs={"at most n + 1 functions in a maximum": twice_as_many_pieces()},
    mutants={
        "minima for maxima": {"witness": minima},
        "a layer more than stated": {"witness": one_layer_more},
    },
    witness=witnesses.max_network,
)
def test_piecewise_linear_depth(form, extra, slope, x, *, witness=witnesses.max_network):
    r"""A piecewise-linear function of n variables as a network of depth ⌈log2(n+1)⌉ + 1.

    $f = \sum_j s_j \max_{i \in S_j} \ell_i$ with $|S_j| \le n + 1$ affine functions of $n$ variables
    and $s_j = \pm 1$ is a ReLU network of depth $\lceil \log_2(n+1) \rceil + 1$, and one of every larger
    depth; with twice the hidden units, also a network of any slope $a \in (-1, 1)$.

    Not checked: that every function with finitely many linear pieces has this form (Wang & Sun
    2005), and whether less depth would do.
    """
    net = witness(form)
    n = form.gradients.shape[-1]
    deeper = witness(form, net.depth + extra)
    leaky = witnesses.leaky_representation(deeper, slope)
    f = form(x)
    return (
        eq(net.depth, n.bit_length() + 1, label="the least depth"),
        eq(deeper.depth, net.depth + extra, label="a larger depth"),
        eq(net(x), f, scale=tolerances.network_scale(net, x), label="the function"),
        eq(deeper(x), f, scale=tolerances.network_scale(deeper, x), label="the function, deeper"),
        eq(leaky(x), f, scale=tolerances.network_scale(leaky, x), label="the function, leaky"),
    )


@construction(
    "rank.piecewise-linear-on-integers",
    paper("rank", "Cor. 1"),
    instances=integer_functions(),
    mutants={"minima for maxima": {"witness": minima}},
    witness=witnesses.max_network,
)
def test_piecewise_linear_on_integers(form, extra, slope, x, *, witness=witnesses.max_network):
    r"""On integers the network of maxima equals its function to the last bit.

    With integer coefficients the ReLU network of $f = \sum_j s_j \max_i \ell_i$ equals $f$ at every
    integer point *in floating point*, at every depth, because its weights behind the first layer are
    0, ±1 and ±2. Checked without a tolerance.
    """
    net = witness(form, witness(form).depth + extra)
    return eq(net(x), form(x), terms=0)
