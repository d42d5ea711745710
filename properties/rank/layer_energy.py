"""Proof of Prop. 9 of `rank`: the energy and the variance of the data after a layer."""

import torch

from rankcheck import Erratum, Need, bound, data, leq, linalg, networks, paper, step
from rankcheck.instances import STEEPEST, Range, Source, instances, matrix, orthogonal


@instances
def layers_on_data(source: Source, *, low: float = -STEEPEST, high: float = STEEPEST):
    """A layer W (m × n), b, a slope a in [low, high], and N data points as the rows of Z."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    W, b = matrix(source, m, n, bound=4.0), source.tensor(m, low=-4.0, high=4.0)
    Z = source.tensor(source.integer(1, 5), n, low=-4.0, high=4.0)
    return Z, W, b, source.tensor(low=low, high=high)


@instances
def aligned_layers(source: Source):
    """[W, b] = u[z, 1]ᵀ with u ≥ 0, and all points equal to z."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    u, z = source.tensor(m, low=0.0, high=2.0), source.tensor(n, low=-4.0, high=4.0)
    Z = z.expand(source.integer(1, 4), n)
    return Z, torch.outer(u, z), u, source.tensor(low=-STEEPEST, high=STEEPEST)


def energy_of(Z):
    """‖ZᵀZ‖_op / N."""
    return linalg.operator_norm(Z.mT @ Z) / len(Z)


def with_the_biases(Z, W, b):
    """‖[Z, 1]ᵀ[Z, 1]/N‖_op (‖W‖_F² + ‖b‖²)."""
    ones = torch.ones_like(Z[:, :1])
    return energy_of(torch.cat((Z, ones), -1)) * (linalg.frobenius_squared(W) + b @ b)


def without_the_cross_term(Z, W, b):
    """‖ZᵀZ/N‖_op ‖W‖_F² + ‖b‖²."""
    return energy_of(Z) * linalg.frobenius_squared(W) + b @ b


def layer(Z, W, b, a):
    """σ_a(ZWᵀ + b), the data after the layer as rows."""
    return networks.leaky(Z @ W.mT + b, a)


@bound(
    "rank.layer-energy",
    paper("rank", "proof of Prop. 9 (corrected)"),
    instances=layers_on_data(),
    tight=aligned_layers(),
    needs={"|a| ≤ 1": layers_on_data(low=1.5, high=4.0)},
    mutants={"the cross term dropped, as printed": {"bound": without_the_cross_term}},
)
def test_layer_energy(Z, W, b, a, *, bound=with_the_biases):
    r"""A layer multiplies the energy of its data by at most its cost.

    For $N$ points as the rows of $Z$ and $|a| \le 1$:
    $\frac1N \|\sigma_a(ZW^T + 1b^T)\|_F^2 \le
    \big\|\tfrac1N [Z, 1]^T [Z, 1]\big\|_{op}\,(\|W\|_F^2 + \|b\|^2)$.
    """
    energy = linalg.frobenius_squared(layer(Z, W, b, a)) / len(Z)
    return leq(energy, bound(Z, W, b))


@instances
def two_or_more_points(source: Source):
    """The same with N ≥ 2 points in two or more dimensions, and two or more units."""
    m, n = source.integer(2, 4), source.integer(2, 4)
    W, b = source.tensor(m, n, low=-1.0, high=1.0), source.tensor(m, low=-1.0, high=1.0)
    Z = source.tensor(source.integer(2, 5), n, low=-4.0, high=4.0)
    return Z, W, b, source.tensor(low=-STEEPEST, high=STEEPEST)


@step(
    "rank.layer-energy-as-printed",
    paper("rank", "proof of Prop. 9"),
    instances=two_or_more_points(),
    errata=Erratum(
        printed=r"$\|Z_l^T Z_l / N\|_{op} \le \operatorname{Tr}[Z_l^T Z_l / N] - \lambda_2(Z_l^T "
        r"Z_l / N) \le \operatorname{Tr}[\sigma_a(W_l Z_{l-1} + b_l)^T \sigma_a(W_l Z_{l-1} + "
        r"b_l) / N] - \delta \le \|Z_{l-1}^T Z_{l-1} / N\|_{op} \|W_l\|_F^2 + \|b_l\|_F^2 - "
        r"\delta$",
        right=r"$\|Z_l^T Z_l / N\|_{op} \le \|[Z_{l-1}, 1]^T [Z_{l-1}, 1] / N\|_{op} (\|W_l\|_F^2 "
        r"+ \|b_l\|^2)$, with the constant 1 as a further coordinate of the data "
        r"(rank.layer-energy). $\|Wz + b\|^2$ has the cross term $2 b^T W z$, and its mean over "
        "the data does not vanish.",
        survives=r"Equation (2), the bound on $l_0$ and the lower bound of $\lambda_1$ rest on "
        "this step; the passage from here to (2) fails as well "
        "(rank.largest-eigenvalue-as-printed). With the further coordinate the first eigenvalue "
        r"grows by up to $\|W\|_F^2 + \|b\|^2$ more in each layer, which is not small against "
        r"$\delta$, so the argument does not close.",
        weight="step",
    ),
    result=r"open: the bound of $\lambda_2$ needs another argument than this one; the balance and "
    "the cost of a minimum do not imply it (rank.balanced-layers-of-rank-two), and what is true "
    "of the centred data is rank.one-dimensional-representations",
    readings={
        "without the terms -delta": "this is what is tested, and it is weaker than the chain for "
        r"every $\delta > 0$",
        "only the ends of the chain": "the first eigenvalue itself, on the left, exceeds the right "
        "side, not only the trace in between",
        "only weights that the balance allows": r"the counterexample has $\|W\|_F^2 + \|b\|^2 = "
        r"1$ and $\lambda_2 > 0$ before and after the layer",
        "data with mean zero": "the activations of a layer are not centred, and the proof does not "
        "assume it",
    },
    corrected_by="rank.layer-energy",
)
def test_layer_energy_as_printed(Z, W, b, a):
    r"""A layer multiplies the first eigenvalue of its data by ‖W‖² and adds ‖b‖², at most.

    $\big\|\tfrac1N Z_\ell^T Z_\ell\big\|_{op} \le
    \big\|\tfrac1N Z_{\ell-1}^T Z_{\ell-1}\big\|_{op} \|W_\ell\|_F^2 + \|b_\ell\|^2$ with
    $Z_\ell = \sigma_a(W_\ell Z_{\ell-1} + b_\ell)$: the two ends of the printed chain, without the
    $-\delta$ on its right, for $N \ge 2$ points whose $\lambda_2$ is positive before and after the
    layer, and $\|W_\ell\|_F^2 + \|b_\ell\|^2 \le 1$.
    """
    after = layer(Z, W, b, a)
    small = linalg.frobenius_squared(W) + b @ b <= 1
    holds = small & (linalg.rank(Z) >= 2) & (linalg.rank(after) >= 2)
    return leq(energy_of(after), without_the_cross_term(Z, W, b), where=holds)


@instances
def data_and_layers(
    source: Source, *, points: Range = (1, 5), low: float = -STEEPEST, high: float = STEEPEST
):
    """N data points as the rows of Y, a matrix W (m × n), and a slope a in [low, high]."""
    m, n = source.integer(1, 4), source.integer(1, 4)
    W = matrix(source, m, n, bound=4.0)
    Y = source.tensor(source.integer(*points), n, low=-4.0, high=4.0)
    return Y, W, source.tensor(low=low, high=high)


@instances
def positive_data_and_rotations(source: Source):
    """Points in the positive orthant, where σ_a is the identity, and an orthogonal W."""
    n = source.integer(1, 4)
    Y = source.tensor(source.integer(2, 5), n, low=0.0, high=4.0)
    W = orthogonal(source, n)
    return Y, W.abs() if n == 1 else W, source.tensor(low=-STEEPEST, high=STEEPEST)


@instances
def bent_data(source: Source):
    """Points near (2, −1), (0, 0), (2, 1), whose largest variance ReLU raises, and W near I."""
    base = torch.tensor([[2.0, -1.0], [0.0, 0.0], [2.0, 1.0]], dtype=torch.float64)
    Y = base + source.tensor(3, 2, low=-0.03125, high=0.03125)
    W = torch.eye(2, dtype=torch.float64) + source.tensor(2, 2, low=-0.0078125, high=0.0078125)
    return Y, W, source.tensor(low=-0.125, high=0.125)


def operator_norm_squared(A):
    """‖A‖_op²."""
    return linalg.operator_norm(A) ** 2


@bound(
    "rank.centred-covariance",
    paper("rank", "proof of Prop. 9 (corrected)"),
    instances=data_and_layers(),
    tight=positive_data_and_rotations(),
    needs={
        "|a| ≤ 1": data_and_layers(low=1.5, high=4.0),
        "the norm of W is its Frobenius norm": Need(bent_data(), {"norm": operator_norm_squared}),
    },
    mutants={"the largest variance, as printed": {"size": linalg.operator_norm}},
)
def test_centred_covariance(Y, W, a, *, size=torch.trace, norm=linalg.frobenius_squared):
    r"""A layer multiplies the total variance of its data by at most its squared norm.

    With the data points as the rows of $Y$:
    $\operatorname{tr} \operatorname{Cov}(\sigma_a(Y)) \le \operatorname{tr} \operatorname{Cov}(Y)$ for
    $|a| \le 1$, and $\operatorname{tr} \operatorname{Cov}(Y W^\top) \le
    \|W\|_{op}^2 \operatorname{tr} \operatorname{Cov}(Y)$. Hence, as
    $\|C\|_{op} \le \operatorname{tr} C$ and $\operatorname{tr} W C W^\top \le \|W\|_F^2 \|C\|_{op}$,
    $\|\operatorname{Cov}(\sigma_a(Y W^\top))\|_{op} \le
    \|W\|_F^2\,\|\operatorname{Cov}(Y)\|_{op}$.

    The total variance is half the mean squared distance of two points, and neither $\sigma_a$ nor
    $W / \|W\|_{op}$ raises a distance. The last inequality repairs Equation (3) of the proof.
    """
    largest, energy = operator_norm_squared(W), linalg.frobenius_squared(Y) / len(Y)
    before, bent = size(data.covariance(Y)), size(data.covariance(networks.leaky(Y, a)))
    moved = size(data.covariance(Y @ W.mT))
    return (
        leq(bent, before, scale=energy, label="the activation"),
        leq(moved, largest * before, scale=largest * energy, label="the weights"),
        leq(
            linalg.operator_norm(data.covariance(networks.leaky(Y @ W.mT, a))),
            norm(W) * linalg.operator_norm(data.covariance(Y)),
            scale=linalg.frobenius_squared(W) * energy,
            label="the largest variance",
        ),
    )


@step(
    "rank.centred-covariance-as-printed",
    paper("rank", "proof of Prop. 9"),
    instances=data_and_layers(points=(2, 5)),
    errata=Erratum(
        printed=r"$\|(Z_l - m_l)^T (Z_l - m_l) / N\|_{op} \le \|(Z_{l-1} - m_{l-1})^T (Z_{l-1} - "
        r"m_{l-1}) / N\|_{op} \|W_l\|_{op}^2$",
        right=r"$\|(Z_l - m_l)^T (Z_l - m_l) / N\|_{op} \le \|(Z_{l-1} - m_{l-1})^T (Z_{l-1} - "
        r"m_{l-1}) / N\|_{op} \|W_l\|_F^2$, with $\|W\|_F$ in place of $\|W\|_{op}$ "
        "(rank.centred-covariance). The weights multiply the largest variance by at most "
        r"$\|W\|_{op}^2$, but the activation can raise it: it can turn variance in several "
        "directions into variance in one.",
        survives=r"Equation (3) with the $\|W_l\|_F^2$, and the mean inequality after it. The "
        r"lower bound of $\lambda_1$ that is drawn from them does not survive: it needs the bound "
        r"of the sum of the $\|W_l\|_F^2$ behind $l_0$, which comes from iterating Equation (2), "
        "and that is false (rank.layer-energy-as-printed, rank.largest-eigenvalue-as-printed).",
        weight="step",
    ),
    result="open: this step has a repair (rank.centred-covariance), but the lower bound of "
    r"$\lambda_1$ at $l_0$ also rests on Equation (2). The balance and the cost of a minimum do "
    r"not imply it: in rank.balanced-layers-of-rank-two $\lambda_1$ is at most a constant times "
    r"$\lambda_2$ in every layer, so it is $O(L^{-1/2})$ wherever $\lambda_2$ is, where "
    r"$\Omega(1)$ is printed",
    readings={
        "$Z$ as pre-activations": "the step then goes from one pre-activation to the next, and the "
        "activation between them raises the norm all the same",
        "training data at a minimum": "the proof states the bound for all layers, without using "
        "minimality",
    },
    corrected_by="rank.centred-covariance",
)
def test_centred_covariance_as_printed(Y, W, a):
    r"""A layer multiplies the largest variance of its data by at most its squared norm.

    $\|\operatorname{Cov}(\sigma_a(Y W^\top))\|_{op} \le
    \|W\|_{op}^2\,\|\operatorname{Cov}(Y)\|_{op}$, with the data points as the rows of $Y$.
    """
    after = networks.leaky(Y @ W.mT, a)
    norm, energy = operator_norm_squared(W), linalg.frobenius_squared(Y) / len(Y)
    return leq(
        linalg.operator_norm(data.covariance(after)),
        norm * linalg.operator_norm(data.covariance(Y)),
        scale=norm * energy,
    )
