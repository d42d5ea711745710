"""Representation costs of other architectures: the identity in leaky ResNets, and predictors of linear
convolutional networks (Gunasekar, Lee, Soudry, Srebro 2018; Dai, Karzand, Srebro 2021)."""

from fractions import Fraction
from functools import reduce

import torch

from rankcheck import bound, construction, costs, eq, identity, leq, linalg, paper, witnesses
from rankcheck.instances import Source, instances, matrices, positive, signs, unit_vectors


def nonnegative(source: Source, m: int, n: int):
    """An m × n matrix ≥ 0, in half of the shapes one of lower rank."""
    k = source.integer(1, min(m, n))
    if k == min(m, n):
        return source.tensor(m, n, low=0.0, high=4.0)
    return source.tensor(m, k, low=0.0, high=2.0) @ source.tensor(k, n, low=0.0, high=2.0)


@instances
def nonnegative_matrices(source: Source):
    """A matrix ≥ 0, of any rank."""
    return nonnegative(source, source.integer(1, 4), source.integer(1, 4))


@instances
def representations(source: Source):
    """Matrices whose rows are combinations of those of σ(A).

    Either rows P ≥ 0 of any rank and combinations of these; or a square block whose positive part
    is triangular with a positive diagonal, and any rows.
    """
    kind = source.choice(("combinations", "triangular", "nonnegative"))
    n = source.integer(1, 3)
    if kind == "nonnegative":
        return nonnegative(source, source.integer(1, 4), n)
    if kind == "combinations":
        k = source.integer(1, 3)
        P = nonnegative(source, k, n)
        return torch.cat((P, source.tensor(source.integer(1, 3), k, low=-3.0, high=3.0) @ P))
    square = source.tensor(n, n, low=-4.0, high=4.0)
    block = square.triu(1) - square.tril(-1).abs() + torch.diag_embed(positive(source, n, low=0.5))
    rows = source.integer(0, 2)
    return torch.cat((block, source.tensor(rows, n, low=-4.0, high=4.0))) if rows else block


@instances
def disjoint_isometries(source: Source):
    """t Σ u_i v_iᵀ with unit vectors u_i ≥ 0 of disjoint supports, and v_i likewise."""
    t, parts = positive(source, 1, 1, low=0.5, high=2.0), []
    for _ in range(source.integer(1, 3)):
        u, v = (unit_vectors(source, source.integer(1, 2)).abs() for _ in range(2))
        parts.append(torch.outer(t[0] * u, v))
    return reduce(linalg.block_diagonal, parts)


def with_biases(A):
    """‖A (σ(A); 1)⁺‖_F², with a row of ones below σ(A)."""
    rows = torch.cat((torch.relu(A), torch.ones_like(A[:1])))
    return linalg.frobenius_squared(A @ linalg.pseudo_inverse(rows))


@bound(
    "field.cost-of-identity",
    paper("jacot2024", "the cost of the identity and the stable rank, as recalled"),
    instances=representations(),
    tight=disjoint_isometries(),
    needs={"A = Aσ(A)⁺σ(A)": matrices()},
    mutants={
        "the rank for the stable rank": {
            "lower": lambda A: linalg.rank(A) * linalg.frobenius_squared(A)
        },
        "a layer with biases": {"cost": with_biases},
    },
)
def test_cost_of_identity(
    A, *, lower=lambda A: linalg.nuclear_norm(A) ** 2, cost=costs.cost_of_identity
):
    r"""The cost of the identity is at least the stable rank of nuclear and Frobenius norm.

    $\|A \sigma(A)^+\|_F^2 \ge \|A\|_*^2 / \|A\|_F^2$ for every $A \ne 0$ with
    $A = A \sigma(A)^+ \sigma(A)$, where $\sigma$ is the ReLU: some layer $M \sigma$ without biases keeps
    the columns of $A$. Then $\|A\|_* \le \|M\|_F \|\sigma(A)\|_F$ and $\|\sigma(A)\|_F \le \|A\|_F$.
    Multiples of partial isometries with entries $\ge 0$ attain it.

    The cost may be less than the rank (seen with three columns), and layers with biases may cost less
    than the stable rank: these are the mutants. The sides are compared times $\|A\|_F^2$.
    """
    return leq(lower(A), cost(A) * linalg.frobenius_squared(A))


@identity(
    "field.cost-of-identity-is-the-rank",
    paper("jacot2024", "the cost of the identity of nonnegative representations, as recalled"),
    instances=nonnegative_matrices(),
    needs={"A ≥ 0": representations()},
    mutants={"a layer with biases": {"cost": with_biases}},
)
def test_cost_of_identity_is_the_rank(A, *, cost=costs.cost_of_identity):
    r"""Of nonnegative representations the cost of the identity is their rank.

    $\|A \sigma(A)^+\|_F^2 = \operatorname{rank} A$ for $A \ge 0$, as $\sigma(A) = A$ and $A A^+$ is the
    orthogonal projection onto the range of $A$.
    """
    return eq(cost(A), linalg.rank(A))


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


@construction(
    "field.convolutional-kernels",
    paper("dai2021", "on convolutional networks of full width, as recalled"),
    instances=drawn_predictors(),
    mutants={
        "β in the last layer": {"witness": with_idle_layers},
        "the phases in each layer": {
            "witness": lambda b, L: torch.stack([witnesses.cheapest_kernels(b, L)[-1]] * L)
        },
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
