"""The trees of the faces: that they cover everything, and what is known at each of their ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rankcheck.decide.prove.checking.errors import UnsoundError, at
from rankcheck.decide.prove.checking.faces import ReadFace, check_link, read_faces
from rankcheck.decide.prove.checking.polynomials import Poly
from rankcheck.decide.prove.checking.signs import ANY, ZERO, Known, Signs, signs_of, text_of
from rankcheck.decide.prove.proof import Branch, Leaf, Link, Node, Open, Proof, Split


@dataclass(frozen=True)
class End:
    """A node without branches, and what is known there.

    Attributes:
        path: the polynomials on the way to it in its face, with the signs that they have.
    """

    face: int
    node: int
    what: Leaf | Link | Open
    known: Known
    path: tuple[tuple[Poly, Signs], ...]


class Trees:
    """The faces of a proof, of which the trees are known to cover them.

    Args:
        everywhere: what is known without any fact.

    Attributes:
        ends: every node without branches.

    Raises:
        UnsoundError: if a tree does not cover its face, a link is wrong, or an end that is not
            proved is no exception that the proof names.
    """

    def __init__(self, proof: Proof, everywhere: Known) -> None:
        self.variables = everywhere.variables
        self.faces = read_faces(proof, everywhere)
        if not self.faces:
            raise UnsoundError("it has no faces; face 0 is about all instances")
        #: By face and node: the polynomial of a split with its branches.
        self.splits: dict[tuple[int, int], tuple[Poly, tuple[tuple[Signs, int], ...]]] = {}
        self.ends = [end for face in self.faces for end in self._ends(face)]
        self.exceptions = [self.variables.ring.poly(text) for text in proof.exceptions]
        self._check_links()
        self._check_exceptions()

    def _ends(self, face: ReadFace) -> Iterator[End]:
        nodes = face.face.nodes
        reached: Counter[int] = Counter((0,))
        if not nodes:
            raise UnsoundError("it has no nodes; the tree of a face has a root", face.number)
        stack: list[tuple[int, Known, tuple[tuple[Poly, Signs], ...]]] = [(0, face.known, ())]
        while stack:
            number, known, path = stack.pop()
            node = nodes[number]
            with at(face.number, number):
                if not isinstance(node, Split):
                    yield End(face.number, number, _end(node), known, path)
                    continue
                poly = self.variables.ring.poly(node.of)
                known.require_defined(poly)
                branches = _branches(node.branches, len(nodes))
                self.splits[face.number, number] = poly, branches
                for signs, to in branches:
                    reached[to] += 1
                    if reached[to] > 1:
                        raise UnsoundError(
                            f"node {to} is reached twice; the nodes of a face form a tree"
                        )
                    step = (poly, signs)
                    stack.append((to, known.and_([step]), (*path, step)))
        if lost := [number for number in range(len(nodes)) if not reached[number]]:
            raise UnsoundError(
                f"node {lost[0]} is not reached; the nodes of a face form a tree from its first",
                face.number,
            )

    def _check_links(self) -> None:
        linked = {0}
        for end in self.ends:
            if isinstance(end.what, Link):
                with at(end.face, end.node):
                    check_link(end.what, end.known, self.faces[end.face], self.faces)
                linked.add(end.what.face)
        for number in range(len(self.faces)):
            if number not in linked:
                raise UnsoundError("no branch links to it; a face is there for its links", number)

    def _check_exceptions(self) -> None:
        """Check that what is open lies where a polynomial that the proof names is zero."""
        for poly in self.exceptions:
            if self.variables.reduced(poly).constant is not None:
                raise UnsoundError(
                    f"{self.variables.ring.text(poly)} is an exception; what is proved except "
                    "where a constant is zero is not proved, or is proved everywhere"
                )
        named = {poly.monic[0] for poly in self.exceptions}
        excused: set[int] = set()

        def excepted(end: End) -> bool:
            zeros = [poly for poly, _ in end.path if end.known.sign(poly) <= ZERO]
            return end.face in excused or any(poly.monic[0] in named for poly in zeros)

        # A face is one more entry solved for, so that links go on in this order.
        order = sorted(self.faces, key=lambda face: len(face.substitutions))
        for face in order[1:]:
            links = [
                (end, self.variables.ring.poly(end.what.zero))
                for end in self.ends
                if isinstance(end.what, Link) and end.what.face == face.number
            ]
            if all(excepted(end) or zero.monic[0] in named for end, zero in links):
                excused.add(face.number)
        for end in self.ends:
            if isinstance(end.what, Open) and not excepted(end):
                raise UnsoundError(
                    f"nothing is proved there ({end.what.reason:.200}), and no exception that the "
                    "proof names is zero there",
                    end.face,
                    end.node,
                )


def _end(node: Node) -> Leaf | Link | Open:
    if not isinstance(node, Leaf | Link | Open):
        raise UnsoundError(f"it is a {type(node).__name__}; nodes are splits, links and leaves")
    return node


def _branches(branches: tuple[Branch, ...], nodes: int) -> tuple[tuple[Signs, int], ...]:
    """The branches of a split.

    Raises:
        UnsoundError: if two have a sign in common, or one of the three is in none.
    """
    seen: Signs = frozenset()
    read = []
    for branch in branches:
        signs = signs_of(branch.signs)
        if seen & signs:
            raise UnsoundError(
                f"two branches have the sign {text_of(seen & signs)}; each sign is in one branch"
            )
        if not isinstance(branch.to, int) or not 0 <= branch.to < nodes:
            raise UnsoundError(f"a branch goes to node {branch.to!r:.20}; there are {nodes} nodes")
        seen |= signs
        read.append((signs, branch.to))
    if seen != ANY:
        raise UnsoundError(
            f"no branch has the sign {text_of(ANY - seen)}; the branches of a split have all of "
            "-0+ together"
        )
    return tuple(read)
