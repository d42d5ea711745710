"""Exact algebra: the body on rational functions, over all paths with their boundaries.

The body runs again for each path, from the beginning. A path ends with goals, one for each entry of
each relation that is asserted there, and each goal is a polynomial whose sign must follow from what
the path knows. Where a polynomial is zero and can be solved for an entry, the path ends, and the
whole statement is proved again on the face where the entry is replaced.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import torch
from flint import fmpq, fmpz_mpoly

import rankcheck.decide.algebra.matrices  # noqa: F401 - gives the numbers their linear algebra
from rankcheck import balls
from rankcheck.balls import BallArray, NoBallForm, Undecided
from rankcheck.claims.claim import Claim, ClaimError
from rankcheck.claims.labels import relation_name
from rankcheck.claims.relations import Relation
from rankcheck.decide.algebra.cell import Cell, Empty, Linked
from rankcheck.decide.algebra.quotient import Quotient, on
from rankcheck.decide.algebra.ring import Ring
from rankcheck.decide.algebra.signs import NONE, PLUS, signs_text
from rankcheck.decide.prove.exact.faces import Plane, as_facts, excepted, implied, stated
from rankcheck.decide.prove.exact.goals import NONNEGATIVE, Ways, certificate, definitions, splits
from rankcheck.decide.prove.exact.lemmas import Lemmas
from rankcheck.decide.prove.exact.linear import emptiness
from rankcheck.decide.prove.exact.source import VariableSource, bounds_of, is_bounded
from rankcheck.decide.prove.exact.tree import Growing, place, reason
from rankcheck.decide.prove.proof import (
    Certificate,
    Entry,
    Face,
    Goal,
    Leaf,
    Link,
    Method,
    Node,
    Open,
    Proof,
    Ratio,
    Unlogged,
    Unrooted,
)
from rankcheck.decide.prove.settings import Settings, Unproved
from rankcheck.errors import short_of_memory
from rankcheck.theory.instances.scope import ScopeShape, ranges
from rankcheck.theory.instances.source import Instances, Rejected

#: A path splits so often for the sake of a goal, after the body has ended.
EXTRA = 6
#: The tree of a face is begun so often, at most.
AGAIN = 8
#: More faces than this end a proof.
FACES = 2000

WANTED = {"leq": NONNEGATIVE, "lt": PLUS, "eq": NONE}


class _OutOfBudget(Exception):
    """The proof at this shape took too long, or has too many paths."""


class _Excluded(Exception):
    """The facts of a path exclude one another; `args` has the goal that says so."""


def prove_shape(claim: Claim, shape: ScopeShape, settings: Settings) -> Proof | Unproved:
    """Prove a claim at one shape, for all entries; or say how far it came.

    Nothing is wrong with a claim that is not proved. Whatever is proved is to be put before the
    second checker before anybody sees it.

    Raises:
        ClaimError: if the body returns anything but relations.
    """
    if claim.instances is None:
        raise TypeError(f"{claim.id} is cited and has no instances; a proof is of all of them")
    return _Search(claim, claim.instances, shape, settings).run()


class _Search:
    """A proof that is being made."""

    def __init__(
        self, claim: Claim, family: Instances, shape: ScopeShape, settings: Settings
    ) -> None:
        self.claim, self.family, self.shape, self.settings = claim, family, shape, settings
        self.ring = Ring(shape.entries)
        self.began = time.monotonic()
        self.ways = Ways(until=self.began + settings.seconds)
        self.lemmas = Lemmas(self.ring, self.ways)
        self.ring.prove = self.lemmas
        self.planes: list[Plane] = [Plane()]
        self.numbers = {Plane().key: 0}
        self.entries: list[Entry] = []
        self.ranges: dict[int, tuple[fmpq, fmpq]] = {}
        self.paths = 0
        self.squares = False
        self.exceptions: list[str] = []
        self.links: list[tuple[int, str, int]] = []

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def run(self) -> Proof | Unproved:
        faces: list[Face] = []
        try:
            self._read_ranges()
            while len(faces) < len(self.planes):
                plane = self.planes[len(faces)]
                nodes = self._face(plane)
                if isinstance(nodes, Unproved):
                    return nodes
                faces.append(
                    Face(
                        substitutions=plane.substitutions(self.ring),
                        facts=as_facts(self._facts(plane)),
                        nodes=nodes,
                    )
                )
        except _OutOfBudget as end:
            return Unproved(str(end), self.paths)
        except MemoryError:
            return Unproved("memory was short", self.paths)
        leaves = [node for face in faces for node in face.nodes if isinstance(node, Leaf)]
        if not any(leaf.goals for leaf in leaves):
            return Unproved("nothing is asserted at this shape", self.paths)
        return Proof(
            integers=self.shape.integers,
            sizes={},
            entries=tuple(self.entries),
            method=self._method(),
            paths=self.paths,
            definitions=definitions(Cell(self.ring, {})),
            lemmas=tuple(self.lemmas.goals),
            faces=tuple(faces),
            exceptions=tuple(dict.fromkeys([*self.exceptions, *excepted(faces, self.links)])),
            seconds=self.seconds,
        )

    def _method(self) -> Method:
        """The strongest one that was needed."""
        return "squares" if self.squares or self.lemmas.goals else "algebra"

    def _read_ranges(self) -> None:
        """The range of each entry."""
        drawn = ranges(self.family, self.shape)
        for index, (name, (low, high)) in enumerate(zip(self.ring.names, drawn, strict=False)):
            ends, bounded = bounds_of(low, high), is_bounded(low, high)
            if bounded:
                low_, high_ = (fmpq(end.numerator, end.denominator) for end in ends)
                self.ranges[index] = low_, high_
            self.entries.append(
                Entry(name=name, low=str(ends[0]), high=str(ends[1]), bounded=bounded)
            )

    def _facts(self, plane: Plane) -> dict[str, int]:
        """What a face says of all its instances."""
        return stated(self.ring, plane, self._ranges(plane))

    def _ranges(self, plane: Plane) -> dict[int, tuple[fmpq, fmpq]]:
        """The ranges of the free entries of a face that are hypotheses."""
        solved = {index for index, *_ in plane.solved}
        return {i: ends for i, ends in self.ranges.items() if i not in solved}

    def _face(self, plane: Plane) -> tuple[Node, ...] | Unproved:
        """The tree of a face; begun anew where a lemma of one path changes how others split."""
        before = self.paths, len(self.planes), len(self.exceptions), len(self.links)
        for _ in range(AGAIN):
            if (nodes := self._grown(plane)) is not None:
                return nodes
            self.paths = before[0]
            del self.planes[before[1] :], self.exceptions[before[2] :], self.links[before[3] :]
            self.numbers = {key: n for key, n in self.numbers.items() if n < before[1]}
        return self._open("its paths do not stay the same from one run to the next")

    def _grown(self, plane: Plane) -> tuple[Node, ...] | Unproved | None:
        """The tree of a face, depth first; None if a path is not what it was before."""
        inside = self._ranges(plane)
        known, outside = implied(self.ring, plane, self._facts(plane), self.ranges)
        if outside is not None:  # no instance of it is in the ranges
            self.paths += 1
            return (Leaf(outcome="empty", of=str(outside)),)
        growing = Growing()
        while growing.waiting:
            script = growing.waiting.pop()
            self._check_budget()
            cell = Cell(self.ring, known, script, inside)
            cell.look = self._exclude
            end = self._path(cell, plane)
            self.paths += 1
            if not growing.add(script, cell.trail):
                return None
            if isinstance(end, Unproved):
                exception = self._exception(cell, plane)
                if exception is None:
                    return end
                self.exceptions.append(exception)
                end = Open(reason=f"{end.reason}{f' ({end.place})' if end.place else ''}")
            growing.ends[tuple(fork.taken for fork in cell.trail)] = end
        return growing.tree()

    def _check_budget(self) -> None:
        if self.paths >= self.settings.paths:
            raise _OutOfBudget(
                f"more than {self.settings.paths} paths through the body; a proof ends there"
            )
        if self.seconds > self.settings.seconds:
            raise _OutOfBudget(f"{self.seconds:.1f} s were over after {self.paths} paths")

    def _exception(self, cell: Cell, plane: Plane) -> str | None:
        """A polynomial that is zero wherever this path is; None where none has to be."""
        if plane.because:
            return plane.because
        for fork in cell.trail:
            if fork.options[fork.taken] == NONE:
                return str(fork.of)
        return None

    def _path(self, cell: Cell, plane: Plane) -> Node | Unproved:
        """Run the body on a path, and prove what it asserts there."""
        source = VariableSource(self.shape, plane.values(cell))
        try:
            with on(cell), balls.conventions() as choices:
                instance = self.family(source)
                relations = self.claim.relations(instance)
                if choices.used:
                    return self._open(
                        "it depends on the signs of eigenvectors, which are arbitrary"
                    )
                return self._leaf(cell, relations)
        except Rejected:
            return Leaf(outcome="outside")
        except Empty as empty:
            return Leaf(outcome="empty", of=str(empty.of))
        except _Excluded as excluded:
            self.squares = True
            return Leaf(outcome="empty", goals=(excluded.args[0],))
        except Linked as link:
            return self._link(plane, link)
        except ClaimError:
            raise
        except (NoBallForm, Undecided, ArithmeticError, torch.linalg.LinAlgError) as error:
            return self._open(reason(error), error)
        except (NotImplementedError, TypeError, RuntimeError, ValueError, IndexError) as error:
            if short_of_memory(error):
                raise MemoryError from error
            return self._open(f"{type(error).__name__}: {error}", error)

    def _open(self, reason: str, error: Exception | None = None) -> Unproved:
        where = "" if error is None else place(self.claim, error)
        return Unproved(reason, self.paths, where)

    def _link(self, plane: Plane, link: Linked) -> Link | Unproved:
        beyond = plane.beyond(self.ring, link)
        if beyond is None:
            return self._open(f"an entry that was solved for has no value where {link.zero} = 0")
        number = self.numbers.get(beyond.key)
        if number is None:
            number = self.numbers[beyond.key] = len(self.planes)
            if number >= FACES:
                raise _OutOfBudget(f"more than {FACES} faces; a proof ends there")
            self.planes.append(beyond)
        self.links.append((self.numbers[plane.key], str(link.zero), number))
        return Link(zero=str(link.zero), variable=self.ring.names[link.variable], face=number)

    def _leaf(self, cell: Cell, relations: tuple[Relation, ...]) -> Node | Unproved:
        goals: list[Goal] = []
        for number, relation in enumerate(relations):
            asserted = relation.asserted.reshape(-1)
            lhs, rhs = map(_flat, relation.sides())
            for entry in asserted.nonzero().reshape(-1).tolist():
                goal = self._goal(cell, relation.kind, lhs[entry], rhs[entry])
                if goal is None:
                    self._check_budget()
                    name = relation_name(relation.label, number)
                    return self._open(f"{name} does not follow from what is known on a path")
                goals.append(replace(goal, relation=number, entry=entry))
        return Leaf(outcome="asserted", goals=tuple(goals))

    def _goal(self, cell: Cell, kind: str, lhs: Any, rhs: Any) -> Goal | None:
        """A relation at an entry, proved; the path may split for it."""
        for _ in range(EXTRA):
            goal, polynomial = self._proved(cell, kind, lhs, rhs)
            if goal is not None:
                return goal
            wished: list[fmpz_mpoly] = []
            if polynomial is not None and kind != "eq":
                wished += splits(cell, polynomial)
            self._exclude(cell)
            if not wished:
                return None
            self._check_budget()
            cell.ask(wished[0], NONNEGATIVE)
        return None

    def _exclude(self, cell: Cell) -> None:
        """End a path on which no instance is seen to be.

        Raises:
            Empty or _Excluded: with the reason.
        """
        contradiction = cell.contradiction()
        if contradiction is not None:
            raise Empty(contradiction)
        why = emptiness(cell) if self.ways.squares else None
        if why is not None:
            raise _Excluded(why)

    def _proved(
        self, cell: Cell, kind: str, lhs: Any, rhs: Any
    ) -> tuple[Goal | None, fmpz_mpoly | None]:
        """The goal of a relation between two numbers, and its polynomial."""
        one = Quotient(cell, self.ring.one, self.ring.one)
        left, right = one.coerced(lhs), one.coerced(rhs)
        if not (isinstance(left, Quotient) and isinstance(right, Quotient)):
            return None, None  # a ball without bounds
        p = right.num * left.den - left.num * right.den
        if not cell.ask(left.den * right.den, PLUS):
            p = -p
        p = self.ring.reduced(p)
        found = certificate(cell, p, WANTED[kind], self.ways)
        if found is None:
            return None, p
        self.squares = self.squares or _has_squares(found)
        return (
            Goal(
                polynomial=str(p),
                signs=signs_text(WANTED[kind]),
                certificate=found,
                lhs=Ratio(num=str(left.num), den=str(left.den)),
                rhs=Ratio(num=str(right.num), den=str(right.den)),
            ),
            p,
        )


def _has_squares(found: Certificate) -> bool:
    if isinstance(found, Unrooted | Unlogged):
        return any(_has_squares(part.certificate) for part in found.parts)
    return found.by == "squares"


def _flat(side: BallArray) -> list[Any]:
    return side.elements.ravel().tolist()
