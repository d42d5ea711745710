"""Breaks of proofs: of what proves, of the second checker, and of the controls."""

from rankcheck.decide.algebra.cell import Cell, Linked
from rankcheck.decide.prove import controls
from rankcheck.decide.prove.checking import faces, trees
from rankcheck.decide.prove.checking.connection import Connection
from rankcheck.decide.prove.checking.goals import GoalChecker
from rankcheck.decide.prove.checking.signs import ANY, Known
from rankcheck.decide.prove.checking.trees import Trees

from .table import Break, around, put

CHECKING = "decide/prove/test_checking.py::"
REFUSED, CONTROLS = f"{CHECKING}test_a_forgery_is_refused", "decide/prove/test_controls.py::"


def first_of_a_product(vanishes, cell, f):
    """Of what is zero, the first entry is."""
    occurring = cell.ring.occurring(f)
    if occurring and occurring[-1] < cell.ring.entries:
        raise Linked(f, occurring[0], cell.ring.zero, cell.ring.one)


BREAKS = (
    Break("proofs", "x p = 0 is read as x = 0",
          "decide/prove/test_mutants.py::test_what_is_false_on_a_thin_cell_is_not_proved",
          around(Cell, "_vanishes", first_of_a_product)),
    Break("proofs", "nothing is proved",
          f"{CHECKING}test_what_the_engine_proves_is_accepted",
          around(Cell, "of", lambda of, cell, p: 7)),
    Break("proofs", "links are not checked", REFUSED,
          put(trees, "check_link", lambda *_: None)),
    Break("proofs", "a link divides by anything", REFUSED,
          put(faces, "NOT_ZERO", ANY)),
    Break("proofs", "branches need not cover everything",
          REFUSED, put(trees, "_branches", lambda branches, nodes: tuple(
              (trees.signs_of(one.signs), one.to) for one in branches))),
    Break("proofs", "certificates are believed", REFUSED,
          put(GoalChecker, "_check_sign", lambda *_: None)),
    Break("proofs", "all signs are known", REFUSED,
          put(Known, "deduced", lambda self, poly, depth=0: frozenset((1,)))),
    Break("proofs", "a goal may have any polynomial", REFUSED,
          put(GoalChecker, "_check_sides", lambda *_: None)),
    Break("proofs", "sides are not compared with the body",
          REFUSED, put(Connection, "_same", lambda *_: True)),
    Break("proofs", "the body is not asked", REFUSED,
          put(Connection, "_agrees", lambda *_: True)),
    Break("proofs", "open paths count as proved", REFUSED,
          put(Trees, "_check_exceptions", lambda self: None)),
    Break("proofs", "no instance refutes a mutant",
          f"{CONTROLS}test_a_false_mutant_that_is_proved_stops",
          put(controls, "refutation", lambda *_: None)),
    Break("proofs", "a false mutant may be proved",
          f"{CONTROLS}test_a_false_mutant_that_is_proved_stops",
          put(controls, "denies", lambda *_: False)),
)  # fmt: skip
