"""What becomes of a trained network: it is kept, audited and measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from torch import Tensor

from rankcheck.audit.model import Model
from rankcheck.audit.reading import write_model
from rankcheck.audit.result import Audit
from rankcheck.audit.run import audit
from rankcheck.experiments.base import Part, Place
from rankcheck.experiments.result import AuditFacts, Run
from rankcheck.experiments.stack import Stack
from rankcheck.networks.network import Network

__all__ = ["Measure", "Measured", "audited", "keep_network", "measured_runs"]

#: `Run.measured` and `Run.drawn`.
Measured: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]
#: Measures a network; called with the number of its run in the part, the network, and its audit.
Measure: TypeAlias = Callable[[int, Network, Audit], Measured]


def measured_runs(
    part: Part,
    place: Place,
    stack: Stack,
    points: Iterable[Tensor],
    measure: Measure,
    *,
    begin: float,
) -> list[Run]:
    """The runs of a part whose networks are trained: each is kept, audited and measured.

    Args:
        points: of each run, the data of its audit, (N, n_0) in float64.
        begin: the share of the part that the training was, in [0, 1].

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
        place.told(begin + (1 - begin) * (number + 1) / len(part.seeds), f"measured seed {seed}")
    return runs


def audited(net: Network, X: Tensor, *, device: str = "cpu") -> tuple[AuditFacts, Audit]:
    """Audit a network on data (N, n_0) in float64; returns it in short, and whole."""
    found = audit(net, X, device=device)
    return AuditFacts(
        cost=found.model.cost,
        per_layer=found.ceiling,
        rank=found.rank,
        near_one=tuple(layer.near_one for layer in found.layers),
        saved=saved(found),
        findings=dict(Counter(one.finding for one in found.theorems)),
        failing=tuple(one.claim for one in found.theorems if one.finding == "fails"),
    ), found


def saved(found: Audit) -> float:
    """1 − ‖θ‖²/‖θ′‖², where θ′ are the parameters and θ those after balancing the neurons."""
    cost = found.model.cost
    return max(0.0, 1 - found.balanced.cost / cost) if cost else 0.0


def keep_network(place: Place, part: Part, seed: int, net: Network) -> None:
    """Write a trained network as a file that `rankcheck audit` reads, if the place has a folder."""
    if place.folder is None:
        return
    folder = place.folder / "networks"
    folder.mkdir(parents=True, exist_ok=True)
    names = tuple(f"layers.{number}" for number in range(net.depth))
    model = Model(net, "network", names, (None,) * net.depth, float(net.cost()))
    path = folder / f"{part.name}-{seed}.safetensors"
    if path.is_symlink():
        path.unlink()  # of a stranger: it would be followed
    write_model(path, model, net)
