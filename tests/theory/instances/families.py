"""All generators that `rankcheck.instances` exports, their arrays, and promises that are broken."""

import inspect
from types import SimpleNamespace

import torch

import rankcheck.theory.instances as door
from rankcheck.theory.instances.promises import promises_of
from rankcheck.theory.instances.source import is_factory

GENERATORS = [getattr(door, name) for name in door.__all__ if is_factory(getattr(door, name))]
#: Each of them with its defaults.
FAMILIES = [made() for made in GENERATORS]


def options_of(made):
    return {name: option.default for name, option in inspect.signature(made).parameters.items()}


def chosen(made, options):
    return SimpleNamespace(**{**options_of(made), **options})


def kept(promise, options, built, batch):
    """Where the promise is kept: bools (*batch)."""
    holds = torch.as_tensor(promise.holds(options, *built))
    wide = holds if holds.ndim >= len(batch) else holds.expand(batch)
    return wide.reshape(*batch, -1).all(-1)


def broken(made, options, built, valid):
    """The promises that are not kept, as text."""
    o, batch = chosen(made, options), tuple(valid.shape)
    return [
        f"{made(**options)}: {name}: {promise.says}"
        for name, promise in promises_of(made)
        if not bool((kept(promise, o, built, batch) | ~valid).all())
    ]
