"""What to use in place of torch functions that have no ball form, for error messages and the page.

By the ``__name__`` of the function or method, as in `rankcheck.balls.array.FUNCTIONS`.
"""

from __future__ import annotations

from traceback import walk_tb

GENERAL = "docs/balls.md lists the functions that have one"

INSTEAD: dict[str, str] = {
    "linalg_lstsq": "use torch.linalg.pinv(A) @ B",
    "linalg_lu": "its row permutation is decided by rounding; use torch.linalg.solve or det",
    "linalg_lu_factor": "its row permutation is decided by rounding; use torch.linalg.solve or det",
    "linalg_ldl_factor": "use torch.linalg.cholesky or torch.linalg.eigvalsh",
    "linalg_householder_product": "write the product of the reflections I - 2 v v^T / |v|^2",
    "linalg_tensorsolve": "reshape, and use torch.linalg.solve",
    "linalg_tensorinv": "reshape, and use torch.linalg.inv",
    "svd": "use torch.linalg.svd(A, full_matrices=False), whose third factor is transposed",
    "qr": "use torch.linalg.qr",
    "cholesky": "use torch.linalg.cholesky",
    "cholesky_inverse": "use torch.linalg.inv",
    "lu": "its row permutation is decided by rounding; use torch.linalg.solve or det",
    "svd_lowrank": "it is random; use torch.linalg.svd(A, full_matrices=False)",
    "pca_lowrank": "it is random; use torch.linalg.svd(A, full_matrices=False)",
    "lobpcg": "it is random; use torch.linalg.eigvalsh",
    "chain_matmul": "write the product with @",
    "nanmedian": "use sort and select the middle",
    "mode": "use sort(...).values",
    "unique": "its result depends on which entries are equal; compare them with eq",
    "nonzero": "its shape depends on values; use a mask and torch.where",
    "index_add": "use a matrix product with a 0-1 matrix",
    "__setitem__": "make the array that is assigned to with x.new_zeros(...) of a ball array x",
    "l1_loss": "write (x - y).abs().mean()",
    "nan_to_num": "use torch.where; balls have no nan",
    "isclose": "compare with <=; on balls equality is exact or undecided",
    "allclose": "compare with <=; on balls equality is exact or undecided",
    "rand_like": "a body never draws; draw in the generator",
    "randn_like": "a body never draws; draw in the generator",
    "empty_like": "use zeros_like",
    "new_empty": "use new_zeros",
    "backward": "balls have no gradients; write the derivative, or use Network.jacobian",
    "requires_grad_": "balls have no gradients; write the derivative, or use Network.jacobian",
    "trapezoid": "write the weighted sum",
    "renorm": "write the division by the norm",
    "cdist": "write the norms of the differences of x[..., :, None, :] and y[..., None, :, :]",
    "linalg_eig": (
        "phases of eigenvectors are arbitrary; use torch.linalg.eigvals, "
        "rankcheck.linalg.spectral_radius or, for symmetric matrices, torch.linalg.eigh"
    ),
    "inner": "use torch.einsum",
    "tensordot": "use torch.einsum",
    "linalg_slogdet": "use torch.linalg.det",
    "linalg_cond": "write the quotient of the largest and the smallest of torch.linalg.svdvals(A)",
    "linalg_multi_dot": "write the product with @",
    "mse_loss": "write (x - y).square().mean()",
    "view_as_complex": "use torch.complex",
}

TRANSFORMS = ("torch._functorch.apis", "torch._functorch.eager_transforms", "torch.autograd")
"""The modules of torch that differentiate functions, or map them over axes."""


def without_transforms(error: BaseException) -> str | None:
    """What to use in place of torch.func, if an error came about in it; else None.

    torch refuses what is no tensor there, without asking what it is.
    """
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    if not any(module.startswith(TRANSFORMS) for module in modules):
        return None
    return (
        "the transforms of torch.func and torch.autograd; in place of vmap write the formula for "
        "all rows, in place of grad, jacrev and hessian write the derivative as a formula, that "
        "of a network as Network.jacobian"
    )
