"""Random matrices and networks for the tests of the mathematics, and batches of instances."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import torch

from rankcheck.balls import BallArray
from rankcheck.engine.verification.mapped import over
from rankcheck.networks import Network
from rankcheck.theory.instances.drivers import Drawing, ReplaySource, drawn
from rankcheck.theory.instances.record import Record
from rankcheck.theory.witnesses.loops import Loop


def normal(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def uniform(seed: int, *shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def integers(seed: int, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, shape, generator=generator).to(torch.float64)


def random_units(seed: int, count: int, K: int, D: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random W and a, with row lengths over about three orders of magnitude."""
    return normal(seed, count, K, D), normal(seed + 1, count, K) * normal(seed + 2, count, K).exp()


def random_network(
    widths: Sequence[int],
    slope: Any = 0.0,
    batch: Sequence[int] = (),
    seed: int = 0,
    draw: Callable[..., torch.Tensor] = normal,
) -> Network:
    """A network of these widths, whose weights and biases `draw` gives."""
    weights = [draw(1000 * seed + i, *batch, n, m) for i, (m, n) in enumerate(pairwise(widths))]
    biases = [draw(1000 * seed + 500 + i, *batch, n) for i, n in enumerate(widths[1:])]
    return Network(weights, biases, slope)


def changed(
    part: Any, array: Callable[[Any], Any], number: Callable[[int], int] = lambda number: number
) -> Any:
    """An instance with `array` applied to each of its arrays, and `number` to its integers."""
    if isinstance(part, Network | Loop):
        copy = object.__new__(type(part))
        for name, value in vars(part).items():
            object.__setattr__(copy, name, changed(value, array, number))
        return copy
    if isinstance(part, list | tuple):
        return type(part)(changed(item, array, number) for item in part)
    if isinstance(part, torch.Tensor | BallArray):
        return array(part)
    return number(part) if type(part) is int else part


def arrays_of(part: Any) -> list[Any]:
    """The arrays of an instance in order, those of networks and loops among them."""
    found: list[Any] = []

    def noted(array: Any) -> Any:
        found.append(array)
        return array

    changed(part, noted)
    return found


def batch_of(family: Any, batch: Drawing | Record) -> tuple[Any, torch.Tensor]:
    """The instances of a batch, along a leading axis, and which of them are inside.

    Args:
        family: a generator, or a function of a source.
        batch: what draws it, or what was drawn.
    """
    if isinstance(batch, Drawing):
        found = drawn(family, batch)
        if isinstance(found, list):
            raise found[0].error
        batch = batch.record
    if not batch.tensors:
        alone = family(ReplaySource(batch))
        return changed(alone, lambda array: array.unsqueeze(0)), torch.ones(1, dtype=torch.bool)
    form: list[Any] = []

    def read(built: Any) -> list[torch.Tensor]:
        form[:] = [built]
        return arrays_of(built)

    mapped = over(SimpleNamespace(file=None), family, batch, read)
    if mapped.error is not None:
        raise mapped.error
    assert not mapped.stopped
    arrays = iter(mapped.arrays)
    return changed(form[0], lambda _: next(arrays)), mapped.valid
