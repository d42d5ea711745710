"""Layers near low rank: what n steps of SGD with weight decay add to a layer (Galanti, Siegel, Gupte,
Poggio), and layers at a stationary point of a loss with ridge, up to how much the features vary within
classes (Zangrando, Deidda, Brugiapaglia, Guglielmi, Tudisco)."""

import torch

from rankcheck import Network, bound, cited, eq, leq, linalg, networks, paper
from rankcheck.instances import (
    Source,
    away_from_zero,
    instances,
    matrix,
    network,
    positive,
    semi_orthogonal,
)

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
    x = torch.diag_embed(away_from_zero(source, n * size, high=1.0))
    x = torch.cat((x, x.new_zeros(n * size, rows - n * size)), 1).reshape(n, size, rows)
    rate = positive(source, low=2.0**-4, high=0.5)
    return Network.linear((W,)), x, 8 * x, size, rate, source.tensor(low=0.0, high=1.0)


def steps_and_rank(net, x, y, size, rate, decay):
    """n, and how much rank n batches may add."""
    return {"steps": len(x), "nB": len(x) * size}


def norm(A):
    """‖A‖_F."""
    return linalg.power(linalg.frobenius_squared(A), 0.5)


def layers_in_training(net, x, y, rate, decay):
    """Each layer before and after each step of SGD on the batches, in their order."""
    nets = [net]
    for batch, targets in zip(x, y, strict=True):
        gradient = networks.squared_error_gradient(nets[-1], batch, targets)
        nets.append(networks.sgd_step(nets[-1], gradient, rate, decay))
    return zip(*(net.weights for net in nets), strict=True)


def size_of(layer):
    """The sum of its norms over all steps: what rounding is relative to."""
    return sum(map(norm, layer))


def retained(rate, decay, n):
    """(1 − ηλ)ⁿ."""
    return (1 - rate * decay) ** n


@bound(
    "field.sgd-window-rank",
    paper("galanti2022", "Lemma 3.2, as recalled"),
    instances=windows_of_training(),
    tight=coordinates_one_by_one(),
    needs={"batches of B samples": windows_of_training(extra=1)},
    mutants={
        "nB − 1": {"less": 1},
        "the decay left out": {"factor": lambda rate, decay, n: 1},
        "the decay of one step": {"factor": lambda rate, decay, n: 1 - rate * decay},
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
    n, layers = len(x), layers_in_training(net, x, y, rate, decay)
    kept = factor(rate, decay, n)
    ranks = [linalg.rank(W[-1] - kept * W[0], 2.0**-45 * size_of(W)) for W in layers]
    return leq(torch.stack(ranks), n * size - less)


@bound(
    "field.sgd-singular-values",
    paper("galanti2022", "on the distance from low rank, as recalled"),
    instances=windows_of_training(),
    tight=coordinates_one_by_one(),
    needs={"batches of B samples": windows_of_training(extra=1)},
    mutants={
        "one singular value earlier": {"earlier": 1},
        "the decay of one step more": {"factor": lambda r, d, n: retained(r, d, n + 1)},
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
    n, later, before, scale = len(x), [], [], []
    for W in layers_in_training(net, x, y, rate, decay):
        s, t = linalg.singular_values(W[-1]), linalg.singular_values(W[0])
        first = n * size - earlier
        later += [s[first:], 0 * s[:first]]
        before.append(factor(rate, decay, n).abs() * t)
        scale += [size_of(W)] * len(t)
    return leq(torch.cat(later), torch.cat(before), scale=torch.stack(scale))


@instances
def errors_and_features(source: Source, *, stationary=True):
    """Errors Δ (m × N), features A (n × N), a ridge λ, and W = −ΔAᵀ/λ, plus a matrix if not
    `stationary`."""
    m, n, N = (source.integer(1, 4) for _ in range(3))
    errors, features, ridge = matrix(source, m, N), matrix(source, n, N), positive(source)
    W = -(errors @ features.mT) / ridge
    return (W if stationary else W + matrix(source, m, n)), errors, features, ridge


@instances
def isometric_errors(source: Source):
    """The same with Δ a multiple of an isometry."""
    n, N = source.integer(1, 4), source.integer(1, 3)
    errors = positive(source, 1, 1) * semi_orthogonal(source, N + source.integer(0, 1), N)
    features, ridge = matrix(source, n, N), positive(source)
    return -(errors @ features.mT) / ridge, errors, features, ridge


def singular_value_bound(errors, features, ridge, shape, later=0):
    """‖Δ‖ σ_k(A) / λ for k = 1 + later, ..., as many as a matrix of that shape has."""
    s, count = linalg.singular_values(features), min(shape)
    s = torch.cat((s, s.new_zeros(count + later)))[later : count + later]
    return linalg.operator_norm(errors) / ridge * s


@bound(
    "field.stationary-singular-values",
    paper("zangrando2024", "on stationary points, as recalled"),
    instances=errors_and_features(),
    tight=isometric_errors(),
    needs={"W is stationary": errors_and_features(stationary=False)},
    mutants={"the next singular value of A": {"later": 1}},
)
def test_stationary_singular_values(W, errors, features, ridge, *, later=0):
    r"""Weights of a stationary point have singular values as small as those of their features.

    $\sigma_k(W) \le \|\Delta\|_{op}\, \sigma_k(A) / \lambda$ for every $k$, if
    $W = -\Delta A^\top / \lambda$. This is what $\partial_W (F + \frac\lambda2 \|W\|_F^2) = 0$ says of
    a layer with features $A = (\alpha_1, \ldots, \alpha_N)$ and errors
    $\Delta = (\delta_1, \ldots, \delta_N)$, the derivatives of $F$ in what the layer computes. So
    features near rank $K$ make weights near rank $K$.
    """
    s = linalg.singular_values(W)
    above = singular_value_bound(errors, features, ridge, W.shape, later)
    return leq(s, above, scale=norm(errors) * norm(features) / ridge)


def ridge_solution(features, y, ridge):
    """The last layer that minimises the mean of ‖W a_i − y_i‖², plus λ‖W‖_F²."""
    N, n = features.shape
    square = features.mT @ features + ridge * N * linalg.eye(n, features)
    return torch.linalg.solve(square, features.mT @ y).mT


def last_layer_solved(source: Source, classes, each):
    """A network whose last layer minimises the loss, for the features of the layers before."""
    net = network(source, depth=(1, 3), width=(1, 4), bound=2.0)
    x = source.tensor(classes * each, net.widths[0], low=-2.0, high=2.0)
    y = source.tensor(classes * each, net.widths[-1])
    ridge = positive(source, low=0.25, high=2.0)
    net = net.with_parameters(net.weights, (*net.biases[:-1], 0 * net.biases[-1]))
    last = ridge_solution(net.activations(x)[-1], y, ridge)
    return net.with_parameters((*net.weights[:-1], last), net.biases), x, y, ridge, net.depth - 1


def all_layers_stationary(source: Source, classes, each):
    r"""A deep network all of whose layers are stationary, with positive hidden activations.

    $W_1 = \dots = W_{L-1} = T$ and $W_L = QT$ with $T$ diagonal and positive, $Q$ with orthonormal
    columns, positive inputs with the second moments $\Sigma = \frac1N \sum x_i x_i^\top$, and targets
    $y_i = f(x_i) + \lambda Q T^{2-L} \Sigma^{-1} x_i$.
    """
    points = classes * each
    L, k = source.integer(2, 4), source.integer(1, min(points, 3))
    t, ridge = positive(source, k, low=0.5, high=1.5), positive(source, low=0.25, high=2.0)
    Q = semi_orthogonal(source, k + source.integer(0, 1), k)
    x = positive(source, points, k, low=0.125, high=1.0)
    x = x + k * linalg.eye(points, x)[:, :k]  # diagonally dominant, so Σ is invertible
    T = torch.diag_embed(t)
    net = Network.linear((*[T] * (L - 1), Q @ T))
    away = torch.linalg.solve(x.mT @ x / points, x.mT).mT * (1 / t) ** (L - 2)
    return net, x, net(x) + ridge * away @ Q.mT, ridge, 0


@instances
def stationary_networks(source: Source):
    """A network, points of K classes of equal size one after the other, targets, a ridge, the first
    layer from which on the network is stationary, and K."""
    make = source.choice((last_layer_solved, all_layers_stationary))
    K = source.integer(1, 3)
    return *make(source, K, source.integer(1, 2)), K


@instances
def orthogonal_data(source: Source):
    """One layer, for orthogonal inputs of one length and such targets."""
    K, each = source.integer(1, 2), source.integer(1, 2)
    N = K * each
    x = positive(source, 1, 1) * semi_orthogonal(source, N + source.integer(0, 1), N).mT
    y = positive(source, 1, 1) * semi_orthogonal(source, N + source.integer(0, 1), N).mT
    ridge = positive(source)
    return Network.linear((ridge_solution(x, y, ridge),)), x, y, ridge, 0, K


def within_classes(A, K):
    """The rows of A less the means of their classes, which stand one after the other."""
    classes = A.reshape(K, len(A) // K, -1)
    return (classes - classes.mean(1, keepdim=True)).reshape(A.shape)


@bound(
    "field.neural-rank-collapse",
    paper("zangrando2024", "on stationary points and within-class variability, as recalled"),
    instances=stationary_networks(),
    tight=orthogonal_data(),
    mutants={
        "the gradient of half the ridge": {"decay": 1},
        "the next singular value of the features": {"later": 1},
        "K − 1": {"fewer": 1},
    },
    reach=lambda net, x, y, ridge, first, K: {"stationary layers": net.depth - first, "classes": K},
    audit="left out: it takes the targets of a loss; an audit has none",
)
def test_neural_rank_collapse(net, x, y, ridge, first, K, *, decay=2, later=0, fewer=0):
    r"""At a stationary point the layers are near rank K where features vary little within K classes.

    Let $\partial_{W_\ell}(C + \lambda \|\theta\|^2) = 0$ for
    $C = \frac1N \sum_i \|f(x_i) - y_i\|^2$. With the errors $\Delta_\ell$, the derivatives of $C$ in
    the pre-activations $\tilde\alpha_\ell(x_i)$, and the features $A_{\ell-1}$ with the columns
    $\alpha_{\ell-1}(x_i)$,
    $$\sigma_k(W_\ell) \le \frac{\|\Delta_\ell\|_{op}}{2 \lambda} \sigma_k(A_{\ell-1})
    \quad\text{for every } k, \qquad \Bigl( \sum_{k > K} \sigma_k(W_\ell)^2 \Bigr)^{1/2} \le
    \frac{\|\Delta_\ell\|_{op}}{2 \lambda} \|A_{\ell-1} - \bar A_{\ell-1}\|_F ,$$
    where $\bar A_{\ell-1}$ has the means of the features of $K$ classes in place of the features.
    The left side is the distance of $W_\ell$ from the matrices of rank at most $K$.

    That the points are stationary is checked. They are networks of any features whose last layer
    solves a ridge regression, and deep networks all of whose layers are stationary, with positive
    activations; the biases are fixed. What training converges to is not checked.
    """
    u = 2 * (net(x) - y) / len(x)
    parts = (net.weights, net.activations(x), networks.backpropagated_errors(net, x, u))
    layers = list(zip(*(part[first:] for part in parts), strict=True))
    gradients = [(D.mT @ A + decay * ridge * W).flatten() for W, A, D in layers]
    s = [linalg.singular_values(W) for W, _, _ in layers]
    above = [singular_value_bound(D, A, 2 * ridge, W.shape, later) for W, A, D in layers]
    distances = [linalg.power((t * t).sum(), 0.5) for t in (t[K - fewer :] for t in s)]
    variations = [
        linalg.operator_norm(D) * norm(within_classes(A, K)) / (2 * ridge) for _, A, D in layers
    ]
    size = sum(norm(D) * norm(A) for _, A, D in layers)
    distance, variation, rounding = torch.stack(distances), torch.stack(variations), size / ridge
    return (
        eq(torch.cat(gradients), 0, scale=size, label="stationary"),
        leq(torch.cat(s), torch.cat(above), scale=rounding, label="singular values"),
        leq(distance, variation, scale=rounding, label="distance from rank K"),
    )


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
