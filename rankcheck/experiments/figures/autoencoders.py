"""rank.figure-3: autoencoders of a curve in the plane and of images of digits, deep and shallow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from rankcheck.audit.result import Audit
from rankcheck.experiments.audited import Measured, measured_runs
from rankcheck.experiments.base import Experiment, Finding, Part, Place, Scale
from rankcheck.experiments.figures.autoencoder_data import CURVE, DATA, DIGITS, NOISES, Data
from rankcheck.experiments.result import Result, Run
from rankcheck.experiments.stack import Stack, generators
from rankcheck.experiments.statistics import most, spread, tally
from rankcheck.experiments.training import Schedule
from rankcheck.networks.network import Network

__all__ = [
    "CURVE",
    "DIGITS",
    "EXPERIMENT",
    "HALF",
    "NEARER",
    "UNEXPLAINED",
    "fits",
    "group",
    "pairs",
    "quotients",
]

#: A network fits if its squared error on new clean points is at most this share of their variance.
UNEXPLAINED = 0.15
#: A deep network leaves at most this share of the distance to the curve.
HALF = 0.5
#: By data, a deep network leaves at most this share of what the shallow one of its seed leaves;
#: with the least noise on images, it is the shallow one that leaves at most this share.
NEARER = {CURVE: 0.5, DIGITS: 0.9}
#: In words, outputs are on the curve if at most this share of the distance is left.
ON = 0.1
#: So many points are drawn on the curve, and so many images.
_ARROWS, _IMAGES = 28, 8
#: So many points are audited.
_AUDITED = 200
#: Of which runs points or images are recorded, by their number.
_DRAWN = {CURVE: (0, 1), DIGITS: (0,)}


def measure(net: Network, data: Data) -> dict[str, Any]:
    """What is measured on a trained network.

    `left` is the mean distance to the data after the network over that before it, and `lefts` the
    same for each level of noise.
    """
    lefts = [
        float(data.distance(net(level)).mean() / data.distance(level).mean())
        for level in data.inputs
    ]
    return {
        "error": float((net(data.x) - data.x).square().mean()),
        "new_error": float((net(data.new) - data.new).square().mean()),
        "variance": float((data.new - data.x.mean(0)).square().mean()),
        "left": lefts[-1],
        "lefts": lefts,
    }


def drawn(net: Network, data: Data, *, deep: bool) -> dict[str, Any]:
    """Points and images for the figures; the data only once, for the deep network of a seed."""
    shown = data.inputs[-1, : _IMAGES if data.path is None else _ARROWS]
    points = {"outputs": net(shown)} | ({"inputs": shown} if deep else {})
    digits = 3
    if data.path is None:  # what is below 0 or above 1 is shown as 0 or 1
        points = {name: pixels.clamp(0, 1) for name, pixels in points.items()}
        points |= {"clean": data.new[:_IMAGES]} if deep else {}
        digits = 2
    elif deep:
        points |= {"points": data.x, "path": data.path}
    return {
        name: [[round(float(value), digits) for value in row] for row in rows]
        for name, rows in points.items()
    }


def fits(run: Run, unexplained: float = UNEXPLAINED) -> bool:
    """Whether a network reproduces new clean points, up to this share of their variance."""
    measured = run.measured
    return bool(measured["new_error"] <= unexplained * measured["variance"])


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


def quotients(both: Sequence[tuple[Run, Run]], level: int = -1) -> list[float]:
    """What the deep network leaves over what the shallow one leaves, at a level of noise."""
    return [a.measured["lefts"][level] / b.measured["lefts"][level] for a, b in both]


#: `inner` is the number of hidden units of the network that is the curve.
_COMMON: dict[str, dict[str, Any]] = {DIGITS: {"ridge": 1e-4}, CURVE: {"ridge": 1e-4, "inner": 100}}
_COLUMNS = ("points", "test", "width", "steps", "rate", "warm")
_SETTINGS: dict[Scale, dict[str, tuple[float, ...]]] = {
    "tiny": {DIGITS: (12, 10, 6, 30, 3e-3, 5), CURVE: (12, 30, 6, 60, 5e-3, 5)},
    "small": {DIGITS: (500, 300, 80, 4000, 3e-3, 100), CURVE: (100, 500, 50, 15000, 6e-3, 100)},
    "paper": {
        DIGITS: (1200, 500, 200, 40000, 1e-3, 500),
        CURVE: (500, 2000, 100, 60000, 3e-3, 500),
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


class Autoencoders(Experiment):
    """Deep and shallow autoencoders of the same data, from the same seeds."""

    name = "rank.figure-3"
    title = "Deep autoencoders move random inputs nearer to their data than shallow ones"
    place = "rank, Figure 3, Section 5 and Appendix F"
    pilots = 1

    def parts(self, scale: Scale, seed: int) -> Sequence[Part]:
        """The images first: without scikit-learn nothing is trained in vain."""
        parts = []
        for data, row in _SETTINGS[scale].items():
            chosen = dict(zip(_COLUMNS, row, strict=True))
            seeds = tuple(1000 * seed + 101 + run for run in range(_RUNS[scale][data]))
            for name, other in (("deep", _DEEP[scale][data]), ("shallow", {"depth": 2})):
                settings = _COMMON[data] | {"data": data} | chosen | other
                parts.append(Part(f"{data}-{name}", settings, seeds))
        return parts

    def run(self, part: Part, place: Place) -> Sequence[Run]:
        """Train the networks of a part side by side, and measure each."""
        settings = part.settings
        draws = generators(part.seeds)
        made = [DATA[settings["data"]](settings, draw) for draw in draws]
        x = torch.stack([each.x for each in made]).to(place.device, torch.float32)
        inputs = x.shape[-1]
        widths = [inputs, *[settings["width"]] * (settings["depth"] - 1), inputs]
        stack = Stack.random(widths, draws, device=place.device)

        def error(out: Tensor) -> Tensor:
            return (out - x).square().mean((-1, -2))

        schedule = Schedule(settings["steps"], settings["rate"], settings["warm"])
        place.train(stack, error, x, settings["ridge"], schedule)

        def measure_run(number: int, net: Network, audit: Audit) -> Measured:
            data = made[number]
            shown = number in _DRAWN[settings["data"]]
            figures = drawn(net, data, deep=settings["depth"] > 2) if shown else {}
            return measure(net, data), figures

        points = [data.x[:_AUDITED] for data in made]
        return measured_runs(part, place, stack, points, measure_run)

    def findings(self, result: Result) -> Sequence[Finding]:
        """The three panels, the ranks of the Jacobians, and what differs."""
        findings = []
        for data, words, panels in ((CURVE, "curve", _of_curve), (DIGITS, "images", _of_digits)):
            deep, shallow = (group(result, data, each) for each in (True, False))
            if not deep:
                continue
            nearer = quotients(pairs(result.where(data=data)))
            most_of = NEARER[data]
            findings += panels(deep, shallow)
            findings.append(
                Finding(
                    f"{words}: left by the deep network over left by the shallow one of the same "
                    "seed",
                    "smaller",
                    f"{spread(nearer)}; at most {most_of:g} in {_up_to(nearer, most_of)} pairs",
                    most(each < 1 for each in nearer),
                )
            )
        return findings


EXPERIMENT = Autoencoders()


def _of_curve(deep: Sequence[Run], shallow: Sequence[Run]) -> list[Finding]:
    """Panels (B) and (C), and the ranks."""
    findings, ranks = [], []
    for runs, printed in ((deep, "outputs lie on the curve (B)"), (shallow, "off the curve (C)")):
        depth, left = runs[0].settings["depth"], _of(runs, "left")
        ranks.append([run.audit.rank for run in runs if run.audit])
        findings.append(
            Finding(
                f"share of the distance to the curve that is left, depth {depth}",
                printed,
                f"{spread(left)}; at most {ON:g} in {_up_to(left, ON)}, at most {HALF:g} in "
                f"{_up_to(left, HALF)} runs",
                most((share <= ON) == (runs is deep) for share in left),
            )
        )
    findings.append(
        Finding(
            r"rank of $Jf$ at most points of the data (1 is the dimension of the curve)",
            "1 at large depth, by Section 5",
            "; ".join(
                f"depth {runs[0].settings['depth']}: {tally(each)}"
                for runs, each in zip((deep, shallow), ranks, strict=True)
            ),
            most(rank == 1 for rank in ranks[0]),
        )
    )
    return findings


def _of_digits(deep: Sequence[Run], shallow: Sequence[Run]) -> list[Finding]:
    """Panel (A)."""
    both = pairs([*deep, *shallow])
    return [
        Finding(
            f"share of the distance of noisy images (noise {NOISES[-1]:g}) to the clean ones that "
            "is left",
            "outputs look clean (A)",
            ", ".join(
                f"{spread(_of(runs, 'left'))} (depth {runs[0].settings['depth']})"
                for runs in (deep, shallow)
            ),
            None,
        ),
        Finding(
            f"images with less noise ({', '.join(f'{noise:g}' for noise in NOISES[:-1])}): left by "
            "the deep network over left by the shallow one of the same seed",
            "",
            ", ".join(spread(quotients(both, level)) for level in range(len(NOISES) - 1)),
            None,
        ),
    ]


def _up_to(shares: Sequence[float], largest: float) -> str:
    return f"{sum(share <= largest for share in shares)} of {len(shares)}"


def _of(runs: Sequence[Run], name: str) -> list[float]:
    return [run.measured[name] for run in runs]
