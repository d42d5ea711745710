r"""Training: Adam on all points at once, with the ridge $\lambda\|\theta\|^2$, from checkpoints.

Nothing is random here: the points, the first weights and the schedule are given, so a training that
goes on from a checkpoint ends with the same bits as one that was not interrupted.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from rankcheck import files
from rankcheck.errors import InputError
from rankcheck.experiments.stack import Stack

__all__ = ["Checkpoint", "CheckpointError", "History", "Schedule", "spent", "train"]

#: Seconds between two checkpoints.
EVERY = 20.0
#: Between two reports of progress there are at most so many steps, or so many seconds.
_STEPS, _SECONDS = 50, 1.0
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
        told: called with the steps that are done and a few words, now and then. If it raises, the
            state is kept before the training ends.

    Raises:
        CheckpointError: if the file cannot be read, or is of another training.
        FloatingPointError: if an error or a parameter is not finite.
        OSError: if the checkpoint cannot be written; the one before is still there.
    """
    state = _State(stack, schedule)
    if checkpoint is not None and checkpoint.path.exists():
        state.restore(checkpoint, schedule.steps)
    with _denormals_flushed(), torch.enable_grad():
        state.finish(error, x, ridge, schedule, checkpoint, told)
    if checkpoint is not None:
        state.keep(checkpoint)
    told(state.step, "trained")
    return state.history()


def spent(path: Path) -> float:
    """The seconds of processor time that led to a checkpoint; 0 if there is none to be read."""
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return _seconds((file.metadata() or {}).get("seconds", "0"))
    except (OSError, SafetensorError, ValueError):
        return 0.0


def _seconds(text: str) -> float:
    """A number of seconds from a file.

    Raises:
        ValueError: if it is none.
    """
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise ValueError(f"it took {seconds} s; seconds are not negative, and finite")
    return seconds


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
        self.before = 0.0  # seconds, in the processes that this training went through
        self.since = time.process_time()
        self.kept: list[tuple[int, Tensor, Tensor]] = []
        last = max(schedule.steps - 1, 0)
        self.keeping = {round(last * k / (_KEPT - 1)) for k in range(_KEPT)}

    def finish(
        self,
        error: Callable[[Tensor], Tensor],
        x: Tensor,
        ridge: float,
        schedule: Schedule,
        checkpoint: Checkpoint | None,
        told: Callable[[int, str], None],
    ) -> None:
        """All steps that are left; `told` and checkpoints come between two steps."""
        kept = said = time.monotonic()
        while self.step < schedule.steps:
            look = self.step % _STEPS == 0
            errors, costs = self.advance(error, x, ridge, schedule)
            now = time.monotonic()
            if not (look or now - said >= _SECONDS):
                continue
            said = now
            self.check(errors, costs)
            try:
                told(self.step, f"error {_few(errors)}, ‖θ‖²/L {_few(costs / self.stack.depth)}")
            except BaseException:
                if checkpoint is not None:
                    self.keep(checkpoint)
                raise
            if checkpoint is not None and now - kept >= checkpoint.every:
                self.keep(checkpoint)
                kept = time.monotonic()
        self.check(*self.parameters)

    def check(self, *values: Tensor) -> None:
        """Refuse numbers that are not finite.

        Raises:
            FloatingPointError: saying after which step.
        """
        if not all(bool(torch.isfinite(each).all()) for each in values):
            raise FloatingPointError(
                f"the training diverged by step {self.step}; a smaller rate may help"
            )

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
        """Write a checkpoint.

        Raises:
            FloatingPointError: if the training has diverged.
            OSError: if it cannot be written.
        """
        self.check(*self.parameters)
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
        seconds = self.before + time.process_time() - self.since
        said = {
            "step": str(self.step),
            "identity": checkpoint.identity,
            "seconds": repr(seconds),
            "sha256": _digest(self.step, written),
        }
        path = checkpoint.path
        try:
            files.write_bytes(path, save(written, metadata=said), follow=False, sync=True)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error

    def restore(self, checkpoint: Checkpoint, steps: int) -> None:
        """Take the state from a checkpoint of a training of so many steps.

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
                self._take(file, int(said["step"]), steps, said["sha256"])
            self.before = _seconds(said["seconds"])
        except CheckpointError:
            raise
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise CheckpointError(
                f"the checkpoint {path} cannot be read ({why}); {rule}"
            ) from error

    def _take(self, file: Any, step: int, steps: int, digest: str) -> None:
        """Take in the tensors of a checkpoint.

        Raises:
            ValueError: if one is not there, of another shape or type, or no state of a training.
        """
        if not 0 <= step <= steps:
            raise ValueError(f"it is of step {step} of {steps}")
        names = set(file.keys())
        taken: dict[str, Tensor] = {}

        def read(name: str, shape: tuple[int, ...], dtype: torch.dtype | None = None) -> Tensor:
            if name not in names:
                raise ValueError(f"it has no {name}")
            found: Tensor = file.get_tensor(name)
            fits = found.is_floating_point() if dtype is None else found.dtype == dtype
            if found.shape != shape or not fits:
                raise ValueError(f"{name} has another shape or type")
            if not torch.isfinite(found).all() or (
                name.startswith("exp_avg_sq") and found.min() < 0
            ):
                raise ValueError(f"{name} has numbers that no training has")
            taken[name] = found
            return found

        for number, p in enumerate(self.parameters):
            with torch.no_grad():
                p.copy_(read(f"parameter.{number}", p.shape, p.dtype))
            if step:
                self.adam.state[p] = {"step": torch.tensor(float(step))} | {
                    name: read(f"{name}.{number}", p.shape, p.dtype).to(p.device)
                    for name in ("exp_avg", "exp_avg_sq")
                }
        at = sorted(each for each in self.keeping if each < step)
        if read("steps", (len(at),), torch.int64).tolist() != at:
            raise ValueError("its history is of other steps")
        shape = (len(at), self.stack.runs)
        errors, costs = read("errors", shape), read("costs", shape)
        if _digest(step, taken) != digest:
            raise ValueError("its checksum is another; it is damaged")
        self.kept = list(zip(at, errors, costs, strict=True))
        self.step = step


def _digest(step: int, tensors: Mapping[str, Tensor]) -> str:
    """A checksum of a state, which shows damage."""
    found = hashlib.sha256(f"{step}".encode())
    for name in sorted(tensors):
        found.update(f" {name} ".encode())
        found.update(tensors[name].numpy().tobytes())
    return found.hexdigest()
