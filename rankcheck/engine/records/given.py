"""Instances that are to be judged: typed, in a file, or on record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankcheck.claims.claim import Claim
from rankcheck.claims.kinds import FALSE
from rankcheck.engine.counterexamples.given import Given, instances_of
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.replay import families, family_of
from rankcheck.engine.records.file import Held, RecordError, Records
from rankcheck.errors import InputError, short_of_memory
from rankcheck.stored import StoredError, parse, read_json, shown
from rankcheck.theory.instances.choices import read_choices

RULE = (
    "an instance is a JSON list of what the generator draws, an object with these as `choices` and "
    "the name of the generator as `family`, or a file with one of these"
)


def read(text: str) -> Given | Records:
    """An instance as JSON or in a file, or the instances in a file of records.

    A certificate gives its smallest instance.

    Raises:
        InputError: if the text is none of these.
    """
    if text.lstrip()[:1] in ("[", "{"):
        return parsed(text)
    path = Path(text)
    try:
        data = read_json(path)
    except OSError as error:
        raise InputError(f"{shown(text, 80)} cannot be read: {error.strerror}; {RULE}") from error
    except StoredError as error:
        raise InputError(f"{shown(text, 80)} is not JSON, {error}; {RULE}") from error
    if isinstance(data, dict) and "relations" in data:
        return Records.read(path)
    if isinstance(data, dict) and "smallest" in data:
        return instances_of(path)["smallest"]
    return _given(data)


def parsed(text: str | bytes) -> Given:
    """An instance as JSON.

    >>> parsed('{"family": "circles()", "choices": [2, ["1/2", 1]]}')
    Given(choices=[2, ['1/2', 1]], family='circles()')

    Raises:
        InputError: if the text is none.
    """
    try:
        data = parse(text)
    except StoredError as error:
        line = text.decode(errors="backslashreplace") if isinstance(text, bytes) else text
        raise InputError(f"{shown(line.strip(), 80)} is not JSON, {error}; {RULE}") from error
    return _given(data)


def _given(data: Any) -> Given:
    if isinstance(data, list):
        return Given(data)
    if isinstance(data, dict) and isinstance(data.get("choices"), list):
        family = data.get("family")
        if family is None or isinstance(family, str):
            return Given(data["choices"], family)
    raise InputError(f"received {shown(data, 80)}; {RULE}")


def judged_on(claim: Claim, given: Given) -> Instance:
    """A given instance of a claim.

    Raises:
        InputError: if the claim has no such instances, or the choices do not fit the generator.
    """
    if claim.instances is None:
        raise InputError(f"{claim.id} is cited and has no instances; an instance attains a bound")
    if claim.kind in FALSE:
        raise InputError(
            f"{claim.id} is declared as false; `rankcheck certify` keeps a counterexample, and a "
            "bound that may be true has a record"
        )
    return _instance(claim, given.choices, given.family or claim.instances.name)


def instance_of(claim: Claim, one: Held) -> Instance:
    """The instance of a record, to be judged on the claim as it now stands.

    Raises:
        RecordError: if it does not fit the generators of the claim.
    """
    try:
        return _instance(claim, one.choices, one.family)
    except InputError as error:
        raise RecordError(str(error)) from error


def _instance(claim: Claim, choices: Sequence[Any], name: str) -> Instance:
    family = family_of(claim, name)
    if family is None:
        known = ", ".join(map(str, families(claim))) or "no generator"
        raise InputError(f"the instance is of {shown(name)}; those of {claim.id} are from {known}")
    try:
        record = read_choices(family, choices, check_hypotheses=False)
    except Exception as error:  # a generator may raise anything on numbers that are not its own
        if short_of_memory(error):
            raise
        raise InputError(f"the instance does not fit {family}: {error}") from error
    return Instance(claim, family, record)
