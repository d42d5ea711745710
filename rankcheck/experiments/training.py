r"""Training: Adam on all points at once, with the ridge $\lambda\|\theta\|^2$, from checkpoints.

Nothing is random here: the points, the first weights and the schedule are given, so a training that
goes on from a checkpoint ends with the same bits as one that was not interrupted.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from rankcheck import files
from rankcheck.errors import InputError
from rankcheck.experiments.stack import Stack

__all__ = ["Checkpoint", "CheckpointError", "History", "Schedule", "train"]

#: Seconds between two checkpoints.
EVERY = 20.0
#: Steps between two looks at the clock, and two reports of progress.
_LOOK = 50
#: The error and the cost are kept at so many steps.
_KEPT = 60
_BETAS = (0.9, 0.999)


class CheckpointError(InputError):
    """A checkpoint does not belong to this training, or cannot be read."""


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
class Checkpoint:
    """Where the state of a training is kept.

    Attributes:
        path: a safetensors file, replaced as a whole each time.
        identity: says which training it is of; a file of another one is refused.
        every: seconds between two checkpoints.
    """

    path: Path
    identity: str
    every: float = EVERY


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
    checkpoint: Checkpoint | None = None,
    told: Callable[[int, str], None] = lambda done, words: None,
) -> History:
    """Minimise error(f(x)) + ridge ‖θ‖² for each run of a stack, whose parameters are changed.

    Args:
        error: of the outputs (R, N, n_L), the error of each run, (R).
        x: the points, (R, N, n_0) or (N, n_0).
        checkpoint: the training goes on from there if the file exists, and keeps its state there.
        told: called with the steps that are done and a few words, now and then.

    Raises:
        CheckpointError: if the file cannot be read, or is of another training.
        FloatingPointError: if an error is not finite.
    """
    # Weights of dead neurons decay to denormal numbers, which processors multiply slowly.
    torch.set_flush_denormal(True)
    state = _State(stack, schedule)
    if checkpoint is not None and checkpoint.path.exists():
        state.restore(checkpoint)
    since = time.monotonic()
    with torch.enable_grad():
        while state.step < schedule.steps:
            look = state.step % _LOOK == 0
            errors, costs = state.advance(error, x, ridge, schedule)
            if look:
                if not bool(torch.isfinite(errors + costs).all()):
                    raise FloatingPointError(
                        f"the training diverged at step {state.step}; a smaller rate may help"
                    )
                told(state.step, f"error {_few(errors)}, ‖θ‖²/L {_few(costs / stack.depth)}")
                if checkpoint is not None and time.monotonic() - since >= checkpoint.every:
                    state.keep(checkpoint)
                    since = time.monotonic()
    if checkpoint is not None:
        state.keep(checkpoint)
    told(state.step, "trained")
    return state.history()


def _few(values: Tensor) -> str:
    """The smallest and the largest of several numbers."""
    low, high = float(values.min()), float(values.max())
    return f"{low:.3g}" if len(values) == 1 else f"{low:.3g} to {high:.3g}"


class _State:
    """What changes during a training: parameters, moments, the step, and the history."""

    def __init__(self, stack: Stack, schedule: Schedule) -> None:
        self.stack = stack
        self.parameters = [p.detach().requires_grad_() for p in stack.parameters]
        count = len(stack.weights)
        stack.weights = self.parameters[:count]
        rest = iter(self.parameters[count:])
        stack.biases = [None if b is None else next(rest) for b in stack.biases]
        self.adam = torch.optim.Adam(self.parameters, lr=1.0, betas=_BETAS, foreach=True)
        self.step = 0
        self.kept: list[tuple[int, Tensor, Tensor]] = []
        last = max(schedule.steps - 1, 0)
        self.keeping = {round(last * k / (_KEPT - 1)) for k in range(_KEPT)}

    def advance(
        self,
        error: Callable[[Tensor], Tensor],
        x: Tensor,
        ridge: float,
        schedule: Schedule,
    ) -> tuple[Tensor, Tensor]:
        """One step; returns the errors and the costs before it, each (R)."""
        for group in self.adam.param_groups:
            group["lr"] = schedule.at(self.step)
        self.adam.zero_grad()
        errors, costs = error(self.stack(x)), self.stack.costs()
        (errors + ridge * costs).sum().backward()
        self.adam.step()
        errors, costs = errors.detach(), costs.detach()
        if self.step in self.keeping:
            self.kept.append((self.step, errors.cpu(), costs.cpu()))
        self.step += 1
        return errors, costs

    def history(self) -> History:
        steps = torch.tensor([step for step, _, _ in self.kept], dtype=torch.int64)
        empty = torch.zeros(0, self.stack.runs)
        errors = torch.stack([e for _, e, _ in self.kept]) if self.kept else empty
        costs = torch.stack([c for _, _, c in self.kept]) if self.kept else empty
        return History(steps, errors, costs)

    def keep(self, checkpoint: Checkpoint) -> None:
        tensors = {}
        for number, p in enumerate(self.parameters):
            tensors[f"parameter.{number}"] = p.detach()
            moments = self.adam.state.get(p, {})
            for name in ("exp_avg", "exp_avg_sq"):
                if name in moments:
                    tensors[f"{name}.{number}"] = moments[name]
        history = self.history()
        tensors |= {"steps": history.steps, "errors": history.errors, "costs": history.costs}
        written = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
        said = {"step": str(self.step), "identity": checkpoint.identity}
        files.write_bytes(checkpoint.path, save(written, metadata=said))

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take the state from a checkpoint.

        Raises:
            CheckpointError: if it cannot be read, or is of another training.
        """
        path = checkpoint.path
        rule = "delete it to begin this training anew"
        try:
            with safe_open(path, framework="pt", device="cpu") as file:
                said = file.metadata() or {}
                if said.get("identity") != checkpoint.identity:
                    raise CheckpointError(
                        f"the checkpoint {path} is of another training; {rule}, or choose another "
                        "folder"
                    )
                read = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            step = int(said["step"])
            for number, p in enumerate(self.parameters):
                stored = read[f"parameter.{number}"]
                if stored.shape != p.shape or stored.dtype != p.dtype:
                    raise CheckpointError(f"the checkpoint {path} has other shapes; {rule}")
                with torch.no_grad():
                    p.copy_(stored)
                if step:
                    self.adam.state[p] = {
                        "step": torch.tensor(float(step)),
                        "exp_avg": read[f"exp_avg.{number}"].to(p.device),
                        "exp_avg_sq": read[f"exp_avg_sq.{number}"].to(p.device),
                    }
            steps = zip(read["steps"].tolist(), read["errors"], read["costs"], strict=True)
            self.kept = [(int(at), e, c) for at, e, c in steps]
            self.step = step
        except (OSError, SafetensorError, KeyError, ValueError, json.JSONDecodeError) as error:
            if isinstance(error, CheckpointError):
                raise
            raise CheckpointError(
                f"the checkpoint {path} cannot be read ({error}); {rule}"
            ) from error
