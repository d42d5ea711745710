"""The decorators that declare a claim, one for each kind.

Each takes the id, then the reference, then options by name; the decorated name is the `Claim`. The
title is the first paragraph of the docstring, the statement the rest of it.

    @bound("mine.operator-norm", paper("rank", "Prop. 3"), instances=matrices())
    def test_operator_norm(A):
        '''The Frobenius norm bounds the operator norm.'''
        return leq(operator_norm(A), frobenius_norm(A))
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypedDict, Unpack

from rankcheck.claims import registry
from rankcheck.claims.claim import Body, Claim, ClaimError, Need
from rankcheck.claims.erratum import Erratum
from rankcheck.claims.facts import LONGEST_ID, OUTCOMES, is_id
from rankcheck.claims.kinds import KINDS, Kind
from rankcheck.claims.reference import Reference
from rankcheck.claims.relations import Relation
from rankcheck.theory.instances.source import Instances

Declare = Callable[[Body], Claim]
P = ParamSpec("P")


class Checked(TypedDict, total=False):
    """What a statement that is checked may say; see `Claim` for what each means."""

    instances: Instances
    tight: Instances | None
    needs: Mapping[str, Instances | Need]
    mutants: Mapping[str, Mapping[str, Any]]
    loose: str | Mapping[str, str] | None
    witness: object
    no_ball: str | None
    audit: str | None
    effort: float
    errata: Erratum | tuple[Erratum, ...] | None
    reach: Callable[..., Mapping[str, Any]] | None


class Accused(TypedDict, total=False):
    """What a statement that is false as printed may say."""

    instances: Instances
    errata: Erratum | tuple[Erratum, ...]
    readings: Mapping[str, str]
    corrected_by: str | None
    no_ball: str | None


def _recorded(decorator: Callable[P, Declare]) -> Callable[P, Declare]:
    """Make a decorator record a malformed claim while files are collected, and raise elsewhere."""

    @functools.wraps(decorator)
    def made(*arguments: P.args, **options: P.kwargs) -> Declare:
        try:
            declare = decorator(*arguments, **options)
        except (ClaimError, TypeError) as error:  # TypeError: an argument is missing
            if not registry.is_recording():
                raise
            problem = str(error)
            name = str(arguments[0] if arguments else options.get("id"))
            return lambda body: _malformed(name, body, problem)

        def checked(body: Body) -> Claim:
            try:
                return declare(body)
            except ClaimError as error:
                if not registry.is_recording():
                    raise
                return _malformed(error.id, body, str(error))

        return checked

    return made


def _malformed(id: str, body: object, problem: str) -> Any:  # noqa: A002
    """The record of a malformed claim; it takes the place of the claim in its file."""
    _check_place(id, body)
    code = getattr(body, "__code__", None)
    file, line = ("", 0) if code is None else (code.co_filename, code.co_firstlineno)
    problem = problem.removeprefix(f"{id}: ")
    return registry.record(registry.Malformed(id, Path(file), line, problem))


@_recorded
def identity(id: str, reference: Reference, **options: Unpack[Checked]) -> Declare:  # noqa: A002
    """Declare a proved equation."""
    return _declaration("identity", id, reference, options, Checked)


@_recorded
def bound(id: str, reference: Reference, **options: Unpack[Checked]) -> Declare:  # noqa: A002
    """Declare a proved inequality."""
    return _declaration("bound", id, reference, options, Checked)


@_recorded
def construction(id: str, reference: Reference, **options: Unpack[Checked]) -> Declare:  # noqa: A002
    """Declare what a construction does; it has a mutant, the construction broken on purpose."""
    return _declaration("construction", id, reference, options, Checked)


@_recorded
def limit(id: str, reference: Reference, **options: Unpack[Checked]) -> Declare:  # noqa: A002
    """Declare what holds at every finite size on the way to a limit, with the rate."""
    return _declaration("limit", id, reference, options, Checked)


@_recorded
def statistical(id: str, reference: Reference, **options: Unpack[Checked]) -> Declare:  # noqa: A002
    """Declare a statement about the outcome of a random experiment."""
    return _declaration("statistical", id, reference, options, Checked)


@_recorded
def conjecture(
    id: str,  # noqa: A002
    reference: Reference | None = None,
    **options: Unpack[Checked],
) -> Declare:
    """Declare a statement without a known proof; it is guarded until something breaks it."""
    return _declaration("conjecture", id, reference, options, Checked)


@_recorded
def refuted(id: str, reference: Reference, **options: Unpack[Accused]) -> Declare:  # noqa: A002
    """Declare a printed statement that is false in every fair reading.

    `errata` quotes it, `readings` says of each reading why it falls; the stored counterexample is
    replayed.
    """
    return _declaration("refuted", id, reference, options, Accused)


@_recorded
def step(
    id: str,  # noqa: A002
    reference: Reference,
    *,
    result: str,
    **options: Unpack[Accused],
) -> Declare:
    """Declare a wrong step of a proof.

    `errata` quotes it; `result` says what becomes of the result: "stands: ...", "stands with
    another constant: ..." or "open: ...".
    """
    return _declaration("step", id, reference, options, Accused, result=result)


@_recorded
def cited(id: str, reference: Reference, *, reason: str) -> Declare:  # noqa: A002
    """List a statement that cannot be checked here, with the reason; the function has no body."""

    def declare(function: Body) -> Claim:
        return _claim(function, id=id, kind="cited", reference=reference, reason=reason)

    return declare


def _declaration(
    kind: Kind,
    id: str,  # noqa: A002
    reference: Reference | None,
    options: Mapping[str, Any],
    allowed: type,
    **more: Any,
) -> Declare:
    """The decorator that makes a claim of this kind, its options checked.

    Raises:
        ClaimError: if an option is unknown, missing, or of the wrong type.
    """
    for name in options:
        if name == "no_batch":
            raise ClaimError(id, "no_batch= is given; a body gets one instance, so delete it")
        if name not in allowed.__annotations__:
            known = ", ".join(allowed.__annotations__)
            raise ClaimError(id, f"@{kind} was given {name}=; @{kind} takes {known}")
    if "instances" not in options:
        raise ClaimError(id, f"@{kind} was given no instances; a claim is checked on instances")
    values = {name: value for name, value in options.items() if value is not None}
    for name in ("instances", "tight"):
        if name in options and (options[name] is not None or name == "instances"):
            _check_family(id, f"{name}=", options[name])
    needs = {}
    for name, control in values.pop("needs", {}).items():
        needs[name] = control if isinstance(control, Need) else Need(control)
        _check_family(id, f"the control {name!r}", needs[name].instances)
    if kind == "construction" and not values.get("mutants"):
        raise ClaimError(id, "no mutant is given; a construction has at least one")
    values["errata"] = _errata(id, values.get("errata", ()))
    if KINDS[kind].false:
        _check_accusation(id, kind, values, more.get("result"))
    if reference is None and kind != "conjecture":
        raise ClaimError(id, "no reference is given; a claim names its paper(key, place)")

    def declare(body: Body) -> Claim:
        return _claim(body, id=id, kind=kind, reference=reference, needs=needs, **values, **more)

    return declare


def _errata(id: str, errata: object) -> tuple[Erratum, ...]:  # noqa: A002
    several = errata if isinstance(errata, tuple) else (errata,)
    for erratum in several:
        if not isinstance(erratum, Erratum):
            raise ClaimError(id, f"errata= is {erratum!r:.60}; it is an Erratum, or several")
    return several


def _check_accusation(id: str, kind: Kind, values: Mapping[str, Any], result: object) -> None:  # noqa: A002
    """Check that a claim that something in print is wrong says all that a fair one has to say.

    Raises:
        ClaimError: naming what is missing.
    """
    errata: tuple[Erratum, ...] = values["errata"]
    if not errata:
        raise ClaimError(id, f"no errata= is given; @{kind} quotes what is printed")
    allowed = KINDS[kind].weights
    others = sorted({erratum.weight for erratum in errata} - set(allowed))
    if others:
        known = " or ".join(map(repr, allowed))
        raise ClaimError(id, f"an erratum of @{kind} has the weight {others[0]!r}; it has {known}")
    readings = values.get("readings", {})
    if kind == "refuted" and not readings:
        raise ClaimError(id, "no readings= are given; each fair reading has why it falls")
    for reading, why in dict(readings).items():
        if not (isinstance(reading, str) and isinstance(why, str) and reading and why):
            raise ClaimError(id, f"the reading {reading!r} does not say why it falls; it is a text")
    if kind == "step" and not str(result).startswith(tuple(f"{known}: " for known in OUTCOMES)):
        known = " or ".join(f"'{known}:'" for known in OUTCOMES)
        raise ClaimError(id, f"result= is {result!r:.60}; it begins with {known}, and says why")


def _check_family(id: str, what: str, family: object) -> None:  # noqa: A002
    if isinstance(family, Instances):
        return
    name = getattr(family, "__name__", "")
    if callable(family) and name:
        raise ClaimError(id, f"{what} is the generator {name} itself; write {name}()")
    raise ClaimError(
        id, f"{what} is {family!r:.80}; instances come from a generator, such as matrices()"
    )


def _claim(function: Callable[..., Any], *, reference: object, **attributes: Any) -> Claim:
    """Make a claim of the decorated function, and enter it into the registry.

    Raises:
        ClaimError: if the claim is not well formed, or its id is taken.
    """
    name = attributes["id"]
    if reference is not None and not isinstance(reference, Reference):
        raise ClaimError(
            name, f"the reference is {reference!r:.80}; a claim names its paper(key, place)"
        )
    _check_place(name, function)
    if not isinstance(name, str) or not is_id(name):
        raise ClaimError(
            str(name),
            "an id is lower-case words joined by dots and hyphens, like rank.cross-example, "
            f"of at most {LONGEST_ID} characters",
        )
    if not inspect.isfunction(function):
        raise ClaimError(name, f"{function!r:.80} is decorated; a claim is declared on a function")
    doc = inspect.cleandoc(function.__doc__ or "")
    first, _, rest = doc.partition("\n\n")
    code = function.__code__
    values: dict[str, Any] = {"instances": None} | attributes
    if attributes["kind"] == "cited":
        function = _uncheckable(function)
    claim = Claim(
        body=function,
        title=" ".join(first.split()).removesuffix("."),
        statement=rest.strip() or first.strip(),
        reference=reference,
        file=Path(code.co_filename),
        line=code.co_firstlineno,
        **values,
    )
    registry.add(claim)
    return claim


def _check_place(id: str, function: object) -> None:  # noqa: A002
    """Refuse a method: pytest may pass over its class, so its whole file is refused."""
    outer = getattr(function, "__qualname__", "").rpartition(".")[0]
    if outer and not outer.endswith("<locals>"):
        raise ClaimError(id, f"{registry.TOP_LEVEL}; this is a method of {outer}")


def _uncheckable(function: Callable[..., Any]) -> Body:
    """The body of a cited statement, which has none."""

    @functools.wraps(function)
    def body() -> tuple[Relation, ...]:
        raise TypeError("a cited statement has no body to evaluate")

    del body.__wrapped__  # its signature and its text are those of `body`
    return body
