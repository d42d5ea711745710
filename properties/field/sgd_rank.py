"""Galanti, Siegel, Gupte, Poggio: what n steps of SGD with weight decay add to a layer has rank at
most n times the size of a batch."""

import torch

from rankcheck import Network, bound, leq, linalg, networks, paper
from rankcheck.instances import Source, away_from_zero, instances, network, positive

#: Numbers of steps and of samples in a batch.
WINDOWS = ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3))


@instances
def windows_of_training(source: Source, *, extra=0):
    """A network, n batches of B samples and targets, B, a rate, and a decay in [0, 1].

    The batches have `extra` samples more than B.
    """
    n, size = source.choice(WINDOWS)
    net = network(source, depth=(1, 3), width=(1, 4), bound=1.0)
    x = source.tensor(n, size + extra, net.widths[0], low=-1.0, high=1.0)
    y = source.tensor(n, size + extra, net.widths[-1], low=-2.0, high=2.0)
    rate = positive(source, low=2.0**-4, high=0.5)
    return net, x, y, size, rate, source.tensor(low=0.0, high=1.0)


@instances
def coordinates_one_by_one(source: Source):
    """W = cI of more than nB rows; each sample is a multiple of a basis vector of its own."""
    n, size = source.choice(WINDOWS)
    rows = n * size + source.integer(1, 2)
    W = positive(source, 1, 1, low=0.5, high=2.0) * linalg.eye(rows, source.tensor(1))
    a = away_from_zero(source, n * size, high=1.0)
    x = torch.diag_embed(a)
    x = torch.cat((x, x.new_zeros((*source.batch, n * size, rows - n * size))), -1)
    x = x.reshape((*source.batch, n, size, rows))
    rate = positive(source, low=2.0**-4, high=0.5)
    return Network.linear((W,)), x, 8 * x, size, rate, source.tensor(low=0.0, high=1.0)


def steps_and_rank(net, x, y, size, rate, decay):
    """n, and how much rank n batches may add."""
    return {"steps": x.shape[-3], "nB": x.shape[-3] * size}


def after_each_step(net, x, y, rate, decay):
    """The networks before and after each step of SGD on the batches, in their order."""
    nets = [net]
    for batch, targets in zip(x.unbind(-3), y.unbind(-3), strict=True):
        gradient = networks.squared_error_gradient(nets[-1], batch, targets)
        nets.append(networks.sgd_step(nets[-1], gradient, rate, decay))
    return nets


def sizes(nets, layer):
    """The sum of the Frobenius norms of one layer over all steps: what rounding is relative to."""
    return sum(linalg.power(linalg.frobenius_squared(net.weights[layer]), 0.5) for net in nets)


def retained(rate, decay, n):
    """(1 − ηλ)ⁿ."""
    return (1 - rate * decay) ** n


def retained_of_one_step(rate, decay, n):
    """1 − ηλ."""
    return 1 - rate * decay


def retained_without_decay(rate, decay, n):
    """1."""
    return torch.ones_like(rate)


def retained_after_one_more(rate, decay, n):
    """(1 − ηλ)ⁿ⁺¹."""
    return (1 - rate * decay) ** (n + 1)


@bound(
    "field.sgd-window-rank",
    paper("galanti2022", "Lemma 3.2, as recalled"),
    instances=windows_of_training(),
    tight=coordinates_one_by_one(),
    needs={"batches of B samples": windows_of_training(extra=1)},
    mutants={
        "nB − 1": {"less": 1},
        "the decay left out": {"factor": retained_without_decay},
        "the decay of one step": {"factor": retained_of_one_step},
    },
    reach=steps_and_rank,
    audit="left out: it follows a network through training",
)
def test_sgd_window_rank(net, x, y, size, rate, decay, *, less=0, factor=retained):
    r"""What n steps of SGD with weight decay add to a layer has rank at most n times the batch size.

    With $W_{t+1} = (1 - \eta\lambda) W_t - \eta G_t$, where $G_t$ is the gradient of a loss over a
    batch of $B$ samples, $\operatorname{rank}(W_T - (1 - \eta\lambda)^n W_{T-n}) \le nB$ for every
    layer: the gradient of one sample is an outer product, $\delta_\ell \alpha_{\ell-1}^\top$.

    All layers are trained at once, on mean squared errors; of another loss the vectors
    $\delta_\ell$ are others. Where a unit is at its kink, its derivative is taken as 1.
    """
    n, nets = x.shape[-3], after_each_step(net, x, y, rate, decay)
    kept = factor(rate, decay, n)[..., None, None]
    ranks = [
        linalg.rank(after - kept * before, 2.0**-45 * sizes(nets, layer))
        for layer, (before, after) in enumerate(zip(net.weights, nets[-1].weights, strict=True))
    ]
    return leq(torch.stack(ranks, -1), n * size - less)


@bound(
    "field.sgd-singular-values",
    paper("galanti2022", "on the distance from low rank, as recalled"),
    instances=windows_of_training(),
    tight=coordinates_one_by_one(),
    needs={"batches of B samples": windows_of_training(extra=1)},
    mutants={
        "one singular value earlier": {"earlier": 1},
        "the decay of one step more": {"factor": retained_after_one_more},
    },
    reach=steps_and_rank,
    audit="left out: it follows a network through training",
)
def test_sgd_singular_values(net, x, y, size, rate, decay, *, earlier=0, factor=retained):
    r"""After n steps of SGD with weight decay, all but nB singular values have decayed.

    $\sigma_{nB+k}(W_T) \le |1 - \eta\lambda|^n \sigma_k(W_{T-n})$ for every $k \ge 1$ and every layer,
    by Weyl's inequality and field.sgd-window-rank. So $W_T / \|W_T\|$ is within
    $|1 - \eta\lambda|^n \|W_{T-n}\| / \|W_T\|$ of a matrix of rank at most $nB$, in the operator norm
    ($k = 1$) and in the Frobenius norm (the sum of squares over $k$).
    """
    n, nets = x.shape[-3], after_each_step(net, x, y, rate, decay)
    kept = factor(rate, decay, n).abs()
    later, before, scale = [], [], []
    for layer, W in enumerate(net.weights):
        s, t = linalg.singular_values(nets[-1].weights[layer]), linalg.singular_values(W)
        first = min(n * size - earlier, s.shape[-1])
        later += [s[..., first:], 0 * s[..., :first]]
        before.append(kept.unsqueeze(-1) * t)
        scale.append(sizes(nets, layer).unsqueeze(-1).expand(t.shape))
    return leq(torch.cat(later, -1), torch.cat(before, -1), scale=torch.cat(scale, -1))
