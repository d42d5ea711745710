"""Conjecture, slides A of `linear`: linear layers estimate the active subspace while they fit."""

import functools

import torch

from rankcheck import conjecture, leq, paper
from rankcheck.costs import egop_gaussian, linear_layers_cost, principal_directions
from rankcheck.instances.source import Source, instances

from ._layers import product

#: Data sets of an experiment, points of each, inputs, hidden units, points for the test error.
SETS, POINTS, INPUTS, UNITS, FRESH = 16, 24, 4, 12, 512
#: Steps of Adam, the learning rate, and the weight of the cost in the objective.
STEPS, STEP, DECAY = 200, 0.04, 0.02


@instances
def experiments(source: Source):
    """The seed of an experiment."""
    return source.integer(0, 1)


def single_index(x, v):
    """The target f*(x) = |v·x| − 0.8, of index rank one, for x (*, N, D) and v (*, D)."""
    return (x @ v.unsqueeze(-1)).squeeze(-1).abs() - 0.8


def evaluate(parameters, x):
    """aᵀ[W_{L−1} ··· W_1 x + b]_+ + c at points x (*, N, D), and W."""
    *factors, b, a, c = parameters
    W = product(factors)
    hidden = torch.relu(x @ W.mT + b.unsqueeze(-2))
    return (hidden @ a.unsqueeze(-1)).squeeze(-1) + c, W


@functools.cache
def trained(seed, L):
    """Measurements on trained networks with L − 1 linear layers, shape (3).

    They are geometric means over the data sets, after a cut-off below at 1e-12, of σ_2/σ_1 with
    σ_i = σ_i(C_h^{1/2}) for standard normal x; of sin² of the angle between the first principal
    direction and v; and of the squared error on fresh points. The data and the initial function are
    the same for every L.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(SETS, *shape, generator=generator, dtype=torch.float64)

    x, fresh, v = normal(POINTS, INPUTS), normal(FRESH, INPUTS), normal(INPUTS)
    v = v / torch.linalg.vector_norm(v, dim=-1, keepdim=True)
    first, b, a = normal(UNITS, INPUTS) / 2, 0.3 * normal(UNITS), normal(UNITS) / UNITS**0.5
    identity = torch.eye(UNITS, dtype=torch.float64).expand(SETS, UNITS, UNITS)
    start = [first, *(identity for _ in range(L - 2)), b, a, torch.zeros_like(a[..., :1])]
    with torch.enable_grad():
        parameters = [part.clone().requires_grad_() for part in start]
        adam = torch.optim.Adam(parameters, lr=STEP)
        for _ in range(STEPS):
            value, _ = evaluate(parameters, x)
            error = ((value - single_index(x, v)) ** 2).mean(-1)
            cost = linear_layers_cost(parameters[:-3], parameters[-2])
            adam.zero_grad()
            (error + DECAY * cost).sum().backward()
            adam.step()
    with torch.no_grad():
        value, W = evaluate(parameters, fresh)
        sigma, directions = principal_directions(egop_gaussian(W, parameters[-3], parameters[-2]))
        angle = 1 - (directions[..., 0] * v).sum(-1) ** 2
        error = ((value - single_index(fresh, v)) ** 2).mean(-1)
        measured = torch.stack((sigma[..., 1] / sigma[..., 0], angle, error))
        return measured.clamp_min(1e-12).log().mean(-1).exp()


@conjecture(
    "linear.rank-penalty",
    paper("linear", "slides A, Conjecture"),
    instances=experiments(),
    no_batch="an instance is a whole experiment, which uses the batch axis for its data sets",
    no_ball="trained weights are floats",
    effort=0.1,
)
def test_rank_penalty(seed):
    r"""Linear layers find the subspace and fit the function at once.

    A network with added linear layers estimates the active subspace, fits the function in it, and
    chooses its dimension, all in one training. The slides give no formal statement; an experiment
    stands for it.

    Data: 16 sets of 24 standard normal points in $\mathbb R^4$ with values $|v \cdot x| - 0.8$.
    Networks of 12 units are trained for 200 steps of Adam on the squared error plus 0.02 times the
    cost, with $L = 4$ and with $L = 2$, from the same initial function. In the geometric mean over
    the data sets, $L = 4$ has at most a hundredth of the $\sigma_2/\sigma_1$ of $L = 2$ (seeds 0 to
    11: at most a 600th), half the squared sine of the angle to $v$ (a fifth), and a quarter of the
    squared error on fresh points (an eighth).

    Not covered: minimisers, as training stops early; other data and networks; index rank above one.
    For $|v_1 \cdot x| + |v_2 \cdot x|$ and as few points, $\sigma_3/\sigma_1$ shrinks as much, but
    some networks lose a direction: on all of eight seeds the mean angle was larger for $L = 4$, and
    the fit hardly better.
    """
    deep, shallow = trained(seed, 4), trained(seed, 2)
    return (
        leq(100 * deep[0], shallow[0], label="the second singular value"),
        leq(2 * deep[1], shallow[1], label="the subspace"),
        leq(4 * deep[2], shallow[2], label="the fit"),
    )
