"""What becomes of a trained network: it is kept, audited and measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, get_args

from torch import Tensor

from rankcheck.audit.files import parameters_of, write_parameters
from rankcheck.audit.read import chain_of
from rankcheck.audit.result import Audit
from rankcheck.audit.run import audit
from rankcheck.audit.theorems.check import Finding
from rankcheck.experiments.base import Part, Place
from rankcheck.experiments.result import AuditFacts, Run
from rankcheck.experiments.stack import Stack
from rankcheck.networks.network import Network

__all__ = ["Measure", "Measured", "audited", "keep_network", "measured_runs", "short"]

#: `Run.measured` and `Run.drawn`.
Measured: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]
#: Measures a network; called with the number of its run in the part, the network, and its audit.
Measure: TypeAlias = Callable[[int, Network, Audit], Measured]
#: The share of a part that its training is.
_TRAINED = 0.85


def measured_runs(
    part: Part,
    place: Place,
    stack: Stack,
    points: Iterable[Tensor],
    measure: Measure,
) -> list[Run]:
    """The runs of a part whose networks are trained: each is kept, audited and measured.

    Args:
        points: of each run, the data of its audit, (N, n_0) in float64.

    Raises:
        ValueError: unless there are points for each run.
    """
    runs = []
    for number, (seed, X) in enumerate(zip(part.seeds, points, strict=True)):
        net = stack.network(number)
        keep_network(place, part, seed, net)
        facts, whole = audited(net, X, device=place.device)
        measured, drawn = measure(number, net, whole)
        runs.append(Run(part.name, seed, part.settings, measured, facts, drawn))
        place.progress(
            _TRAINED + (1 - _TRAINED) * (number + 1) / stack.runs, f"measured seed {seed}"
        )
    return runs


def audited(net: Network, X: Tensor, *, device: str = "cpu") -> tuple[AuditFacts, Audit]:
    """Audit a network on data (N, n_0) in float64; returns it in short, and whole."""
    result = audit(net, X, device=device)
    counts = Counter(one.finding for one in result.theorems)
    return AuditFacts(
        cost=result.model.cost,
        rank=result.rank,
        near_one=tuple(layer.near_one for layer in result.layers),
        findings={name: counts[name] for name in get_args(Finding)},
        failing=tuple(one.claim for one in result.theorems if one.finding == "fails"),
    ), result


def keep_network(place: Place, part: Part, seed: int, net: Network) -> None:
    """Write a trained network as a file that `rankcheck audit` reads, if the place has a folder."""
    if place.networks is None:
        return
    place.networks.mkdir(parents=True, exist_ok=True)
    path = place.networks / f"{part.name}-{seed}.safetensors"
    write_parameters(path, parameters_of(chain_of(net), net))


def short(values: Tensor, digits: int = 3) -> list[Any]:
    """Nested lists of numbers of few digits, for figures."""
    if values.ndim:
        return [short(each, digits) for each in values]
    return float(f"{float(values):.{digits}g}")  # type: ignore[return-value]
