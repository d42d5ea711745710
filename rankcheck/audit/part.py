"""A part of the data: what is measured at some consecutive points, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from rankcheck.costs import egop
from rankcheck.linalg import frobenius_squared, singular_values
from rankcheck.networks import AtPoints, Network
from rankcheck.networks.rounding import product_noise
from rankcheck.networks.tangent_kernel import ntk_trace_at

__all__ = ["MEMORY", "PART", "Job", "Part", "batch_size", "is_narrow", "join", "prepare"]

#: Points in a part.
PART = 256
#: Bytes for what one batch of points needs at a time.
MEMORY = 2**27


@dataclass(frozen=True, eq=False)
class Part:
    """What was measured at n consecutive points; numpy arrays, because they are sent.

    Attributes:
        singular_values: of Jf(x), (n, min(n_0, n_L)).
        noise: a bound of their rounding, (n).
        traces: tr Θ(x, x), (n); NaN or infinite where the network overflows.
        kinks: whether a hidden pre-activation is 0, (n).
        gradients: Σ JᵀJ, of the Jacobian of the first layer → f if that has fewer columns than f.
        second: Σ_i α_ℓ(x_i) α_ℓ(x_i)ᵀ for ℓ = 1..L with α_L = f, shapes (n_ℓ, n_ℓ).
        above: of the hidden layers, bools (n_ℓ): the pre-activation is > 0 at some point.
        below: the same for < 0.
    """

    singular_values: np.ndarray
    noise: np.ndarray
    traces: np.ndarray
    kinks: np.ndarray
    gradients: np.ndarray
    second: tuple[np.ndarray, ...]
    above: tuple[np.ndarray, ...]
    below: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        """n."""
        return len(self.noise)


@dataclass(frozen=True, eq=False)
class Job:
    """A network whose parts are to be measured.

    Attributes:
        norms: ‖W_ℓ‖_op, the rounding of Jacobians is bounded by them.
        device: where it is measured.
        biases: of each affine map, whether its bias is a parameter, as the kernel takes it.
    """

    net: Network
    norms: tuple[float, ...]
    device: str = "cpu"
    biases: tuple[bool, ...] = ()

    def on_device(self) -> Job:
        """The job with its network where it is measured."""
        net = self.net
        arrays = [[a.to(self.device) for a in side] for side in (net.weights, net.biases)]
        return replace(self, net=net.with_parameters(*arrays))

    def measure(self, points: np.ndarray) -> Part:
        """Measure a part, (n, n_0); the network is `on_device`."""
        X = torch.from_numpy(points).to(self.device)
        return join(self._batch(x) for x in X.split(batch_size(self.net)))

    def _batch(self, x: Tensor) -> Part:
        net, at = self.net, self.net.at(x)
        features = (*at.activations[1:], at.value)
        G = _compressed(net, at)
        J = G @ net.weights[0]  # the kernel needs G: this is nearly free
        fine = torch.isfinite(J).all(-1).all(-1)  # LAPACK refuses others
        traces = torch.where(fine, ntk_trace_at(at, self.biases), torch.nan)
        finite = torch.where(fine[:, None, None], J, 0.0)
        noise = product_noise(at, [x.new_tensor(norm) for norm in self.norms])
        if len(G[0]) < net.widths[-1]:
            size = frobenius_squared(at.outer_jacobians[0]).sqrt() * self.norms[0]
            noise = noise + size * (2 * (net.widths[-1] + 1) * torch.finfo(torch.float64).eps)
        rows = (G if is_narrow(net) else J).flatten(0, 1)
        return Part(
            singular_values=_numpy(_padded(singular_values(finite), net)),
            noise=_numpy(noise),
            traces=_numpy(traces),
            kinks=_numpy(~at.is_differentiable),
            gradients=_numpy(egop(rows, rows.new_ones(len(rows)))),
            second=tuple(_numpy(a.mT @ a) for a in features),
            above=tuple(_numpy((z > 0).any(0)) for z in at.preactivations[:-1]),
            below=tuple(_numpy((z < 0).any(0)) for z in at.preactivations[:-1]),
        )


def prepare(job: Job) -> Callable[[tuple[int, np.ndarray], object], Part]:
    """What measures parts with their numbers in a worker; the network goes to its device first."""
    ready = job.on_device()
    return lambda task, progress: ready.measure(task[1])


def join(parts: Iterable[Part]) -> Part:
    """One part from consecutive ones; the sums are added in their order, one part at a time."""
    values, noise, traces, kinks = [], [], [], []
    total: Part | None = None
    for part in parts:
        values.append(part.singular_values)
        noise.append(part.noise)
        traces.append(part.traces)
        kinks.append(part.kinks)
        if total is None:
            total = part
            continue
        sums = zip((total.gradients, *total.second), (part.gradients, *part.second), strict=True)
        for mine, more in sums:
            mine += more
        seen = zip((*total.above, *total.below), (*part.above, *part.below), strict=True)
        for mine, more in seen:
            mine |= more
    if total is None:
        raise ValueError("received no parts; the sum of none has no shape")
    return replace(
        total,
        singular_values=np.concatenate(values),
        noise=np.concatenate(noise),
        traces=np.concatenate(traces),
        kinks=np.concatenate(kinks),
    )


def _compressed(net: Network, at: AtPoints) -> Tensor:
    """G_1, or Uᵀ G_1 with fewer rows that has the same singular values, (N, r, n_1).

    Through a hidden layer of width r < n_L, f has rank at most r: with U an orthonormal basis of
    the image of its Jacobian to f, UUᵀG_1 = G_1. Multiplications by U and decompositions are
    stable, so their rounding is that of a product.
    """
    G = at.outer_jacobians
    place = min(range(net.depth), key=lambda layer: net.widths[layer + 1])
    if net.widths[place + 1] == net.widths[-1]:
        return G[0]
    return torch.linalg.qr(G[place]).Q.mT @ G[0]


def _padded(s: Tensor, net: Network) -> Tensor:
    """All min(n_0, n_L) singular values; those that a narrow layer leaves out are 0."""
    missing = min(net.widths[0], net.widths[-1]) - s.shape[-1]
    return torch.nn.functional.pad(s, (0, missing))


def is_narrow(net: Network) -> bool:
    """Whether α̃_1 → f has fewer inputs than f: then Σ JᵀJ = W_1ᵀ (Σ GᵀG) W_1 with the smaller."""
    return net.widths[1] < net.widths[0]


def batch_size(net: Network, memory: int = MEMORY) -> int:
    """How many points are measured at a time: those whose arrays fit into `memory` bytes, or one.

    A point needs n_L Σ n_ℓ numbers for the Jacobians of the layers, two products, the Jacobian and
    its singular values beside them, and a few numbers for each neuron.
    """
    inputs, outputs = net.widths[0], net.widths[-1]
    neurons = sum(net.widths)
    numbers = outputs * (neurons + 2 * max(net.widths) + 2 * inputs) + 6 * neurons
    return max(1, min(PART, memory // (8 * numbers)))


def _numpy(array: Tensor) -> np.ndarray:
    return array.cpu().numpy()
