"""The Coq file of a proof: its definitions, a lemma for each leaf, a theorem for each face."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rankcheck.exports.coq import comment, wrapped
from rankcheck.prove.checking.faces import ReadFace
from rankcheck.prove.checking.signs import Known as CheckedKnown
from rankcheck.prove.checking.signs import Variables, signs_of, text_of
from rankcheck.prove.checking.trees import End, Trees
from rankcheck.prove.coq.deduced import Deduced, Known
from rankcheck.prove.coq.errors import NotWritten
from rankcheck.prove.coq.faces import Hypotheses, everywhere, linked, of_face, of_path
from rankcheck.prove.coq.goals import impossible, proved, related
from rankcheck.prove.coq.prelude import EXPONENTIALS, LOGARITHMS, ROOTS, SIGNS
from rankcheck.prove.coq.script import Script, conjunction
from rankcheck.prove.coq.steps import Step, Texts, among, literal
from rankcheck.prove.proof import Goal, Leaf, Link, Open, Proof

__all__ = ["ProofWriter"]

#: Ways to cut the reals in two at 0: the lemma, and the signs of its cases in their order.
_CUTS = (
    ("Rlt_or_le", ("-", "0+")),
    ("Rle_or_lt", ("-0", "+")),
    ("Req_dec", ("0", "-+")),
)
#: Names of variables that no lemma and no hypothesis of a file has.
_NAME = re.compile(r"[gx][0-9]+")


class ProofWriter:
    """Writes the file of a proof.

    Raises:
        NotWritten: where something of it has no form here.
        UnsoundError: if its trees do not cover everything.
    """

    def __init__(self, proof: Proof) -> None:
        self.proof = proof
        self.variables = Variables(proof)
        self.ring = self.variables.ring
        self.texts = Texts(self.ring)
        for name in self.ring.names:
            if not _NAME.fullmatch(name):
                raise NotWritten(f"a variable has the name {name!r:.40}; they are x0, g0 and so on")
        lemmas = [(self.ring.poly(goal.polynomial), signs_of(goal.signs)) for goal in proof.lemmas]
        self.trees = Trees(proof, CheckedKnown(self.variables, tuple(lemmas)))
        self.what = {(end.face, end.node): end.what for end in self.trees.ends}
        self.args = " ".join(self.ring.names)
        self.given = list(self._given())
        self.lemmas: list[Known] = []
        self.there = {
            face.number: of_face(face, self.variables, self.texts) for face in self.trees.faces
        }

    def _given(self) -> Iterator[tuple[str, str]]:
        """The hypotheses on variables: their ranges, and what is defined."""
        for name, variable in zip(self.ring.names, self.variables.of, strict=True):
            of = f"({self.texts(variable.of)})"
            if variable.kind == "root":
                yield f"is_{name}", f"root {variable.degree} {of} {name}"
            elif variable.kind == "log":
                yield f"is_{name}", f"logarithm {of} {name}"
            elif variable.kind == "exp":
                yield f"is_{name}", f"{name} = exp ({of} / {variable.degree})"
            elif variable.low is not None and variable.high is not None:
                yield f"in_{name}", f"{literal(variable.low)} <= {name} <= {literal(variable.high)}"

    def lines(self, heading: str) -> Iterator[str]:
        """The lines of the file.

        Args:
            heading: the comment at its top.
        """
        kinds = {variable.kind for variable in self.variables.of}
        yield comment(heading)
        yield ""
        yield from SIGNS.strip().splitlines()
        for kind, text in (("root", ROOTS), ("log", LOGARITHMS), ("exp", EXPONENTIALS)):
            if kind in kinds:
                yield ""
                yield from text.strip().splitlines()
        yield ""
        if self.given:
            yield comment("What the variables are.")
            yield from self._definition("given", " /\\ ".join(text for _, text in self.given))
            yield ""
        for number, goal in enumerate(self.proof.lemmas, 1):
            yield from self._everywhere(number, goal)
        for face in sorted(self.trees.faces, key=lambda face: -len(face.substitutions)):
            yield from self._face(face)

    # Pieces of Coq.

    def _definition(self, name: str, text: str) -> list[str]:
        return wrapped(f"Definition {name} ({self.args} : R) : Prop := {text}.")

    def _statement(self, kind: str, name: str, premises: Sequence[str], end: str) -> list[str]:
        arrows = " -> ".join([*premises, end])
        return wrapped(f"{kind} {name} : forall {self.args} : R, {arrows}.")

    def _proof(self, intros: str, ends: Sequence[Step], end: str) -> Iterator[str]:
        """A proof that ends with a term, with `{0}`, … for the last steps."""
        script = Script(ends)
        yield f"Proof. {intros}."
        for line in script.lines:
            yield from wrapped(line)
        yield from wrapped(f"exact {end.format(*map(script.term, ends))}. Qed.")

    def _premises(self, face: int) -> list[tuple[str, str]]:
        """What is known of all instances of a face: hypotheses with their propositions."""
        given = [("known", f"given {self.args}")] if self.given else []
        on_face = [("face", f"on_face_{face} {self.args}")] if self.there[face].items else []
        return given + on_face

    def _intros(self, face: int, path: Hypotheses) -> str:
        face_names = [item.name for item in self.there[face].items]
        patterns = ["known"] if self.given else []
        patterns += [_pattern(face_names)] if face_names else []
        names = [self.args, *patterns, *(item.name for item in path.items)]
        if not self.given:
            return f"intros {' '.join(names)}"
        parts = [name for name, _ in self.given]
        unfolded = f". unfold given in {parts[0]}" if len(parts) == 1 else ""
        return f"intros {' '.join(names)}. pose proof known as {_pattern(parts)}{unfolded}"

    # Lemmas.

    def _everywhere(self, number: int, goal: Goal) -> Iterator[str]:
        """A polynomial that has a sign everywhere."""
        poly = self.ring.poly(goal.polynomial)
        facts = [*self.lemmas, *everywhere(self.variables, self.texts)]
        step = proved(goal, Deduced(self.variables, self.texts, facts))
        name, of = f"everywhere_{number}", self.texts(poly)
        premises = [text for _, text in self._premises(0)]
        yield from self._statement("Lemma", name, premises, f"{among(step.signs)} ({of})")
        yield from self._proof(self._intros(0, Hypotheses()), [step], "{0}")
        known = " known" if self.given else ""
        self.lemmas.append((poly, Step(step.signs, of, f"{name} {self.args}{known}")))
        yield ""

    def _face(self, face: ReadFace) -> Iterator[str]:
        """Its definitions, the lemmas of its leaves, and its theorem."""
        number, items = face.number, self.there[face.number].items
        if number:
            yield comment(f"Face {number}: the instances of which this is known.")
            texts = " /\\ ".join(item.text for item in items)
            yield from self._definition(f"on_face_{number}", texts)
        else:
            yield comment("All instances.")
        yield ""
        cases: list[str] = []
        places: dict[int, int] = {}
        for end in sorted(self.trees.ends, key=lambda end: end.node):
            if end.face == number:
                case, remark, lines = self._end(face, end)
                yield from lines
                if case is not None:
                    places[end.node] = len(cases)
                    cases.append(f"{case}{remark}")
        listed = ";\n".join(cases)
        definition = f"Definition face_{number} ({self.args} : R) : Prop := one_of [\n{listed}]."
        for line in definition.split("\n"):
            yield from wrapped(line)
        premises = self._premises(number)
        name = f"theorem_{number}" if number else "proved"
        end_text = f"face_{number} {self.args}"
        yield from self._statement("Theorem", name, [text for _, text in premises], end_text)
        known = " ".join([self.args, *(name for name, _ in premises)])
        yield f"Proof. intros {known}."
        yield from self._cover(number, 0, [], places, known)
        yield "Qed."
        yield ""

    def _end(self, face: ReadFace, end: End) -> tuple[str | None, str, list[str]]:
        """The case of an end of the tree in the theorem, a remark on it, and its lemma."""
        path = of_path(self.texts, end.path)
        facts = [item.text for item in path.items]
        what = end.what
        if not _has_lemma(what):
            remark = "nothing is proved here" if isinstance(what, Open) else "nothing is asserted"
            return " /\\ ".join(facts) or "True", f" {comment(remark)}", []
        known = [
            *self.lemmas,
            *self.there[face.number].known,
            *everywhere(self.variables, self.texts),
            *path.known,
        ]
        deduced = Deduced(self.variables, self.texts, known)
        case: list[str] | None
        if isinstance(what, Link):
            target = self.trees.faces[what.face]
            steps = linked(what, face, target, self.there[what.face], deduced)
            says = f"on_face_{what.face} {self.args}"
            proof = conjunction([f"{{{i}}}" for i in range(len(steps))])
            case = [*facts, says, f"face_{what.face} {self.args}"]
        elif isinstance(what, Leaf) and what.outcome == "empty":
            steps, says, proof, case = [impossible(what, deduced)], "False", "(none _ {0})", None
        else:
            assert isinstance(what, Leaf)
            relations = [related(goal, deduced) for goal in what.goals]
            relations = list({one.text: one for one in relations}.values())
            steps = [one.step for one in relations]
            says = " /\\ ".join(one.text for one in relations)
            proof = conjunction([one.lemma.format(f"{{{i}}}") for i, one in enumerate(relations)])
            case = [*facts, says]
        premises = [*(text for _, text in self._premises(face.number)), *facts]
        lines = [
            *self._statement("Lemma", f"leaf_{face.number}_{end.node}", premises, says),
            *self._proof(self._intros(face.number, path), steps, proof),
            "",
        ]
        return None if case is None else " /\\ ".join(case), "", lines

    # The cover.

    def _cover(
        self, face: int, node: int, facts: list[str], places: dict[int, int], known: str
    ) -> Iterator[str]:
        """Tactics by which each case of the tree is one of the theorem.

        Args:
            facts: the names of the hypotheses on the way there.
            known: the variables, and the hypotheses on all of the face.
        """
        if (face, node) not in self.trees.splits:
            yield from wrapped(self._case(face, node, facts, places, known))
            return
        poly, branches = self.trees.splits[face, node]
        if len(branches) == 1:
            yield from self._cover(face, branches[0][1], facts, places, known)
            return
        to = {text_of(signs): node for signs, node in branches}
        name, of = f"h{len(facts) + 1}", self.texts(poly)
        if len(branches) == 3:
            cases: Sequence[str] = "-0+"
            yield from wrapped(f"destruct (total_order_T ({of}) 0) as [[{name}|{name}]|{name}].")
        else:
            lemma, cases = next(cut for cut in _CUTS if set(cut[1]) == set(to))
            yield from wrapped(f"destruct ({lemma} ({of}) 0) as [{name}|{name}].")
        for signs in cases:
            yield "{"
            yield from self._cover(face, to[signs], [*facts, name], places, known)
            yield "}"

    def _case(
        self, face: int, node: int, facts: list[str], places: dict[int, int], known: str
    ) -> str:
        what = self.what[face, node]
        lemma = f"({' '.join([f'leaf_{face}_{node}', known, *facts])})"
        if node not in places:
            return f"destruct {lemma}."
        proofs = list(facts)
        if isinstance(what, Link):
            given = " known" if self.given else ""
            proofs += [lemma, f"(theorem_{what.face} {self.args}{given} {lemma})"]
        elif _has_lemma(what):
            proofs.append(lemma)
        return f"exact (ex_intro _ {places[node]}%nat {conjunction(proofs or ['I'])})."


def _pattern(names: Sequence[str]) -> str:
    """A pattern of Coq for a conjunction."""
    return names[0] if len(names) == 1 else f"({' & '.join(names)})"


def _has_lemma(what: Leaf | Link | Open) -> bool:
    """Whether anything is to be proved at an end."""
    if isinstance(what, Leaf):
        return what.outcome == "empty" or (what.outcome == "asserted" and bool(what.goals))
    return isinstance(what, Link)
