"""App. D of `rank`: the Jacobian of kernel ridge regression, and its rank."""

from functools import cache, partial

import torch

from rankcheck import Erratum, Need, bound, data, eq, identity, leq, linalg, paper
from rankcheck.instances import Source, instances, positive, seed_of

#: Smooth kernels, and bounds of the operator norm of the Hessian of k(‖x‖): those of |k″| and |k′/r|.
KERNELS = ((data.RATIONAL, 2), (data.GAUSSIAN, 1), (data.INVERSE_MULTIQUADRIC, 1))


@instances
def regressions(source: Source, *, kernels=KERNELS):
    """Inputs of low rank, any outputs, a ridge λ > 0, a point and a direction; a bound on D²k."""
    count, d = source.integer(1, 5), source.integer(1, 4)
    r = source.integer(1, min(count, d))
    left = source.tensor(count, r, low=-2.0, high=2.0)
    X = left @ source.tensor(r, d, low=-1.5, high=1.5)
    kernel, curvature = source.choice(kernels)
    y = source.tensor(count, source.integer(1, 3), low=-4.0, high=4.0)
    f = data.KernelRidge(X, y, positive(source, high=2.0), kernel)
    return f, curvature, source.tensor(d, low=-4.0, high=4.0), source.tensor(d, low=-1.0, high=1.0)


@instances
def on_an_input(source: Source):
    """One input, equal to x, and a direction that is not small: there the remainder is largest."""
    d = source.integer(1, 4)
    X = source.tensor(1, d, low=-2.0, high=2.0)
    kernel, curvature = source.choice(KERNELS)
    y = source.tensor(1, source.integer(1, 3), low=-4.0, high=4.0)
    f = data.KernelRidge(X, y, positive(source, high=2.0), kernel)
    return f, curvature, X[0], source.tensor(d, low=0.5, high=1.0)


def derivative_for_pull(f, x):
    """Σ_i k′ α_i (x − x_i)ᵀ, with k′ in place of k′/r."""
    difference = x - f.inputs
    s = (difference * difference).sum(1)
    return f.coefficients.mT @ ((f.kernel.pull(s) * s.sqrt())[:, None] * difference)


@bound(
    "rank.kernel-ridge-jacobian",
    paper("rank", "App. D (corrected)"),
    instances=regressions(),
    tight=on_an_input(),
    mutants={
        "the sign as printed": {"jacobian": lambda f, x: -f.jacobian(x)},
        "k' for k'/r": {"jacobian": derivative_for_pull},
    },
    witness=data.KernelRidge,
    errata=Erratum(
        printed=r"$JK(x, X) = (X - x) \operatorname{diag}(k'(\|x - X\|)/\|x - X\|)$, where $X - "
        r"x$ is the $n_0 \times N$ dimension matrix with entries $(X - x)_{ki} = X_{ki} - x_k$",
        right="$x - X$: the printed product is the negative of the Jacobian, and its transpose. "
        "With one input 0, output 1 and $k = 1/(1 + r^2)$ the predictor falls at $x = 1$; by the "
        "printed formula it rises.",
        survives="The rank is the same for both signs, and only the rank is used in the section.",
        weight="misprint",
    ),
)
def test_kernel_ridge_jacobian(f, curvature, x, v, *, jacobian=data.KernelRidge.jacobian):
    r"""The Jacobian of kernel ridge regression in closed form.

    For $\hat f(x) = K(x, X)(K + \lambda I)^{-1} Y$ with $K(x, y) = k(\|x - y\|)$:
    $J\hat f(x)^\top = (x - X)\, \mathrm{diag}\bigl(k'(\|x - x_i\|)/\|x - x_i\|\bigr)
    (K + \lambda I)^{-1} Y$.

    The formula is checked against the values of $\hat f$ by Taylor's theorem:
    $|\hat f(x + tv) - \hat f(x) - tJv| \le \frac{t^2}2 \|v\|^2 \sup\|D^2 k\| \sum_i |\alpha_i|$ in
    each output, $t = 2^{-12}$. Kernels: $1/(1 + r^2)$, $e^{-r^2/2}$, $1/\sqrt{1 + r^2}$; not
    $e^{-r}$, which is not smooth at the inputs. The rank is rank.kernel-ridge-rank.
    """
    steps = 2**12
    remainder = f(x + v / steps) - f(x) - jacobian(f, x) @ v / steps
    weights = f.coefficients.abs().sum(0)
    largest = weights * curvature * (v @ v) / (2 * steps**2)
    return leq(remainder.abs(), largest, scale=weights, label="the derivative")


def generic(source: Source, *shape: int, seed: tuple[int, str]):
    """Entries within 1/16 of fixed random dyadic numbers in [-1, 1]: in general position."""
    return source.tensor(*shape, low=-0.0625, high=0.0625) + fixed(shape, *seed)


@cache
def fixed(shape: tuple[int, ...], *seed: object):
    """Random dyadic numbers in [-1, 1]; kept, as they cannot be drawn again while a map runs."""
    generator = torch.Generator().manual_seed(seed_of(*seed))
    return torch.randint(-1024, 1025, shape, generator=generator).to(torch.float64) / 1024


@instances
def rational_regressions(source: Source):
    """A predictor with the kernel 1/(1 + r²) and a point."""
    f, _, x, _ = regressions(kernels=KERNELS[:1])(source)
    return f, x


@instances
def in_general_position(source: Source):
    """The same near one of 64 fixed sets of random numbers, with inputs in a subspace of dimension r.

    Half of the subspaces are affine: they do not contain the origin.
    """
    count, d = source.integer(1, 6), source.integer(1, 4)
    r = source.integer(1, min(count, d))
    return near_a_base(source, count, d, r, source.integer(1, 4), affine=source.integer(0, 1))


def near_a_base(source: Source, count: int, d: int, r: int, outputs: int, *, affine: int):
    """A predictor and a point near one of the fixed sets of numbers, of the given shapes."""
    base = source.integer(0, 63)
    X = generic(source, count, r, seed=(base, "left")) @ generic(source, r, d, seed=(base, "right"))
    X = X + affine * generic(source, 1, d, seed=(base, "origin"))
    y = generic(source, count, outputs, seed=(base, "outputs"))
    f = data.KernelRidge(X, y, positive(source, high=2.0), data.RATIONAL)
    return f, 2 * generic(source, d, seed=(base, "point"))


@instances
def on_a_line_beside_the_origin(source: Source):
    """Three inputs or more on a line that does not contain the origin, with d_in, d_out ≥ 3."""
    return near_a_base(source, source.integer(3, 5), source.integer(3, 4), 1, 3, affine=1)


def affine_dimension(f):
    """The dimension of the affine hull of the inputs."""
    X = f.inputs
    return linalg.rank(X - X.mean(0), spread(X))


def rank_bound(f, *, shift=1, inputs=True, outputs=True):
    """min(d_in, d_out, dim aff X + 1), with the parts that the mutants change."""
    bound = affine_dimension(f) + shift
    bound = bound.clamp(max=f.inputs.shape[1]) if inputs else bound
    return bound.clamp(max=f.outputs.shape[1]) if outputs else bound


def linear_rank_bound(f):
    """min(d_in, d_out, rank X + 1, N)."""
    largest = min(*f.inputs.shape, f.outputs.shape[1])
    return (linalg.rank(f.inputs, spread(f.inputs)) + 1).clamp(max=largest)


def ranks_reached(f, x):
    """The ranks of the Jacobian and of the inputs, and the dimension of their affine hull."""
    return {
        "rank of the Jacobian": linalg.rank(f.jacobian(x), jacobian_noise(f, x)),
        "rank X": linalg.rank(f.inputs, spread(f.inputs)),
        "dim aff X": affine_dimension(f),
    }


def spread(X):
    """How much rounding can add to the singular values of a product X of small factors."""
    if not isinstance(X, torch.Tensor):
        return 0.0
    return 2.0**-46 * (1 + X.norm())


def jacobian_noise(f, x):
    """How much rounding can add to the singular values of the Jacobian."""
    if not isinstance(x, torch.Tensor):
        return 0.0
    return 2.0**-44 * (1 + f.inputs.norm() + x.norm()) * f.coefficients.norm()


@bound(
    "rank.kernel-ridge-rank",
    paper("rank", "App. D"),
    instances=rational_regressions(),
    tight=in_general_position(),
    mutants={"dim aff X in place of dim aff X + 1": {"bound": partial(rank_bound, shift=0)}},
    witness=data.KernelRidge,
    reach=ranks_reached,
)
def test_kernel_ridge_rank(f, x, *, bound=rank_bound):
    r"""The rank of kernel ridge regression is at most what its data allow.

    $\operatorname{rank} J\hat f(x) \le \min\{d_{in}, d_{out}, \dim \operatorname{aff} X + 1\}
    \le \min\{d_{in}, d_{out}, \operatorname{rank} X + 1, N\}$, where $\operatorname{aff} X$ is the affine
    hull of the inputs.

    Checked for the kernel $1/(1 + r^2)$, for which ranks are decided exactly. Other kernels change
    only the factors $k'/r$.
    """
    return (
        leq(linalg.rank(f.jacobian(x), jacobian_noise(f, x)), bound(f), label="the Jacobian"),
        leq(rank_bound(f), linear_rank_bound(f), label="the affine hull"),
    )


@identity(
    "rank.kernel-ridge-generic-rank",
    paper("rank", "App. D"),
    instances=in_general_position(),
    needs={
        "general position": rational_regressions(),
        "the origin in the affine hull, for rank X + 1": Need(
            on_a_line_beside_the_origin(), {"bound": linear_rank_bound}
        ),
    },
    mutants={
        "the outputs not counted": {"bound": partial(rank_bound, outputs=False)},
        "the inputs not counted, as printed": {"bound": partial(rank_bound, inputs=False)},
    },
    witness=data.KernelRidge,
    effort=2,
    errata=(
        Erratum(
            printed=r"the rank of $J\hat f_K(x)$ will be $\min\{\operatorname{Rank}(X - x), "
            r"\operatorname{Rank} Y\} = \min\{\operatorname{Rank} X + 1, N, d_{out}\}$",
            right=r"$\min\{d_{in}, d_{out}, \operatorname{Rank} X + 1, N\}$: the line before has "
            r"$\operatorname{Rank}(X - x) = \min\{d_{in}, N, \operatorname{Rank} X + 1\}$, and "
            r"the next formula $\min\{d_{in}, d_{out}\}$ for large $N$.",
            survives="The conclusion is not affected: full rank for $N$ larger than $d_{in}$ and "
            "$d_{out}$.",
        ),
        Erratum(
            printed=r"For almost all choices of $x$ … one has $\operatorname{Rank}(JK(x, X)) = "
            r"\operatorname{Rank}(X - x) = \min\{d_{in}, N, \operatorname{Rank} X + 1\}$",
            right=r"$\operatorname{Rank}(X - x) = \min\{d_{in}, \dim \operatorname{aff} X + 1\}$. "
            "It is the printed number for inputs in general position among those of their rank; "
            "if their affine hull does not contain the origin, as for (1, 0, 0), (1, 1, 0), (1, "
            "2, 0), it can be one less.",
            survives="The conclusion is not affected: it assumes that $X$ has full rank.",
        ),
    ),
    reach=ranks_reached,
)
def test_kernel_ridge_generic_rank(f, x, *, bound=rank_bound):
    r"""Kernel ridge regression generically has the largest rank that its data allow.

    $\operatorname{rank} J\hat f(x) = \min\{d_{in}, d_{out}, \dim \operatorname{aff} X + 1\}$ for
    almost all $x$ and $Y$: ridge regression with a fixed kernel does not find a low rank. For $X$ in
    general position among the matrices of its rank, $\dim \operatorname{aff} X + 1 =
    \min\{\operatorname{rank} X + 1, N\}$.

    Checked within 1/16 of 64 sets of random numbers. Elsewhere the rank can be smaller, as the control
    shows.
    """
    return eq(linalg.rank(f.jacobian(x), jacobian_noise(f, x)), bound(f))
