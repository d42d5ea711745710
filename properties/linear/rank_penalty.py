import functools

import torch

from rankcheck import conjecture, leq, paper
from rankcheck.costs import egop_gaussian, linear_layers_cost, principal_directions
from rankcheck.instances.source import Source, instances

#: Data sets an experiment, points of each, inputs, hidden units; points that measure the error.
SETS, POINTS, INPUTS, UNITS, FRESH = 16, 24, 4, 12, 512
#: Steps of Adam, their length, and the weight of the cost.
STEPS, STEP, DECAY = 200, 0.04, 0.02


@instances
def experiments(source: Source):
    """The seed of an experiment."""
    return source.integer(0, 1)


def single_index(x, v):
    """f*(x) = |v·x| − 0.8, of index rank one; x (*, N, D), v (*, D)."""
    return (x @ v.unsqueeze(-1)).squeeze(-1).abs() - 0.8


def evaluate(parameters, x):
    """aᵀ[W_{L−1} ··· W_1 x + b]_+ + c at points x (*, N, D), and W."""
    *factors, b, a, c = parameters
    W = factors[0]
    for factor in factors[1:]:
        W = factor @ W
    hidden = torch.relu(x @ W.mT + b.unsqueeze(-2))
    return (hidden @ a.unsqueeze(-1)).squeeze(-1) + c, W


@functools.cache
def trained(seed, L):
    """What becomes of networks with L − 1 linear layers: geometric means over the data sets, (3).

    Of σ_2/σ_1, σ_i = σ_i(C_h^{1/2}) for standard normal x; of sin² of the angle between the first
    principal direction and v; of the squared error on fresh points. Nothing is below 1e-12. Data and
    initial function are the same for every L.
    """
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(SETS, *shape, generator=generator, dtype=torch.float64)

    x, fresh, v = normal(POINTS, INPUTS), normal(FRESH, INPUTS), normal(INPUTS)
    v = v / torch.linalg.vector_norm(v, dim=-1, keepdim=True)
    first, b, a = normal(UNITS, INPUTS) / 2, 0.3 * normal(UNITS), normal(UNITS) / UNITS**0.5
    identity = torch.eye(UNITS, dtype=torch.float64).expand(SETS, UNITS, UNITS)
    start = [first, *(identity for _ in range(L - 2)), b, a, 0 * a[..., :1]]
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
    no_batch="an instance is an experiment; its batch axis is the data sets that are averaged over",
    no_ball="trained weights are floats",
    effort=0.1,
)
def test_rank_penalty(seed):
    r"""Linear layers find the subspace and fit the function at once.

    Adding linear layers to a network estimates the active subspace, fits the function in it, and
    chooses its dimension, all at once. There is no formal statement; the guard is an experiment.

    Data: 24 standard normal points in $\mathbb R^4$, values of $|v \cdot x| - 0.8$, 16 data sets.
    Networks of 12 units are trained for 200 steps of Adam on the squared error plus 0.02 times the
    cost, with $L = 4$ and $L = 2$ from the same function. In the geometric mean over the data sets,
    $L = 4$ has at most a hundredth of the $\sigma_2/\sigma_1$ of $L = 2$ (a 600th or less on the seeds
    0 to 11), half the squared sine of the angle to $v$ (a fifth), and a quarter of the squared error on
    fresh points (an eighth).

    What this does not cover: minimisers, as training stops early; other data and networks; and index
    rank above one. For $|v_1 \cdot x| + |v_2 \cdot x|$ and as few points $\sigma_3/\sigma_1$ shrinks
    as much, but some networks lose a direction: the mean angle was larger for $L = 4$ on all of eight
    seeds, and the fit hardly better.
    """
    deep, shallow = trained(seed, 4), trained(seed, 2)
    return (
        leq(100 * deep[0], shallow[0], label="the second singular value"),
        leq(2 * deep[1], shallow[1], label="the subspace"),
        leq(4 * deep[2], shallow[2], label="the fit"),
    )
