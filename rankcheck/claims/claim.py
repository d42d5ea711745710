"""A claim: an executable statement with an id, a source, its instances and its controls."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from rankcheck.claims import registry
from rankcheck.claims.reference import Reference
from rankcheck.claims.relations import Relation
from rankcheck.instances.source import Instances

Kind = Literal[
    "identity", "bound", "construction", "limit", "refuted", "conjecture", "statistical", "cited"
]
#: Kinds that the `claim` decorator takes; the others have decorators of their own.
CLAIMED: tuple[Kind, ...] = ("identity", "bound", "construction", "limit", "statistical")
Body = Callable[..., "Relation | tuple[Relation, ...]"]
_ID = re.compile(r"[a-z0-9][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)+")


@dataclass(frozen=True)
class Need:
    """A hypothesis that cannot be dropped: a family without it, on which the claim must fail.

    `parameters` turns keyword-only parameters of the body for this control, where it needs that.
    """

    instances: Instances
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Claim:
    """A statement that a computer can put to the test.

    Attributes:
        id: dotted, lower case, `document.name`.
        body: a pure function of an instance that returns a relation, or a tuple of them.
        statement: the docstring of the body, in LaTeX.
        tight: a family on which both sides agree.
        needs: by hypothesis, a family without it that breaks the claim.
        mutants: by name, settings of the body's parameters that make the claim false.
        loose: why no derived mutant can be killed (the bound is known not to be sharp): a reason,
            or reasons by the label of a relation.
        witness: in words or as a dotted name, the construction that proves it.
        no_batch: why the body cannot carry a batch axis, or None.
        no_ball: which operation has no ball form, or None.
        effort: multiplies the number of instances that a profile gives to a claim.
        corrects, corrected_by: ids, between a printed statement and its correction.
        errata: what is wrong in print.
    """

    id: str
    kind: Kind
    body: Body
    instances: Instances | None
    title: str
    statement: str
    reference: Reference | None
    tight: Instances | None = None
    needs: Mapping[str, Need] = field(default_factory=dict)
    mutants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    loose: str | Mapping[str, str] | None = None
    witness: str | None = None
    no_batch: str | None = None
    no_ball: str | None = None
    effort: float = 1.0
    corrected_by: str | None = None
    errata: str | None = None
    file: Path = Path()
    line: int = 0

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ClaimError(
                self,
                "an id is lower-case words joined by dots and hyphens, like rank.cross-example",
            )
        if not self.statement:
            raise ClaimError(self, "a claim states its mathematics in the docstring of its body")
        parameters = self.parameters
        for name, setting in {
            **self.mutants,
            **{name: need.parameters for name, need in self.needs.items()},
        }.items():
            unknown = set(setting) - set(parameters)
            if unknown:
                raise ClaimError(
                    self,
                    f"control {name!r} turns keyword-only parameters of the body; it has "
                    f"{sorted(parameters) or 'none'}; received {sorted(unknown)}",
                )

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of an instance's parts, as the body calls them."""
        return tuple(
            name
            for name, parameter in inspect.signature(self.body).parameters.items()
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The keyword-only parameters of the body, with their values in the claim itself."""
        return {
            name: parameter.default
            for name, parameter in inspect.signature(self.body).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }

    def loose_because(self, label: str) -> str | None:
        """Why the relation of that label is known not to be sharp, if it is."""
        return self.loose.get(label) if isinstance(self.loose, Mapping) else self.loose

    @property
    def statement_hash(self) -> str:
        """SHA-256 of id, statement, body and generator: what a certificate attests."""
        text = "\x1f".join(
            [self.id, self.statement, _code(self.body)]
            + (
                []
                if self.instances is None
                else [self.instances.name, _code(self.instances.origin)]
            )
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def relations(self, instance: tuple[Any, ...], **parameters: Any) -> tuple[Relation, ...]:
        """The body on an instance, always as a tuple.

        Raises:
            ClaimError: if the body returns anything but relations.
        """
        returned = self.body(*instance, **parameters)
        relations = returned if isinstance(returned, tuple) else (returned,)
        if not relations or not all(isinstance(relation, Relation) for relation in relations):
            raise ClaimError(
                self,
                f"a body returns leq(...), eq(...) or a tuple of them; received {returned!r:.80}",
            )
        return relations


class ClaimError(ValueError):
    """A claim that is not well formed: the rule, then what was received."""

    def __init__(self, claim: Claim | str, rule: str) -> None:
        name = claim if isinstance(claim, str) else claim.id
        super().__init__(f"{name}: {rule}")


def claim(
    id: str,  # noqa: A002 -- the word of the ledger
    *,
    kind: Kind,
    reference: Reference,
    instances: Instances,
    title: str | None = None,
    tight: Instances | None = None,
    needs: Mapping[str, Instances | Need] | None = None,
    mutants: Mapping[str, Mapping[str, Any]] | None = None,
    loose: str | Mapping[str, str] | None = None,
    witness: str | None = None,
    no_batch: str | None = None,
    no_ball: str | None = None,
    effort: float = 1.0,
) -> Callable[[Body], Callable[[], None]]:
    """Declare a proved statement; the decorated body becomes a pytest test that verifies it.

    Raises:
        ClaimError: if the claim is not well formed, has no source, or its id is taken.
    """
    if kind not in CLAIMED:
        raise ClaimError(
            id, f"the kind of a claim is one of {', '.join(CLAIMED)}; received {kind!r}"
        )
    if not isinstance(reference, Reference):
        raise ClaimError(
            id, f"a claim names its reference, paper(key, place); received {reference!r}"
        )
    if kind == "construction" and not mutants:
        raise ClaimError(
            id, "a construction has at least one mutant: its witness, broken on purpose"
        )

    def declare(body: Body) -> Callable[[], None]:
        return _declare(
            body,
            id=id,
            kind=kind,
            reference=reference,
            instances=instances,
            title=title,
            tight=tight,
            needs=_needs(needs),
            mutants=dict(mutants or {}),
            loose=loose,
            witness=witness,
            no_batch=no_batch,
            no_ball=no_ball,
            effort=effort,
        )

    return declare


def conjecture(
    id: str,  # noqa: A002
    *,
    instances: Instances,
    reference: Reference | None = None,
    title: str | None = None,
    tight: Instances | None = None,
    mutants: Mapping[str, Mapping[str, Any]] | None = None,
    witness: str | None = None,
    no_batch: str | None = None,
    no_ball: str | None = None,
    effort: float = 1.0,
) -> Callable[[Body], Callable[[], None]]:
    """Declare a statement without a known proof; the test fails on the day it is broken.

    Raises:
        ClaimError: if it is not well formed, or its id is taken.
    """

    def declare(body: Body) -> Callable[[], None]:
        return _declare(
            body,
            id=id,
            kind="conjecture",
            reference=reference,
            instances=instances,
            title=title,
            tight=tight,
            mutants=dict(mutants or {}),
            witness=witness,
            no_batch=no_batch,
            no_ball=no_ball,
            effort=effort,
        )

    return declare


def refuted(
    id: str,  # noqa: A002
    *,
    reference: Reference,
    instances: Instances,
    errata: str,
    corrected_by: str | None = None,
    title: str | None = None,
) -> Callable[[Body], Callable[[], None]]:
    """Declare a statement that is false as printed; the test replays its stored counterexample.

    `errata` says what is wrong in print; `corrected_by` is the id of the claim that is right.

    Raises:
        ClaimError: if it is not well formed, or its id is taken.
    """

    def declare(body: Body) -> Callable[[], None]:
        return _declare(
            body,
            id=id,
            kind="refuted",
            reference=reference,
            instances=instances,
            title=title,
            errata=errata,
            corrected_by=corrected_by,
        )

    return declare


def cited(id: str, *, reference: Reference, title: str, statement: str, reason: str) -> Claim:  # noqa: A002
    """List a statement that cannot be checked here, with the reason, so that the table is complete.

    Raises:
        ClaimError: if it is not well formed, or its id is taken.
    """
    frame = inspect.stack()[1]
    entry = Claim(
        id=id,
        kind="cited",
        body=_uncheckable,
        instances=None,
        title=title,
        statement=statement,
        reference=reference,
        loose=reason,
        file=Path(frame.filename),
        line=frame.lineno,
    )
    registry.add(entry)
    return entry


def _uncheckable() -> tuple[Relation, ...]:
    raise TypeError("a cited statement has no body")


def _declare(body: Body, *, title: str | None, **attributes: Any) -> Callable[[], None]:
    statement = inspect.cleandoc(body.__doc__ or "")
    code = body.__code__
    entry = Claim(
        body=body,
        title=title or statement.split("\n", 1)[0],
        statement=statement,
        file=Path(code.co_filename),
        line=code.co_firstlineno,
        **attributes,
    )
    registry.add(entry)

    @functools.wraps(body)
    def test() -> None:
        __tracebackhide__ = True
        from rankcheck.verification.check import check  # the engine is not needed to declare

        check(entry)

    # pytest reads the signature of what it calls: the instance is not made of fixtures.
    del test.__wrapped__  # type: ignore[attr-defined]
    test.claim = entry  # type: ignore[attr-defined]
    return test


def _needs(needs: Mapping[str, Instances | Need] | None) -> dict[str, Need]:
    return {
        name: control if isinstance(control, Need) else Need(control)
        for name, control in (needs or {}).items()
    }


def _code(function: Callable[..., Any]) -> str:
    """What a function does, whatever its layout, comments and decorators.

    Its name, where there is no text to be had.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return f"{function.__module__}.{function.__qualname__}"
    definition = tree.body[0]
    if isinstance(definition, ast.FunctionDef):
        definition.decorator_list = []
    return ast.unparse(definition)
