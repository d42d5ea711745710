"""What several statements of `separation` share: functions of one variable, and a broken network."""

import torch

from rankcheck import linalg, networks, witnesses
from rankcheck.instances import Source, positive


def subdivision(source: Source, pieces: int, start=-1, length=2):
    """The ends of the pieces of [start, start + length], in order: (*batch, pieces + 1)."""
    parts = positive(source, pieces)
    ends = torch.cat((torch.zeros_like(parts[..., :1]), parts.cumsum(-1)), -1)
    return start + length * ends / ends[..., -1:]


def lipschitz_function(source: Source, breakpoints, lipschitz):
    """A piecewise-linear function with these breakpoints, its slopes L times numbers in [−1, 1]."""
    pieces = breakpoints.shape[-1] - 1
    slopes = lipschitz.unsqueeze(-1) * source.tensor(pieces, low=-1.0, high=1.0)
    return networks.PiecewiseLinear.from_slopes(breakpoints, slopes, source.tensor())


def sine(d: int):
    """The oscillating example t ↦ sin(πd³t)."""
    return lambda t: torch.sin(d**3 * linalg.pi(t) * t)


def heavier(pair: witnesses.DepthThree, factor: int) -> witnesses.DepthThree:
    """The same function: the first layer of N_i times a factor, the second divided by it."""
    inner = pair.inner
    (first, second), (b, c) = inner.weights, inner.biases
    moved = inner.with_parameters((factor * first, second / factor), (factor * b, c))
    return witnesses.DepthThree(moved, pair.outer)
