"""Functions that get the whole batch while `torch.func.vmap` maps over its instances.

They look at values; or torch's own rule is slow, as for singular values and eigenvalues: under a
map it computes the vectors as well, which takes three times as long for small matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def as_batch(function: Callable[..., Any], *arrays: Tensor) -> Any:
    """What a function returns that takes tensors with any leading batch axes, or none.

    Under `torch.func.vmap` it gets all instances at once, along a first axis. It returns a tensor,
    or a tuple of them, with the same batch axes; derivatives of any order are its own.

    >>> A = torch.eye(2).expand(3, 2, 2)
    >>> torch.func.vmap(lambda a: as_batch(torch.linalg.svdvals, a))(A).shape
    torch.Size([3, 2])
    """
    if torch._C._are_functorch_transforms_active():
        return _AsBatch.apply(function, *arrays)
    return function(*arrays)


class _AsBatch(torch.autograd.Function):
    @staticmethod
    def forward(function: Callable[..., Any], *arrays: Tensor) -> Any:
        return function(*arrays)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.function, *arrays = inputs
        ctx.several = isinstance(output, tuple)
        ctx.save_for_backward(*arrays)
        ctx.save_for_forward(*arrays)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        function, several, count = ctx.function, ctx.several, len(gradients)

        def pulled(*arrays: Tensor) -> tuple[Tensor, ...]:
            pull = torch.func.vjp(function, *arrays[count:])[1]
            return pull(arrays[:count] if several else arrays[0])

        return None, *as_batch(pulled, *gradients, *ctx.saved_tensors)

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Tensor) -> Any:
        function, count = ctx.function, len(tangents)

        def pushed(*arrays: Tensor) -> Any:
            return torch.func.jvp(function, arrays[count:], arrays[:count])[1]

        return as_batch(pushed, *tangents, *ctx.saved_tensors)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], function: Any, *arrays: Tensor) -> Any:
        batches = (
            x.expand(info.batch_size, *x.shape).clone() if dim is None else x.movedim(dim, 0)
            for x, dim in zip(arrays, in_dims[1:], strict=True)
        )
        with torch._C.DisableTorchFunction():  # `widths` notes numbers of an instance
            returned = as_batch(function, *batches)
        return returned, 0 if isinstance(returned, Tensor) else (0,) * len(returned)
