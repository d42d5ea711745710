r"""rank.figure-3: autoencoders of a curve in the plane and of images of digits, deep and shallow.

The curve is $g(\mathbb R)$ for a random shallow ReLU network $g: \mathbb R \to \mathbb R^2$, a path
of finitely many segments, so distances to it are exact. The images are the 1797 handwritten digits
of 8 × 8 pixels that scikit-learn ships.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.result import Audit
from rankcheck.errors import InputError
from rankcheck.experiments.audited import Measured, measured_runs
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.figures.tasks import shallow_network
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.training import Schedule, train
from rankcheck.linalg import singular_values
from rankcheck.networks.network import Network

__all__ = [
    "CURVE",
    "DIGITS",
    "EXPERIMENT",
    "HALF",
    "NEARER",
    "UNEXPLAINED",
    "Data",
    "curve",
    "digits",
    "distance_to_path",
    "fits",
    "group",
    "pairs",
]

#: The two data sets.
CURVE, DIGITS = "curve", "digits"
#: A network fits if its squared error on new clean points is at most this share of their variance.
UNEXPLAINED = 0.15
#: A deep network leaves at most this share of the distance to the curve.
HALF = 0.5
#: A deep network leaves at most this share of what the shallow one of its seed leaves.
NEARER = 0.9
#: In words, outputs are on the curve if at most this share of the distance is left.
ON = 0.1
#: Standard deviations of the noise on the images, whose pixels are in [0, 1]. The last one counts.
NOISES = (0.1, 0.25, 0.5)
#: The ends of the path that stands for the curve: a normal z is beyond them once in 10¹⁵ times.
_FAR = 8.0
#: So many points are drawn on the curve, and so many images.
_ARROWS, _IMAGES = 40, 8
#: So many points are audited.
_AUDITED = 200


@dataclass(frozen=True)
class Data:
    """What a run is trained and measured on; all in float64.

    Attributes:
        x: the training points, (N, d).
        new: points of the same distribution, (M, d).
        inputs: points off the data, (K, M', d): K levels of noise, the last of which counts.
        distance: of outputs (M', d) for the inputs of one level, the distances to the data, (M').
        path: the knots of the curve, (P, 2), or None.
    """

    x: Tensor
    new: Tensor
    inputs: Tensor
    distance: Callable[[Tensor], Tensor]
    path: Tensor | None = None


def distance_to_path(points: Tensor, knots: Tensor) -> Tensor:
    """The Euclidean distances of points (M, d) to the path through knots (P, d), P ≥ 2: (M).

    On a segment a + t (b − a), t ∈ [0, 1], the nearest point has t = ⟨p − a, b − a⟩ / ‖b − a‖²,
    moved into [0, 1].
    """
    a, side = knots[:-1], knots[1:] - knots[:-1]
    length = side.square().sum(-1)
    along = ((points.unsqueeze(-2) - a) * side).sum(-1)
    # A segment of length zero is its knot.
    t = torch.where(length > 0, along / torch.where(length > 0, length, 1.0), 0.0).clamp(0, 1)
    nearest = a + t.unsqueeze(-1) * side
    return (points.unsqueeze(-2) - nearest).norm(dim=-1).amin(-1)


def curve(said: Mapping[str, Any], draw: torch.Generator) -> Data:
    """Points g(z) with normal z, shifted to mean 0 and scaled to mean square 1, and random inputs.

    g has one hidden layer, and its knots are its values at the kinks z = −b_i / w_i. The inputs are
    uniform in the box of the training points with a quarter of its sides added on each side.
    """
    z = torch.randn(said["points"], 1, generator=draw)
    W, b, V = (each.double() for each in shallow_network(1, 2, said["inner"], draw))
    g = Network((W, V), (b, V.new_zeros(2)))
    fresh = torch.randn(said["test"], 1, generator=draw)
    share = torch.rand(said["test"], 2, generator=draw)
    kinks = -b / W[:, 0]
    ends = kinks.new_tensor([-_FAR, _FAR])
    knots = torch.cat((kinks[kinks.abs() < _FAR], ends)).sort().values.unsqueeze(-1)
    plain = g(z.double())
    shift = plain.mean(0)
    scale = (plain - shift).square().mean().sqrt()
    x, new, path = ((g(at.double()) - shift) / scale for at in (z, fresh, knots))
    low, high = x.amin(0), x.amax(0)
    inputs = low + (1.5 * share.double() - 0.25) * (high - low)
    return Data(x, new, inputs.unsqueeze(0), lambda points: distance_to_path(points, path), path)


@cache
def images() -> Tensor:
    """The 1797 images of digits as rows of 64 pixels in [0, 1], float64.

    Raises:
        InputError: if scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise InputError(
            "scikit-learn is not installed; rank.figure-3 trains on the images of digits that it "
            "ships and needs pip install 'rankcheck[experiments]'"
        ) from error
    return torch.tensor(load_digits().data / 16, dtype=torch.float64)


def digits(said: Mapping[str, Any], draw: torch.Generator) -> Data:
    """Training images, others, and these with normal noise; distances are to the clean image."""
    pixels = images()
    order = torch.randperm(len(pixels), generator=draw)
    count = said["points"]
    x, new = pixels[order[:count]], pixels[order[count : count + said["test"]]]
    noise = torch.stack([torch.randn(new.shape, generator=draw) for _ in NOISES]).double()
    inputs = new + x.new_tensor(NOISES)[:, None, None] * noise
    return Data(x, new, inputs, lambda points: (points - new).norm(dim=-1))


_DATA = {CURVE: curve, DIGITS: digits}


def measure(net: Network, data: Data) -> dict[str, Any]:
    """What is measured on a trained network.

    `left` is the mean distance to the data after the network over that before it, and `lefts` the
    same for each level of noise; `nearest` is the same for the distance to the nearest training
    point. `second` is the median of s_2/s_1 of the Jacobians at training points, with 0 for a
    Jacobian that is 0. `again` is the mean of ‖f(f(x)) − f(x)‖ over that of ‖f(x) − x‖, which is 0
    for a projection.
    """
    outputs = [net(level) for level in data.inputs]
    before = [float(data.distance(level).mean()) for level in data.inputs]
    after = [float(data.distance(out).mean()) for out in outputs]
    last, out = data.inputs[-1], outputs[-1]
    s = singular_values(net.jacobian(data.x[:_AUDITED]))
    return {
        "error": float((net(data.x) - data.x).square().mean()),
        "new_error": float((net(data.new) - data.new).square().mean()),
        "variance": float((data.new - data.x.mean(0)).square().mean()),
        "before": before[-1],
        "after": after[-1],
        "left": after[-1] / before[-1],
        "lefts": [a / b for a, b in zip(after, before, strict=True)],
        "nearest": _nearest(out, data.x) / _nearest(last, data.x),
        "second": float(torch.where(s[:, 1] > 0, s[:, 1] / s[:, 0], 0.0).median()),
        "again": _share((net(out) - out).norm(dim=-1).mean(), (out - last).norm(dim=-1).mean()),
    }


def _share(part: Tensor, whole: Tensor) -> float:
    """part/whole; 0 for the identity, which moves nothing."""
    return float(part / whole) if whole > 0 else 0.0


def _nearest(points: Tensor, data: Tensor) -> float:
    """The mean distance of points to the nearest of the data."""
    return float(torch.cdist(points, data).amin(-1).mean())


def drawn(net: Network, data: Data) -> dict[str, Any]:
    """Points and images for the figures."""
    if data.path is None:
        noisy = data.inputs[-1, :_IMAGES]
        return {
            "clean": _short(data.new[:_IMAGES], 2),
            "inputs": _short(noisy, 2),
            "outputs": _short(net(noisy), 2),
        }
    some = data.inputs[-1, :_ARROWS]
    return {
        "points": _short(data.x),
        "path": _short(data.path),
        "inputs": _short(some),
        "outputs": _short(net(some)),
    }


def _short(values: Tensor, digits: int = 3) -> list[list[float]]:
    """Rows of numbers with few decimals."""
    return [[round(float(value), digits) for value in row] for row in values]


def fits(run: Run, unexplained: float = UNEXPLAINED) -> bool:
    """Whether a network reproduces new clean points, up to this share of their variance."""
    found = run.measured
    return bool(found["new_error"] <= unexplained * found["variance"])


def group(result: Result, data: str, deep: bool) -> tuple[Run, ...]:
    """The runs on a data set of the deep networks, or of the shallow ones."""
    runs = result.where(data=data)
    depths = [run.settings["depth"] for run in runs]
    depth = max(depths, default=0) if deep else min(depths, default=0)
    return tuple(run for run in runs if run.settings["depth"] == depth)


def pairs(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """Of runs on one data set, the deepest and the shallowest of each seed: (deep, shallow).

    Both have the same data and the same inputs.
    """
    by_seed: dict[int, list[Run]] = {}
    for run in runs:
        by_seed.setdefault(run.seed, []).append(run)

    def depth(run: Run) -> int:
        return int(run.settings["depth"])

    return [(max(those, key=depth), min(those, key=depth)) for those in by_seed.values()]


#: `inner` is the number of hidden units of the network that is the curve.
_COMMON: dict[str, dict[str, Any]] = {DIGITS: {"ridge": 1e-4}, CURVE: {"ridge": 1e-4, "inner": 100}}
_SETTINGS: dict[Scale, dict[str, dict[str, Any]]] = {
    "tiny": {
        DIGITS: {"points": 12, "test": 10, "width": 6, "steps": 30, "rate": 3e-3, "warm": 5},
        CURVE: {"points": 12, "test": 30, "width": 6, "steps": 60, "rate": 5e-3, "warm": 5},
    },
    "small": {
        DIGITS: {"points": 500, "test": 300, "width": 80, "steps": 4000, "rate": 3e-3, "warm": 100},
        CURVE: {"points": 100, "test": 500, "width": 50, "steps": 15000, "rate": 6e-3, "warm": 100},
    },
    "paper": {
        DIGITS: {
            "points": 1200,
            "test": 500,
            "width": 200,
            "steps": 40000,
            "rate": 1e-3,
            "warm": 500,
        },
        CURVE: {
            "points": 500,
            "test": 2000,
            "width": 100,
            "steps": 60000,
            "rate": 3e-3,
            "warm": 500,
        },
    },
}
#: By scale and data, what is other in deep networks; the depth of the shallow ones is 2. With the
#: rate of the shallow ones, two of eight networks of depth 20 became constant maps.
_DEEP: dict[Scale, dict[str, dict[str, Any]]] = {
    "tiny": {DIGITS: {"depth": 3}, CURVE: {"depth": 4}},
    "small": {DIGITS: {"depth": 9}, CURVE: {"depth": 20, "rate": 4e-3, "warm": 500}},
    "paper": {DIGITS: {"depth": 12}, CURVE: {"depth": 20}},
}
_RUNS: dict[Scale, dict[str, int]] = {
    "tiny": {DIGITS: 1, CURVE: 1},
    "small": {DIGITS: 5, CURVE: 16},
    "paper": {DIGITS: 5, CURVE: 16},
}

#: Of which runs points or images are recorded, by their number.
_DRAWN = {CURVE: (0, 1), DIGITS: (0,)}

_QUESTION = r"""
An autoencoder that reproduces the curve $g(\mathbb R)$ and has bottleneck rank 1, the dimension of
the curve, is near every point of it a projection onto its tangent: this is
`rank.denoising-projection`, a theorem. Whether training finds such a function is not. In the plane
the identity fits the data as well; it has rank 2. If large depth with the ridge leads to the rank
of the data, a deep autoencoder moves *any* point of the plane onto the curve, although it has seen
points of the curve alone, and a shallow one does not.

In the plane the distance to the curve is exact: a random ReLU network of one variable is a path of
segments. What is measured is the mean distance of outputs over the mean distance of inputs, for
inputs that are uniform in a box around the data. For the images of digits it is the distance to the
clean image of which the input is a noisy copy.

Had it been false, both depths would leave the same share of the distance, and the Jacobians of the
deep networks would have a second singular value of the size of the first, as those of the shallow
ones do. A constant map onto a point of the curve leaves nothing of the distance either, so new
points of the curve, and new clean images, have to be reproduced, too.
"""
_DIFFERENCES = (
    "The images are the 8 × 8 digits of scikit-learn in place of MNIST, which no package ships: 64 "
    "pixels, and 500 of 1797 images for the training.",
    "The document prints neither depths nor widths, the number of points, the noise, or how the "
    "error is normalised. Here it is the mean square over points and entries. With the sum over "
    "entries in place of the mean, the ridge on images would weigh 64 times less.",
    "The figure shows one network of each kind. Here every kind has several seeds, each with its "
    "own curve or choice of images, taken as they come; the deep and the shallow network of a seed "
    "have the same data and the same inputs.",
    "The curve comes from a network with one hidden layer of 100 units, and is shifted to mean 0 "
    "and scaled to mean square 1. It may cross itself.",
    "In the plane the deep networks have a smaller learning rate than the shallow ones, 0.004 and "
    "0.006. With 0.006, two of the first eight deep networks became constant maps early in the "
    "training; with 0.004 one of them.",
    "Training is full-batch Adam with the gradient of the ridge in the objective, for a fixed "
    "number of steps. The cost $\\|\\theta\\|^2$ still falls slowly at its end.",
)


class Autoencoders(Experiment):
    """Deep and shallow autoencoders of the same data, from the same seeds."""

    name = "rank.figure-3"
    title = "Deep autoencoders project random inputs to their data"
    place = "rank, Figure 3, Section 5 and Appendix F"
    question = _QUESTION
    differences = _DIFFERENCES

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        """The images first: without scikit-learn nothing is trained in vain."""
        parts = []
        for data, chosen in _SETTINGS[scale].items():
            seeds = tuple(1000 * seed + 101 + run for run in range(_RUNS[scale][data]))
            for name, other in (("deep", _DEEP[scale][data]), ("shallow", {"depth": 2})):
                settings = _COMMON[data] | {"data": data} | chosen | other
                parts.append(Part(f"{data}-{name}", settings, seeds))
        return parts

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        """Train the networks of a part side by side, and measure each."""
        said = part.settings
        draws = generators(part.seeds)
        made = [_DATA[said["data"]](said, draw) for draw in draws]
        x = torch.stack([each.x for each in made]).to(place.device, torch.float32)
        inputs = x.shape[-1]
        widths = [inputs, *[said["width"]] * (said["depth"] - 1), inputs]
        stack = Stack.random(widths, draws, device=place.device)

        def error(out: Tensor) -> Tensor:
            return (out - x).square().mean((-1, -2))

        schedule = Schedule(said["steps"], said["rate"], said["warm"])
        train(
            stack,
            error,
            x,
            said["ridge"],
            schedule,
            checkpoint=place.checkpoint(part),
            told=place.steps(schedule.steps, 0.0, 0.9),
        )

        def measure_run(number: int, net: Network, found: Audit) -> Measured:
            data = made[number]
            shown = drawn(net, data) if number in _DRAWN[said["data"]] else {}
            return measure(net, data) | {"steps": schedule.steps}, shown

        points = [data.x[:_AUDITED] for data in made]
        return measured_runs(part, place, stack, points, measure_run, begin=0.9)

    def findings(self, result: Result) -> Sequence[Finding]:
        """The three panels, the ranks of the Jacobians, and what differs."""
        return [*_of_curve(result), *_of_digits(result)]


def _of_curve(result: Result) -> list[Finding]:
    """Panels (B) and (C), and the ranks."""
    deep, shallow = (group(result, CURVE, each) for each in (True, False))
    if not deep:
        return []
    nearer = _nearer(result, CURVE)
    missed = [run for run in deep if run.audit is not None and run.audit.rank != 1]
    constant = sum(run.audit is not None and run.audit.rank == 0 for run in (*deep, *shallow))
    became = f" Rank 0: {constant} became constant early in the training and fit nothing."
    return [
        Finding(
            f"share of the distance to the curve that is left, depth {_depth(deep)}",
            "outputs lie on the curve (B)",
            f"{_range(deep, 'left')}; {_counts(deep)}",
            statistics.median(run.measured["left"] for run in deep) <= ON,
        ),
        Finding(
            f"share of the distance to the curve that is left, depth {_depth(shallow)}",
            "outputs lie off the curve (C)",
            f"{_range(shallow, 'left')}; {_counts(shallow)}",
            statistics.median(run.measured["left"] for run in shallow) > ON,
            "Shallow networks move points towards the curve as well. That they leave more than "
            "half of the distance held for all eight seeds of a trial; here it does not, and it is "
            "not claimed.",
        ),
        Finding(
            "curve: left by the deep network over left by the shallow one of the same seed",
            "smaller",
            f"{_spread(nearer)}; at most {HALF:g} in {sum(each <= HALF for each in nearer)}, "
            f"at most {NEARER:g} in {sum(each <= NEARER for each in nearer)}, "
            f"of {len(nearer)} pairs",
            statistics.median(nearer) <= NEARER,
            "In a trial with other seeds it was at most 0.5 in 6 of 8 pairs, and at most 0.9 in 7.",
        ),
        Finding(
            r"rank of $Jf$ at most points of the data (1 is the dimension of the curve)",
            "1 at large depth, by Section 5",
            f"depth {_depth(deep)}: {_ranks(deep)}; depth {_depth(shallow)}: {_ranks(shallow)}",
            len(missed) < len(deep) / 2,
            f"$s_2/s_1$, by medians over the data, is {_range(deep, 'second')} and "
            f"{_range(shallow, 'second')}.{became if constant else ''}",
        ),
        Finding(
            "share of the variance of new points of the curve that is not reproduced",
            "",
            f"depth {_depth(deep)}: {_missing(deep)}; depth {_depth(shallow)}: {_missing(shallow)}",
            None,
        ),
    ]


def _of_digits(result: Result) -> list[Finding]:
    """Panel (A)."""
    deep, shallow = (group(result, DIGITS, each) for each in (True, False))
    if not deep:
        return []
    nearer = _nearer(result, DIGITS)
    levels = ", ".join(
        f"noise {noise:g}: {_level(deep, k):.2f} and {_level(shallow, k):.2f}"
        for k, noise in enumerate(NOISES)
    )
    ours = ", ".join(f"{_range(runs, 'left')} (depth {_depth(runs)})" for runs in (deep, shallow))
    return [
        Finding(
            f"share of the distance of noisy images (noise {NOISES[-1]:g}) to the clean ones that "
            "is left",
            "outputs look clean (A)",
            ours,
            None,
            "Both depths take noise away, the deep one more. Neither removes all of it: the "
            "images are no surface of small dimension, and the Jacobians have the ranks "
            f"{_ranks(deep)} and {_ranks(shallow)}.",
        ),
        Finding(
            "images: left by the deep network over left by the shallow one of the same seed",
            "smaller",
            f"{_spread(nearer)}; at most {NEARER:g} in "
            f"{sum(each <= NEARER for each in nearer)} of {len(nearer)} pairs",
            statistics.median(nearer) <= NEARER,
        ),
        Finding(
            "the same at other levels of noise, by medians, deep and shallow",
            "",
            levels,
            None,
            "With little noise the deep network loses: it changes a clean image by more than the "
            "noise does, as it keeps fewer dimensions.",
        ),
        Finding(
            "share of the variance of new clean images that is not reproduced",
            "",
            f"depth {_depth(deep)}: {_missing(deep)}; depth {_depth(shallow)}: {_missing(shallow)}",
            None,
            "A map onto a single image would have about 1.",
        ),
    ]


def _nearer(result: Result, data: str) -> list[float]:
    """What the deep network leaves over what the shallow one leaves, for each seed."""
    both = pairs(result.where(data=data))
    return [deep.measured["left"] / shallow.measured["left"] for deep, shallow in both]


def _counts(runs: Sequence[Run]) -> str:
    """In how many runs little of the distance is left."""
    few, half = (sum(run.measured["left"] <= share for run in runs) for share in (ON, HALF))
    return f"at most {ON:g} in {few}, at most {HALF:g} in {half} of {len(runs)} runs"


def _depth(runs: Sequence[Run]) -> int:
    return int(runs[0].settings["depth"])


def _spread(values: Sequence[float]) -> str:
    """The smallest, the middle and the largest of several numbers."""
    return f"{min(values):.2g} to {max(values):.2g}, median {statistics.median(values):.2g}"


def _range(runs: Sequence[Run], name: str) -> str:
    return _spread([run.measured[name] for run in runs])


def _level(runs: Sequence[Run], k: int) -> float:
    """The median of what is left at one level of noise."""
    return statistics.median(run.measured["lefts"][k] for run in runs)


def _missing(runs: Sequence[Run]) -> str:
    """The shares of the variance of new clean points that are not reproduced."""
    shares = [run.measured["new_error"] / run.measured["variance"] for run in runs]
    count = f"at most {UNEXPLAINED:g} in {sum(map(fits, runs))} of {len(runs)} runs"
    return f"{_spread(shares)}, {count}"


def _ranks(runs: Sequence[Run]) -> str:
    """How often each rank occurs."""
    found = Counter(run.audit.rank for run in runs if run.audit is not None)
    return ", ".join(f"{rank} ({found[rank]})" for rank in sorted(found))


EXPERIMENT = Autoencoders()
