"""Parameters by name, of state dicts and safetensors files, as steps of a chain.

A linear layer is a `weight` of two axes with or without a `bias`, a batch norm what has a
`running_mean` and a `running_var`. Nothing is skipped but counters: what is not understood is an
error. Names and shapes tell neither activations nor how layers are joined, so what they leave open
is said (`Model.guess`), and two networks in one file are an error that names both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from torch import Tensor

from rankcheck.audit.chain import (
    MOST_LAYERS,
    Activation,
    Affine,
    Step,
    assemble,
    batch_norm,
    numbers,
    squares,
)
from rankcheck.audit.model import NO_CHAIN, Model, ModelError, label, require

__all__ = ["chain_of_parameters", "under"]

#: The eps of a BatchNorm1d by default, which its parameters do not tell.
EPS = 1e-5
#: How many beginnings of orders are tried before the search gives up.
MOST_TRIED = 5_000
_PARTS = {"weight", "bias", "running_mean", "running_var"}
_COUNTERS = {"num_batches_tracked", "n_averaged"}
#: Words of what stands beside other layers; of what skip connections go around.
_BESIDE = re.compile(
    r"skip|short_?cut|down_?sample|highway|attn|attention|[qkv]_?proj|(?<![a-z])(mu|mean|log_?var"
    r"|log_?std|actor|critic|value|policy|target|ema|teacher)(?![a-z])"
)
_AROUND = re.compile(r"(?<![a-z])res(?![a-z])|resid|res_?(net|layer|unit)|block|mixer|transformer")
_TELLS = (
    "Parameters tell neither activations nor skip connections, so this may be the audit of another "
    "network than yours: --outputs FILE compares with what your model puts out (Python: slope=, "
    "outputs=)."
)


def under(tensors: Mapping[Any, Any], part: str | None) -> dict[str, Any]:
    """The parameters whose names begin with a prefix, without what wraps a module.

    Raises:
        ModelError: there are none, a name is no text, or what it names is no tensor.
    """
    found: dict[str, Any] = {}
    tops: set[str] = set()
    for name, value in tensors.items():
        text = isinstance(name, str) and len(name) <= 500
        require(text, f"the name of a parameter is {label(name)}, no text of at most 500 letters")
        if isinstance(value, int | float | str | None):
            continue
        tensor = isinstance(value, Tensor)
        require(tensor, f"{label(name)} is a {type(value).__name__}, and no tensor")
        tops.add(name.partition(".")[0])
        if name.rpartition(".")[2] in _COUNTERS or not f"{name}.".startswith(f"{part or name}."):
            continue
        short = re.sub(r"(^|\.)(_orig_mod|module)\.", r"\1", name[len(part) + 1 if part else 0 :])
        require(
            short not in found, f"{label(short)} is there twice, as of a module and its wrapper"
        )
        found[short] = value
    there = ", ".join(map(label, sorted(tops)[:8]))
    require(
        found, f"there are no parameters under {label(part or '')}; there are {there or 'none'}"
    )
    return found


def chain_of_parameters(
    tensors: Mapping[str, Any],
    source: str,
    *,
    slope: float | None,
    in_order: bool,
    assumed: Sequence[str],
) -> Model:
    """The chain with these parameters.

    Args:
        slope: of the activations; ReLU is assumed if None.
        in_order: whether the mapping has the order in which the layers were made.

    Raises:
        ModelError: a parameter is not understood or used twice, there are two networks, the place
            of a batch norm or the order of the layers is not certain, or shapes do not chain.
    """
    layers = _layers(tensors)
    norms = {name: one for name, one in layers.items() if "running_mean" in one}
    shapes = {name: tuple(one["weight"].shape) for name, one in layers.items() if name not in norms}
    require(shapes, "there is no linear layer: no weight of two axes without running averages")
    many = len(layers)
    require(many <= MOST_LAYERS, f"there are {many} layers; at most {MOST_LAYERS} are read")
    doubts = _doubts(list(shapes) if in_order else sorted(shapes, key=_natural), shapes)
    order = _ordered(shapes, in_order)
    places = _places(norms, shapes)
    steps: list[Step] = []
    for name in order:
        steps += [Activation(f"behind {steps[-1].name}", slope or 0.0)] if steps else []
        layer = Affine(name or "Linear", layers[name]["weight"], layers[name].get("bias"))
        steps += [places[name, -1]] if (name, -1) in places else []
        steps.append(layer)
        steps += [places[name, 1]] if (name, 1) in places else []
    notes = [*assumed]
    if len(order) > 1:
        more = ", ..." if len(order) > 8 else ""
        notes.append(f"the order of the layers: {', '.join(map(label, order[:8]))}{more}")
    if norms:
        notes.append(f"the eps of the batch norms: {EPS:g}, the default of torch")
    guess: list[str] = []
    if slope is None and len(order) > 1:
        guess.append(
            "ReLU was assumed; --slope 0 says that it is right, --slope A that it is leaky."
        )
    if doubts:
        guess.append(f"A chain was assumed, and the names speak of {', and of '.join(doubts)}.")
    stored = squares(*(one.get(part) for one in layers.values() for part in ("weight", "bias")))
    whole = " ".join([*guess, _TELLS] if guess else [])
    return assemble(steps, source, stored=stored, slope=slope, assumed=notes, guess=whole)


def _layers(tensors: Mapping[str, Any]) -> dict[str, dict[str, Tensor]]:
    """The numbers of each layer, by the last part of their names."""
    layers: dict[str, dict[str, Tensor]] = {}
    places: dict[int, str] = {}
    for name, tensor in tensors.items():
        prefix, _, part = name.rpartition(".")
        shape = tuple(tensor.shape[:9])
        known = part in _PARTS and (len(shape) == 2 if part == "weight" else len(shape) == 1)
        known |= part == "weight" and len(shape) == 1 and f"{prefix}.running_mean" in tensors
        require(
            known and not re.search(r"emb(ed|$|[^a-z])", prefix.lower()),
            f"{label(name)} of shape {shape} is of no linear layer and no batch norm, {NO_CHAIN}",
        )
        layers.setdefault(prefix, {})[part] = numbers(label(name), tensor)
        other = places.setdefault(tensor.data_ptr(), name)
        require(
            other == name,
            f"{label(other)} and {label(name)} are one parameter of two layers, {NO_CHAIN}",
        )
    for prefix, one in layers.items():
        if "running_mean" in one or "running_var" in one:
            whole = {"running_mean", "running_var"} <= one.keys() and ("weight" in one) == (
                "bias" in one
            )
            require(whole, f"the batch norm {label(prefix)} has {', '.join(one)} alone")
            continue
        require("weight" in one, f"the layer {label(prefix)} has {', '.join(one)} and no weight")
        rows, bias = len(one["weight"]), len(one.get("bias", one["weight"]))
        require(rows == bias, f"{label(prefix)} has a weight of {rows} rows and a bias of {bias}")
    return layers


def _places(
    norms: Mapping[str, Mapping[str, Tensor]], linear: Mapping[str, object]
) -> dict[tuple[str, int], Affine]:
    """The batch norms, by the linear layer that they stand directly behind (1) or in front of (−1).

    The numbers in a Sequential say it: 0, 1, 3 is behind the layer 0, and 0, 2, 3 in front of 3.
    """
    places: dict[tuple[str, int], Affine] = {}
    for name, one in norms.items():
        parent, _, last = name.rpartition(".")
        number = int(last) if re.fullmatch(r"[0-9]{1,9}", last) else None
        left, right = (f"{parent}.{(number or 0) + one}".lstrip(".") for one in (-1, 1))
        beside = [each for each in (left, right) if each in linear or each in norms]
        require(
            number is not None and len(beside) == 1 and beside[0] in linear,
            f"it is not certain whether the batch norm {label(name)} stands before or behind an "
            "activation; the numbers of a Sequential say it (0, 1, 3 or 0, 2, 3). Audit the module "
            "in Python",
        )
        mean, var = one["running_mean"], one["running_var"]
        norm = batch_norm(name, mean, var, one.get("weight"), one.get("bias"), EPS)
        places[beside[0], 1 if beside[0] == left else -1] = norm
    return places


# Order


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Names compare part by part, numbers as numbers."""
    parts = re.split(r"([0-9]{1,9})", name)
    return [(0, int(part), "") if i % 2 else (1, 0, part) for i, part in enumerate(parts)]


def _before(one: str, two: str) -> bool:
    """Whether numbers say that a name comes before another one; other parts of names do not."""
    pairs = zip(_natural(one), _natural(two), strict=False)
    p, q = next((pair for pair in pairs if pair[0] != pair[1]), ((1, 0, ""), (1, 0, "")))
    return p[0] == q[0] == 0 and p < q


def _ordered(shapes: Mapping[str, tuple[int, ...]], in_order: bool) -> Sequence[str]:
    """The names in the one order that the numbers in them allow, and in which the shapes chain.

    If no order chains, it is that of the numbers; whoever folds the layers says where it breaks.

    Raises:
        ModelError: several orders chain, and nothing tells them apart.
    """
    names = list(shapes)
    if in_order and all(shapes[two][1] == shapes[one][0] for one, two in pairwise(names)):
        return names
    names.sort(key=_natural)
    earlier = {two: {one for one in names if _before(one, two)} for two in names}
    begun: list[tuple[str, ...]] = [()]
    found: list[tuple[str, ...]] = []
    for tried in range(MOST_TRIED + 1):
        if not begun or len(found) > 1:
            break
        require(tried < MOST_TRIED, "the order of the layers cannot be found; number them")
        placed = begun.pop()
        found += [placed] * (len(placed) == len(names))
        begun += [
            (*placed, name)
            for name in reversed(names)
            if name not in placed
            and (not placed or shapes[name][1] == shapes[placed[-1]][0])
            and earlier[name] <= set(placed)
        ]
    if len(found) > 1:
        one, two = next(pair for pair in zip(*found, strict=True) if pair[0] != pair[1])
        raise ModelError(
            f"the names do not say whether {label(one)} or {label(two)} comes first, and the "
            "shapes chain in both orders; number the layers, or save a state dict in their order"
        )
    return found[0] if found else names


# Whether it is one chain


def _siblings(names: Sequence[str], depth: int = 1) -> Iterator[dict[str, list[str]]]:
    """The groups of names that differ in one part, at each place where they part."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(".".join(name.split(".")[:depth]), []).append(name)
    if len(groups) > 1:
        yield groups
    for group in groups.values():
        if len(group) > 1:
            yield from _siblings(group, depth + 1)


def _doubts(names: Sequence[str], shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """What names speak of that no chain has, as texts behind `the names speak of`.

    Raises:
        ModelError: they speak of two networks: two parts of several layers, which are not numbered
            or do not fit behind one another, take equally many numbers.
    """
    around: list[str] = []
    apart: list[str] = []
    for groups in _siblings(names):
        ends = {one: (shapes[group[0]][1], shapes[group[-1]][0]) for one, group in groups.items()}
        for one, two in combinations([name for name, group in groups.items() if len(group) > 1], 2):
            alike = re.sub(r"\d", "", one) == re.sub(r"\d", "", two)
            require(
                ends[one][0] != ends[two][0] or (alike and len({*ends[one], *ends[two]}) == 1),
                f"{label(one)} and {label(two)} are two networks, which take {ends[one][0]} "
                f"numbers each; --part {label(one)} reads one of them (Python: part=). If they are "
                "one, audit the module",
            )
            apart += [] if alike else [one, two]
        around += [
            f"{label(group[0])} to {label(group[-1])}" if len(group) > 1 else label(one)
            for one, group in groups.items()
            if ends[one][0] == ends[one][1]
            and (_AROUND.search(one) or (len(group) > 1 and re.search(r"\d$", one)))
        ]
    beside = [label(name) for name in names if _BESIDE.search(name.lower())]
    kinds = {
        "skip connections, which would fit around": around,
        "layers beside others:": beside,
        "several parts, each of which --part reads alone:": list(map(label, dict.fromkeys(apart))),
    }
    return [
        f"{what} {', '.join(list(dict.fromkeys(one))[:3])}" for what, one in kinds.items() if one
    ]
