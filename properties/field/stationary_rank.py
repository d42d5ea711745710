"""Zangrando, Deidda, Brugiapaglia, Guglielmi, Tudisco: at a stationary point of a loss with ridge
the layers have rank K, up to how much the features vary within K classes."""

import torch

from rankcheck import Network, bound, eq, leq, linalg, networks, paper
from rankcheck.instances import Source, instances, matrix, network, positive, semi_orthogonal


@instances
def errors_and_features(source: Source, *, stationary=True):
    """Errors Δ (m × N), features A (n × N), a ridge λ, and W = −ΔAᵀ/λ, plus a matrix if not
    `stationary`."""
    m, n, N = (source.integer(1, 4) for _ in range(3))
    errors, features, ridge = matrix(source, m, N), matrix(source, n, N), positive(source)
    W = -(errors @ features.mT) / ridge[..., None, None]
    return (W if stationary else W + matrix(source, m, n)), errors, features, ridge


@instances
def isometric_errors(source: Source):
    """The same with Δ a multiple of an isometry."""
    n, N = source.integer(1, 4), source.integer(1, 3)
    errors = positive(source, 1, 1) * semi_orthogonal(source, N + source.integer(0, 1), N)
    features, ridge = matrix(source, n, N), positive(source)
    return -(errors @ features.mT) / ridge[..., None, None], errors, features, ridge


def padded(s, count):
    """The first `count` of the numbers s, with zeros behind them."""
    zeros = s.new_zeros((*s.shape[:-1], max(count - s.shape[-1], 0)))
    return torch.cat((s[..., :count], zeros), -1)


def singular_value_bound(errors, features, ridge, shape, later=0):
    """‖Δ‖ σ_k(A) / λ for k = 1 + later, ..., as many as a matrix of that shape has."""
    s = padded(linalg.singular_values(features), min(shape[-2:]) + later)[..., later:]
    return (linalg.operator_norm(errors) / ridge).unsqueeze(-1) * s


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
    size = (
        linalg.power(linalg.frobenius_squared(errors) * linalg.frobenius_squared(features), 0.5)
        / ridge
    )
    return leq(s, above, scale=size.unsqueeze(-1))


def ridge_solution(features, y, ridge):
    """The last layer that minimises the mean of ‖W a_i − y_i‖², plus λ‖W‖_F²."""
    one = ridge[..., None, None] * features.shape[-2] * linalg.eye(features.shape[-1], features)
    return torch.linalg.solve(features.mT @ features + one, features.mT @ y).mT


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
    first = torch.arange(points).unsqueeze(-1) == torch.arange(k)
    x = torch.where(first, x + k, x)  # diagonally dominant, so Σ is invertible
    T = torch.diag_embed(t)
    net = Network.linear((*[T] * (L - 1), Q @ T))
    away = torch.linalg.solve(x.mT @ x / points, x.mT).mT * ((1 / t) ** (L - 2)).unsqueeze(-2)
    return net, x, net(x) + ridge[..., None, None] * away @ Q.mT, ridge, 0


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
    classes = A.unflatten(-2, (K, A.shape[-2] // K))
    return (classes - classes.mean(-2, keepdim=True)).flatten(-3, -2)


def layers_and_classes(net, x, y, ridge, first, K):
    """How many layers are stationary, and the number of classes."""
    return {"stationary layers": net.depth - first, "classes": K}


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
    reach=layers_and_classes,
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
    u = 2 * (net(x) - y) / x.shape[-2]
    parts = (net.weights, net.activations(x), networks.backpropagated_errors(net, x, u))
    layers = list(zip(*(part[first:] for part in parts), strict=True))
    gradients = [(D.mT @ A + decay * ridge[..., None, None] * W).flatten(-2) for W, A, D in layers]
    s = [linalg.singular_values(W) for W, _, _ in layers]
    above = [singular_value_bound(D, A, 2 * ridge, W.shape, later) for W, A, D in layers]
    distances = [linalg.power((t * t).sum(-1), 0.5) for t in (t[..., K - fewer :] for t in s)]
    variations = [
        linalg.operator_norm(D)
        * linalg.power(linalg.frobenius_squared(within_classes(A, K)), 0.5)
        / (2 * ridge)
        for _, A, D in layers
    ]
    sizes = [
        linalg.power(linalg.frobenius_squared(D) * linalg.frobenius_squared(A), 0.5)
        for _, A, D in layers
    ]
    size = torch.stack(sizes, -1).sum(-1, keepdim=True)
    rounding = size / ridge.unsqueeze(-1)
    return (
        eq(torch.cat(gradients, -1), 0, scale=size, label="stationary"),
        leq(torch.cat(s, -1), torch.cat(above, -1), scale=rounding, label="singular values"),
        leq(
            torch.stack(distances, -1),
            torch.stack(variations, -1),
            scale=rounding,
            label="distance from rank K",
        ),
    )
