"""Gunasekar, Lee, Soudry, Srebro 2018 and Dai, Karzand, Srebro 2021: the least cost of a linear
convolutional network is a power sum of the Fourier coefficients of its predictor."""

from fractions import Fraction

import torch

from rankcheck import bound, construction, costs, eq, leq, linalg, paper, witnesses
from rankcheck.instances import Source, instances, signs


@instances
def drawn_kernels(source: Source, *, depth=(1, 5), length=(1, 6)):
    """L kernels of length n."""
    return source.tensor(source.integer(*depth), source.integer(*length), low=-4.0, high=4.0)


@instances
def shifts_of_one_kernel(source: Source):
    """One kernel, in every layer shifted, reversed or not, and times ±1: its sizes do not change."""
    L, n = source.integer(1, 5), source.integer(1, 6)
    w, sign = source.tensor(n, low=-2.0, high=2.0), signs(source, L)
    layers = []
    for _ in range(L):
        shifted = w.roll(source.integer(0, n - 1), 0)
        layers.append(shifted.flip(0) if source.integer(0, 1) else shifted)
    return sign[:, None] * torch.stack(layers)


def without_normalisation(beta, depth, noise=None, *, exponent=2):
    """L Σ |β̂_k|^{2/L}, without n^{(L−1)/2}."""
    factor = linalg.power(linalg.scalar(len(beta), beta), Fraction(depth - 1, depth))
    return factor * costs.convolutional_cost(beta, depth, noise, exponent=exponent)


@bound(
    "field.convolutional-cost",
    paper("gunasekar2018", "on convolutional networks of full width, as recalled"),
    instances=drawn_kernels(),
    tight=shifts_of_one_kernel(),
    mutants={
        "exponent 2.04/L": {"exponent": Fraction(51, 25)},
        "exponent 1.96/L": {"exponent": Fraction(49, 25)},
        "without the normalisation": {"cost": without_normalisation},
    },
)
def test_convolutional_cost(kernels, *, cost=costs.convolutional_cost, exponent=2):
    r"""Kernels cost at least a power sum of the Fourier coefficients of what they compose.

    $L \sum_k |\hat\beta_k / n^{(L-1)/2}|^{2/L} \le \sum_\ell \|w_\ell\|^2$ for all kernels $w_1,
    \dots, w_L \in \mathbb R^n$ and their circular convolution $\beta = w_1 * \cdots * w_L$, with
    $\hat\beta$ the unitary discrete Fourier transform of $\beta$.

    The network is $x \mapsto \langle \beta, x \rangle$, $L - 1$ circular correlations and an inner
    product. In Gunasekar et al. each correlation has a factor $n^{-1/2}$; without it, as here,
    $\hat\beta_k = n^{(L-1)/2} \prod_\ell (\hat w_\ell)_k$, and the bound is the inequality of the
    means at each frequency. Shifts and reversals of one kernel attain it. As $L \to \infty$ the sum
    over $k$ tends to the share of the frequencies at which $\hat\beta$ is not zero. Not checked: what
    gradient descent converges to.
    """
    beta, noise = witnesses.composed_kernel(kernels), witnesses.composition_noise(kernels)
    return leq(cost(beta, len(kernels), noise, exponent=exponent), (kernels * kernels).sum())


@instances
def drawn_predictors(source: Source, *, depth=(1, 6), length=(1, 6)):
    """A predictor β of n entries, and a depth."""
    return source.tensor(source.integer(*length)), source.integer(*depth)


def with_idle_layers(beta, depth):
    """β in the last layer, and in the others the kernel (1, 0, ..., 0), which does nothing."""
    return torch.stack([linalg.eye(len(beta), beta)[0]] * (depth - 1) + [beta])


def with_phases_in_each_layer(beta, depth):
    """The phases of β in every layer, not in the last one alone."""
    return torch.stack([witnesses.cheapest_kernels(beta, depth)[-1]] * depth)


@construction(
    "field.convolutional-kernels",
    paper("dai2021", "on convolutional networks of full width, as recalled"),
    instances=drawn_predictors(),
    mutants={
        "β in the last layer": {"witness": with_idle_layers},
        "the phases in each layer": {"witness": with_phases_in_each_layer},
    },
    witness=witnesses.cheapest_kernels,
)
def test_convolutional_kernels(beta, depth, *, witness=witnesses.cheapest_kernels):
    r"""Every predictor has real kernels that attain the bound of field.convolutional-cost.

    For every $\beta \in \mathbb R^n$ and every depth $L$ there are kernels with
    $w_1 * \cdots * w_L = \beta$ and $\sum_\ell \|w_\ell\|^2 = L \sum_k |\hat\beta_k /
    n^{(L-1)/2}|^{2/L}$: at each frequency all have the same size, and the last has the phase of
    $\beta$. This is $\frac1n$ of the least cost $L \|C(\beta)\|_{S^{2/L}}^{2/L}$ of *any* $L$ linear
    layers for the circulant matrix $C(\beta)$ (rank.linear-network-cost), as a circulant matrix
    repeats each entry of its kernel $n$ times.
    """
    kernels = witness(beta, depth)
    cost = (kernels * kernels).sum()
    layers = depth * linalg.schatten_power(witnesses.circulant(beta), Fraction(2, depth))
    composed = witnesses.composed_kernel(kernels)
    return (
        eq(composed, beta, scale=beta.abs().sum(), label="the predictor"),
        eq(cost, costs.convolutional_cost(beta, depth), label="the cost"),
        eq(cost * len(beta), layers, label="the circulant matrix"),
    )
