"""The second checker: whether a proof proves what it says, by code that shares nothing with it."""

from __future__ import annotations

from dataclasses import dataclass

from rankcheck.claims.claim import Claim
from rankcheck.decide.prove.checking.bodies import Body
from rankcheck.decide.prove.checking.connection import Connection
from rankcheck.decide.prove.checking.errors import UnsoundError, at
from rankcheck.decide.prove.checking.goals import GoalChecker
from rankcheck.decide.prove.checking.ranges import check_range
from rankcheck.decide.prove.checking.signs import Known, Variables, text_of
from rankcheck.decide.prove.checking.trees import End, Trees
from rankcheck.decide.prove.proof import Goal, Leaf, Open, Proof

#: Random points of each face; instances of the scope.
POINTS, SCOPE = 40, 729
#: From the weakest to the strongest: what a leaf of a proof may need.
METHODS = ("algebra", "squares")


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What the second checker did before it accepted a proof.

    Attributes:
        points: points of the cells at which proof and body say the same.
        undecided: points that were left out, as a sign or a side is not decided there.
        leaves: the leaves of all faces that may have instances.
        reached: how many of them some point is in.
        scope, scope_of: instances with entries −1, 0 and 1 that were compared, of how many.
        identities: identities that were expanded.
        open: ends of which nothing is proved.
        instances: of a proof without entries, the instances that were decided again.
    """

    points: int = 0
    undecided: int = 0
    leaves: int = 0
    reached: int = 0
    scope: int = 0
    scope_of: int = 0
    identities: int = 0
    open: int = 0
    instances: int = 0

    @property
    def sentence(self) -> str:
        """What was checked, for people."""
        if self.instances:
            one = "instance was" if self.instances == 1 else "instances were"
            return f"{self.instances} {one} decided again"
        text = (
            f"{_counted(self.identities, 'identity', 'identities')} expanded; "
            f"body and proof agree at {_counted(self.points, 'point', 'points')}, in "
            f"{self.reached} of {_counted(self.leaves, 'leaf', 'leaves')}"
        )
        if self.scope_of:
            text += f", {self.scope} of {self.scope_of} instances with entries from −1, 0 and 1"
        if self.undecided:
            text += f"; {_counted(self.undecided, 'point', 'points')} left out as undecided"
        return text


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def check(
    claim: Claim, proof: Proof, *, seed: int = 0, points: int = POINTS, scope: int = SCOPE
) -> Checked:
    """Check a proof of a claim.

    That the trees cover everything, that each sign follows, and that each goal is about the sides
    of its leaf is checked for all instances. That these sides are those of the body is checked at
    points: of each face, of each leaf where some can be found, and of the scope.

    Args:
        seed: of the points.
        points: how many random points of each face are tried.
        scope: how many instances with entries −1, 0 and 1 are compared at most.

    Raises:
        UnsoundError: if something of it does not follow, or the body says something else.
    """
    if proof.method == "range" or not proof.entries:
        return Checked(instances=check_range(claim, proof))
    variables = Variables(proof)
    lemmas = GoalChecker(Known(variables))
    trees = Trees(proof, Known(variables, tuple(map(lemmas.lemma, proof.lemmas))))
    if proof.paths not in (len(trees.ends), sum(isinstance(e.what, Leaf) for e in trees.ends)):
        raise UnsoundError(
            f"it says {proof.paths} paths, and its trees have {len(trees.ends)} ends"
        )
    identities = lemmas.identities + _check_leaves(trees, proof, lemmas.methods)
    connection = Connection(
        Body(claim, tuple(proof.integers), len(proof.entries)), proof, trees, seed
    )
    connection.compare(points)
    connection.compare_scope(scope)
    connection.require_some()
    connection.check_kinds()
    connection.check_exceptions()
    leaves = [
        end for end in trees.ends if isinstance(end.what, Leaf) and end.what.outcome != "empty"
    ]
    return Checked(
        points=connection.points,
        undecided=connection.undecided,
        leaves=len(leaves),
        reached=sum((end.face, end.node) in connection.reached for end in leaves),
        scope=connection.scope[0],
        scope_of=connection.scope[1],
        identities=identities,
        open=sum(isinstance(end.what, Open) for end in trees.ends),
    )


def _check_leaves(trees: Trees, proof: Proof, methods: set[str]) -> int:
    """Check the leaves; how many identities were expanded.

    Args:
        methods: those that the lemmas needed.
    """
    identities, methods = 0, {"algebra", *methods}
    leaves = [end for end in trees.ends if isinstance(end.what, Leaf)]
    for end in leaves:
        with at(end.face, end.node):
            checker = GoalChecker(end.known)
            _check_leaf(end, checker)
            identities += checker.identities
            methods |= checker.methods
    needed = max(methods, key=METHODS.index)
    if proof.method not in METHODS or METHODS.index(proof.method) < METHODS.index(needed):
        raise UnsoundError(f"its method is {proof.method}, and a leaf of it needs {needed}")
    return identities


def _check_excluded(goal: Goal, checker: GoalChecker) -> None:
    """Check that what is known on a path says that a negative number is not negative."""
    poly, signs = checker.lemma(goal)
    if poly.constant is None or not poly.constant < 0 or -1 in signs:
        raise UnsoundError(
            f"no instance is said to be on a path because {goal.polynomial} has the signs "
            f"{goal.signs}; that excludes a path if it is a negative number, with other signs"
        )


def _check_leaf(end: End, checker: GoalChecker) -> None:
    leaf = end.what
    assert isinstance(leaf, Leaf)
    if leaf.outcome == "asserted":
        for goal in leaf.goals:
            checker.check(goal)
        return
    if leaf.outcome == "empty" and len(leaf.goals) == 1 and not leaf.of:
        _check_excluded(leaf.goals[0], checker)
        return
    if leaf.goals:
        raise UnsoundError(f"a path that is {leaf.outcome} has goals; nothing is asserted there")
    if leaf.outcome == "outside":
        return
    if leaf.outcome != "empty":
        raise UnsoundError(f"the outcome of a path is {leaf.outcome!r:.40}")
    poly = end.known.variables.ring.poly(leaf.of)
    facts = [fact for fact, _ in end.known.facts]
    if not any(map(end.known.impossible, (poly, *facts))):
        raise UnsoundError(
            f"no instance is said to be there, and what is known on the path does not exclude one: "
            f"{leaf.of} may be {text_of(end.known.deduced(poly))}"
        )
