r"""Training: Adam on all points at once, with the ridge $\lambda\|\theta\|^2$.

Nothing is random here: the points, the first weights and the schedule are given.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from rankcheck.experiments.stack import Stack

__all__ = ["History", "Schedule", "train"]

#: Between two reports of progress there are at most so many steps, or so many seconds.
_STEPS, _SECONDS = 50, 1.0
#: The error and the cost are kept at so many steps.
_KEPT = 60
_BETAS = (0.9, 0.999)


@dataclass(frozen=True)
class Schedule:
    """Steps of Adam, and their learning rates: a linear start, then half a cosine.

    Attributes:
        steps: how many.
        rate: the largest learning rate.
        warm: steps until it is reached.
        last: the share of it that is left at the end.
    """

    steps: int
    rate: float
    warm: int = 100
    last: float = 0.01

    def at(self, step: int) -> float:
        """The learning rate of a step, from 0."""
        begin = min(1.0, (step + 1) / max(self.warm, 1))
        bend = (1 + math.cos(math.pi * step / max(self.steps, 1))) / 2
        return self.rate * begin * (self.last + (1 - self.last) * bend)


@dataclass(frozen=True)
class History:
    """The error and ‖θ‖² during a training.

    Attributes:
        steps: at which steps, (K).
        errors, costs: of each run, (K, R).
    """

    steps: Tensor
    errors: Tensor
    costs: Tensor


def train(
    stack: Stack,
    error: Callable[[Tensor], Tensor],
    x: Tensor,
    ridge: float,
    schedule: Schedule,
    *,
    progress: Callable[[int, str], None] = lambda done, words: None,
) -> History:
    """Minimise error(f(x)) + ridge ‖θ‖² for each run of a stack, whose parameters are changed.

    Args:
        error: of the outputs (R, N, n_L), the error of each run, (R).
        x: the points, (R, N, n_0) or (N, n_0).
        progress: called with the steps that are done and a few words, now and then.

    Raises:
        FloatingPointError: if an error or a parameter is not finite.
    """
    parameters = stack.trainable()
    adam = torch.optim.Adam(parameters, lr=1.0, betas=_BETAS, foreach=True)
    at = {round((schedule.steps - 1) * k / (_KEPT - 1)) for k in range(_KEPT)}
    kept: list[tuple[int, Tensor, Tensor]] = []
    reported = time.monotonic()
    with _denormals_flushed(), torch.enable_grad():
        for step in range(schedule.steps):
            for group in adam.param_groups:
                group["lr"] = schedule.at(step)
            adam.zero_grad()
            errors, costs = error(stack(x)), stack.costs()
            (errors + ridge * costs).sum().backward()
            adam.step()
            errors, costs = errors.detach(), costs.detach()
            if step in at:
                kept.append((step, errors.cpu(), costs.cpu()))
            if step % _STEPS == 0 or time.monotonic() - reported >= _SECONDS:
                reported = time.monotonic()
                _check(step + 1, errors, costs)
                progress(step + 1, f"error {_few(errors)}, ‖θ‖²/L {_few(costs / stack.depth)}")
    _check(schedule.steps, *parameters)
    progress(schedule.steps, "trained")
    steps, all_errors, all_costs = zip(*kept, strict=True)
    return History(torch.tensor(steps), torch.stack(all_errors), torch.stack(all_costs))


def _check(steps: int, *values: Tensor) -> None:
    """Refuse numbers that are not finite.

    Raises:
        FloatingPointError: saying after which step.
    """
    if not all(bool(torch.isfinite(each).all()) for each in values):
        raise FloatingPointError(f"the training diverged by step {steps}; a smaller rate may help")


@contextmanager
def _denormals_flushed() -> Iterator[None]:
    """Weights of dead neurons decay to denormal numbers, which processors multiply slowly.

    Here they are zeros. What is measured outside does not depend on a training before it.
    """
    smallest = torch.tensor(torch.finfo(torch.float32).tiny)
    before = bool(smallest / 2 == 0)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


def _few(values: Tensor) -> str:
    """The smallest and the largest of several numbers."""
    low, high = float(values.min()), float(values.max())
    return f"{low:.3g}" if len(values) == 1 else f"{low:.3g} to {high:.3g}"
