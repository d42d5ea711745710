"""Numerical example, slides B, and Conjecture, slides A of `linear`: trained networks."""

import functools
from fractions import Fraction

import torch

from rankcheck import costs, mostly, paper, recorded_runs, statistical
from rankcheck.instances import Source, instances

from ._helpers import product

#: The record, and the claim on it.
NAME = "linear.trained-singular-values"


def cases(*chosen):
    """The runs for these pairs of an index rank and a number of points."""
    where = tuple((("rank", r), ("points", points)) for r, points in chosen)
    return recorded_runs(experiment=NAME, where=where)


def pairs(runs, deep=4, shallow=2):
    """Runs of two depths on the same points, the shallow one first."""
    by_seed = {run.seed: run for run in runs if run.settings["depth"] == shallow}
    return [(by_seed[run.seed], run) for run in runs if run.settings["depth"] == deep]


def falls(both, quantity, factor, label):
    """A measured quantity is smaller by a factor at the larger depth, mostly."""
    ends = [(shallow.measured[quantity], deep.measured[quantity]) for shallow, deep in both]
    return mostly([factor * deep <= shallow for shallow, deep in ends], label)


def fits(run):
    """Whether the training error is at most a thousandth of the variance of the values."""
    return run.measured["error"] <= 1e-3 * run.measured["variance"]


@statistical(
    "linear.trained-singular-values",
    paper("linear", "slides B, Numerical Example"),
    instances=cases((1, 64), (2, 64), (2, 128), (2, 256)),
    mutants={
        "no layers are added": {"layers": 2},
        "a fifth of the effective index rank": {"share": Fraction(1, 5)},
    },
    loose="a p-value is as far from its level as the number of runs allows",
    no_ball="trained weights are floats",
)
def test_trained_singular_values(runs, *, layers=4, share=Fraction(2, 3)):
    r"""Trained networks with more linear layers have a lower effective index rank.

    Networks $a^\top [W_{L-1} \cdots W_1 x + b]_+ + c$ learn a function $f(x) = g(V^\top x)$ of index
    rank $r$ in $d = 20$ variables: from 64 points for $r = 1$; from 64, 128 and 256 points for
    $r = 2$. At $L = 4$ at most two thirds as many singular values of $C_f^{1/2}$ as at $L = 2$ are above
    $0.01\,\sigma_1$. In each of the four cases this holds for more than half of the trainings, at the
    level 0.05; and more than half fit their data at both depths.

    The recorded trainings are pairs with the same points, uniform on $[-\frac12, \frac12]^{20}$: 12 of
    them in each case, of width 64, with the weight decay $\lambda = 10^{-3}$ and the target of the
    authors' notebooks. These print for one network of width 1000 each 4 singular values that become
    1, for $r = 1$; and 16 that become 4, 19 that become 8, and 20 that become 3, for $r = 2$. Two
    thirds were fixed on a pilot of as many pairs from other seeds.

    Lower is not always low: with too few points, and with 256, more than $r$ of them remain, and
    with too few they belong to wrong directions (linear.trained-generalisation). Not covered: other
    targets, laws and widths, no weight decay, and minimisers, as training stops at a local minimum or
    before it.
    """
    both = pairs(runs, layers)
    return (
        mostly([fits(deep) and fits(shallow) for shallow, deep in both], "both networks fit"),
        falls(both, "effective_rank", 1 / share, "the effective index rank"),
    )


@statistical(
    "linear.trained-generalisation",
    paper("linear", "slides B, Numerical Example"),
    instances=cases((1, 64), (2, 256)),
    needs={"the points suffice": cases((2, 64))},
    mutants={"no layers are added": {"layers": 2}, "a hundred times the gain": {"gain": 100}},
    loose="a p-value is as far from its level as the number of runs allows",
    no_ball="trained weights are floats",
)
def test_trained_generalisation(runs, *, layers=4, gain=1):
    r"""If the points suffice, networks with more linear layers find the directions of their target.

    The networks are those of linear.trained-singular-values, which learn a function
    $f(x) = g(V^\top x)$ of index rank $r$: from 64 points for $r = 1$, and from 256 points for $r = 2$.
    Compared with $L = 2$, at $L = 4$ $\sigma_{r+1}/\sigma_1$ is at most half as large, the first $r$
    principal directions are at most half as far from $V$, and the error at fresh points is at most a
    quarter. Each of these holds for more than half of the trainings, at the level 0.05, by 12 pairs
    for each $r$. The factors were fixed on a pilot of as many pairs from other seeds.

    The notebooks print for one network of width 1000 each, at $r = 1$, $\sigma_2 = 0.425$ at $L = 2$
    and $7.7 \cdot 10^{-7}$ at $L = 4$, where the error falls from 0.124 to $8.9 \cdot 10^{-4}$; at $r = 2$
    it falls from 4.05 to 0.0235.

    The control has 64 points for $r = 2$. There the notebooks' error grows from 10.4 to 12.5, and so
    does that of most recorded pairs: a few singular values remain of many, and they belong to wrong
    directions. With 128 points for $r = 2$ the pairs go both ways, and nothing is claimed. Other
    targets, laws and widths are not covered.
    """
    both = pairs(runs, layers)
    ratios = [2 * gain * next_ratio(deep) <= next_ratio(shallow) for shallow, deep in both]
    return (
        mostly(ratios, "the next singular value"),
        falls(both, "distance", 2 * gain, "the subspace"),
        falls(both, "generalisation", 4 * gain, "the error at fresh points"),
    )


def next_ratio(run):
    """σ_{r+1}/σ_1 of C_f^{1/2}, for a target of index rank r."""
    sigma = run.measured["sigma"]
    return sigma[run.settings["rank"]] / sigma[0]


#: Seeds of the experiments on which the claim is tested; all the rest was fixed on 0 to 11.
TEST = 12, 15
#: Data sets of an experiment, points of each, inputs, hidden units, points for the test error.
SETS, POINTS, INPUTS, UNITS, FRESH = 16, 24, 4, 12, 512
#: Steps of Adam, the learning rate, and the weight of the cost in the objective.
STEPS, STEP, DECAY = 200, 0.04, 0.02


@instances
def experiments(source: Source, *, index_rank: int):
    """The seed of an experiment, and the index rank of its target."""
    return source.integer(*TEST), index_rank


def target(x, v):
    """f*(x) = Σ_i (|v_i·x| − 0.8), whose index rank is that of v, for x (*, N, D), v (*, r, D)."""
    return ((x @ v.mT).abs() - 0.8).sum(-1)


def evaluate(parameters, x):
    """aᵀ[W_{L−1} ··· W_1 x + b]_+ + c at points x (*, N, D), and W."""
    *factors, b, a, c = parameters
    W = product(factors)
    hidden = torch.relu(x @ W.mT + b.unsqueeze(-2))
    return (hidden @ a.unsqueeze(-1)).squeeze(-1) + c, W


@functools.cache
def trained(seed, r, L):
    """Measurements on networks with L − 1 linear layers trained for a target of index rank r.

    Of each data set, (3, SETS), all of them at least 1e-12: σ_{r+1}/σ_1 with σ_i = σ_i(C_h^{1/2})
    for standard normal x; the mean sin² of the angles between the span of the first r principal
    directions and that of the v_i; and the mean squared error at fresh points. The data and the
    initial function are the same for every L.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(SETS, *shape, generator=generator, dtype=torch.float64)

    x, fresh = normal(POINTS, INPUTS), normal(FRESH, INPUTS)
    v = torch.linalg.qr(normal(r, INPUTS).mT).Q.mT
    first, b, a = normal(UNITS, INPUTS) / 2, 0.3 * normal(UNITS), normal(UNITS) / UNITS**0.5
    identity = torch.eye(UNITS, dtype=torch.float64).expand(SETS, UNITS, UNITS)
    start = [first, *(identity for _ in range(L - 2)), b, a, torch.zeros_like(a[..., :1])]
    with torch.enable_grad():
        parameters = [part.clone().requires_grad_() for part in start]
        adam = torch.optim.Adam(parameters, lr=STEP)
        for _ in range(STEPS):
            value, _ = evaluate(parameters, x)
            error = ((value - target(x, v)) ** 2).mean(-1)
            cost = costs.linear_layers_cost(parameters[:-3], parameters[-2])
            adam.zero_grad()
            (error + DECAY * cost).sum().backward()
            adam.step()
    with torch.no_grad():
        value, W = evaluate(parameters, fresh)
        sigma, directions = costs.principal_directions(
            costs.egop_gaussian(W, parameters[-3], parameters[-2])
        )
        angle = 1 - (v @ directions[..., :r]).square().sum((-2, -1)) / r
        error = ((value - target(fresh, v)) ** 2).mean(-1)
        return torch.stack((sigma[..., r] / sigma[..., 0], angle, error)).clamp_min(1e-12)


@statistical(
    "linear.rank-penalty",
    paper("linear", "slides A, Conjecture"),
    instances=experiments(index_rank=1),
    needs={"the index rank is one": experiments(index_rank=2)},
    mutants={"no layers are added": {"layers": 2}, "twenty times the gain": {"gain": 20}},
    loose="a p-value is as far from its level as the number of data sets allows",
    no_ball="trained weights are floats",
    effort=0.1,
)
def test_rank_penalty(seed, r, *, layers=4, gain=1):
    r"""Linear layers find the subspace and fit the function at once, for a single-index model.

    The conjecture of the slides has no formal statement: a network with added linear layers
    estimates the active subspace, fits the function in it, and chooses its dimension, all in one
    training. A statement on trainings of one kind stands for it here.

    Data: 24 standard normal points in $\mathbb R^4$ with values $|v \cdot x| - 0.8$. Networks of 12
    units are trained for 200 steps of Adam on the squared error plus 0.02 times the cost, with
    $L = 4$ and with $L = 2$, from the same initial function. For more than half of all data sets
    with their first weights, $L = 4$ ends with at most a tenth of the $\sigma_2/\sigma_1$ of $L = 2$,
    half the squared sine of the angle to $v$, and a quarter of the squared error on fresh points:
    each of these by the sign test of 16 data sets at the level 0.05, that is, in 12 of them or more.

    The thresholds were fixed on the seeds 0 to 11, where 13, 14 and 14 of 16 data sets or more end
    like this; the seeds 12 to 15 test them, each a sample of its own.

    The control without “the index rank is one” has the target $|v_1 \cdot x| + |v_2 \cdot x| - 1.6$,
    $v_1 \perp v_2$, and as few points: some networks lose a direction, and the error falls by four
    times on 1 to 7 of 16 data sets of the pilot.

    Not covered: minimisers, as training stops early; other data and networks.
    """
    deep, shallow = trained(seed, r, layers), trained(seed, r, 2)

    def falls(quantity, factor, label):
        ends = factor * gain * deep[quantity] <= shallow[quantity]
        return mostly(ends.tolist(), label)

    return (
        falls(0, 10, "the second singular value"),
        falls(1, 2, "the subspace"),
        falls(2, 4, "the fit"),
    )
