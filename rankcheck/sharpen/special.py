"""What is special about an instance, decided in exact numbers: sentences, the most telling first.

Only what sizes do not say already is said: that a vector of one entry has equal entries is not.
Arrays that are not rational are left out, since equality of balls is never proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from rankcheck import balls
from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.sharpen.structure import Fact, enumerated, of_arrays
from rankcheck.theory.instances.record import Entries, Record
from rankcheck.theory.networks.balancing import layer_imbalances, neuron_imbalances
from rankcheck.theory.networks.network import Network

#: So many sentences are kept.
MOST = 8


def special(claim: Claim, instance: Instance) -> tuple[str, ...]:
    """At most eight sentences on what is special about an instance.

    Raises:
        ValueError: if the instance was not built in exact numbers.
    """
    parts = dict(zip(claim.names(len(instance.exact)), instance.exact, strict=True))
    with balls.precision(instance.in_balls.bits):
        facts = [*of_parts(parts), *_of_ends(instance)]
    return tuple(sentences(facts))[:MOST]


def of_parts(parts: Mapping[str, Any]) -> list[Fact]:
    """What is special about the parts of an instance in exact numbers, by name."""
    return [*of_arrays(_arrays(parts)), *_of_networks(parts)]


def sentences(facts: Sequence[Fact]) -> Iterator[str]:
    """One sentence for each property, with all things that have it, the most telling first."""
    alike: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: -fact.weight):
        alike.setdefault((fact.one, fact.many), []).append(fact)
    for (one, many), some in alike.items():
        yield f"{enumerated([fact.subject for fact in some])} {many if len(some) > 1 else one}"


def _arrays(parts: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The rational arrays among the parts, and in them, by name, with Fractions as entries."""
    found: dict[str, np.ndarray] = {}
    several = sum(isinstance(part, Network) for part in parts.values()) > 1
    for name, part in parts.items():
        match part:
            case Network():
                of = f" of {name}" if several else ""
                weights = {f"W_{i}{of}": w for i, w in enumerate(part.weights, 1)}
                found |= _arrays(weights)
            case BallArray() if part.numel() and part.is_exact():
                found[name] = np.asarray(part.lower(), object).reshape(part.shape or (1,))
            case tuple() | list():
                found |= _arrays({f"{name}_{i}": each for i, each in enumerate(part, 1)})
    return found


def _of_ends(instance: Instance) -> Iterator[Fact]:
    """Entries that were drawn as large as they can be: beyond, the ratio may be larger."""
    at_ends = 0
    for choice in instance.record.choices:
        if isinstance(choice, Entries):
            ends = [end for end in (choice.low, choice.high) if end]
            at_ends += int(sum((choice.values == end).sum() for end in ends))
    if at_ends:
        verb = "are" if at_ends > 1 else "is"
        what = f"{verb} at an end of the range that is drawn from"
        yield Fact(f"{at_ends} entr{'ies' if at_ends > 1 else 'y'}", what, what, 9.5)


def of_end(record: Record, low: Fraction, high: Fraction) -> tuple[str, ...]:
    """That a ratio in [low, high] says how far a range reaches in which an entry is at an end."""
    for choice in (one for one in record.choices if isinstance(one, Entries)):
        for end in {choice.low, choice.high} - {0, 1, -1}:
            for c in (abs(Fraction(end)), 1 / abs(Fraction(end))):
                made = any(low <= f <= high for f in (c, c * c, c / (1 + c), abs(1 - c), 1 + c))
                if made and bool((choice.values == end).any()):
                    return (f"the ratio is made of {end:g}, an end of the range of an entry",)
    return ()


# Networks


def _of_networks(parts: Mapping[str, Any]) -> Iterator[Fact]:
    networks = {name: part for name, part in parts.items() if isinstance(part, Network)}
    for name, net in networks.items():
        arrays = (*net.weights, *net.biases)
        if net.batch or not all(balls.balls(each).is_exact() for each in arrays):
            continue
        of = f" of {name}" if len(networks) > 1 else ""
        yield from _of_network(net, of)
        for at, x in parts.items():
            if isinstance(x, BallArray) and tuple(x.shape) == net.widths[:1]:
                yield from _at_point(net, of, at, x)


def _of_network(net: Network, of: str) -> Iterator[Fact]:
    without_biases = not any(_nonzero(b).any() for b in net.biases)
    if without_biases:
        yield Fact(f"all biases{of}", "are 0", "are 0", 5)
    hidden = net.widths[1:-1]
    if not hidden or not all(_nonzero(w).any() for w in net.weights):
        return
    if 1 in hidden and min(net.widths[0], net.widths[-1]) > 1:
        yield Fact(f"a hidden layer{of}", "has width 1", "have width 1", 3)
    if not any(_nonzero(each).any() for each in neuron_imbalances(net)):
        what = "is balanced: its incoming and outgoing weights have equal norms"
        yield Fact(f"every hidden unit{of}", what, what, 6.5)
    elif not _nonzero(layer_imbalances(net)).any():
        yield Fact(f"the layers{of}", "are balanced", "are balanced", 6)
    elif len({balls.balls((w * w).sum()).lower() for w in net.weights}) == 1:
        yield Fact(f"the weight matrices{of}", "have equal norms", "have equal norms", 4)
    dead = sum(
        int((~(_nonzero(w).any(1) & _nonzero(v).any(0))).sum())
        for w, v in zip(net.weights[:-1], net.weights[1:], strict=True)
    )
    if dead:
        what = f"{'have' if dead > 1 else 'has'} no incoming or no outgoing weights"
        yield Fact(f"{dead} of {sum(hidden)} hidden units{of}", what, what, 5.5)


def _at_point(net: Network, of: str, at: str, x: BallArray) -> Iterator[Fact]:
    """Which hidden units are active at a point."""
    before = [balls.balls(z) for z in net.preactivations(x)[:-1]]
    if not before or not all(z.is_exact() for z in before):
        return
    values = np.concatenate([z.lower() for z in before])
    if (values > 0).all():
        yield Fact(f"every hidden unit{of}", f"is active at {at}", f"is active at {at}", 5.8)
    elif (values < 0).all():
        yield Fact(f"no hidden unit{of}", f"is active at {at}", f"is active at {at}", 7)
    kinks = int((values == 0).sum())
    if kinks:
        what = f"{'are' if kinks > 1 else 'is'} at {'their' if kinks > 1 else 'its'} kink at {at}"
        yield Fact(f"{kinks} of {len(values)} hidden units{of}", what, what, 7.5)


def _nonzero(array: Any) -> np.ndarray:
    """Where an exact array is not 0."""
    return np.asarray(balls.balls(array).lower() != 0, dtype=bool)
