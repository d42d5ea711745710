"""Exact algebra proves what is true at a shape, and nothing that is false anywhere in it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from rankcheck import leq
from rankcheck.claims.claim import Claim
from rankcheck.claims.variants import mutant
from rankcheck.decide.prove.checking.check import check
from rankcheck.decide.prove.checking.errors import UnsoundError
from rankcheck.decide.prove.exact.algebra import prove_shape
from rankcheck.decide.prove.proof import Open, Proof
from rankcheck.decide.prove.settings import Settings, Unproved
from rankcheck.linalg import rank, singular_values
from rankcheck.theory.instances.scope import ScopeShape, shapes
from rankcheck.theory.instances.source import Source, instances

Toys = Callable[[str], Claim]
#: No test rests on a clock.
SETTINGS = Settings(seconds=600.0, paths=400)


def shape_of(claim: Claim) -> ScopeShape:
    assert claim.instances is not None
    return shapes(claim.instances, 9).shapes[0]


def attempt(claim: Claim, settings: Settings = SETTINGS) -> Proof | Unproved:
    return prove_shape(claim, shape_of(claim), settings)


def proved(claim: Claim, settings: Settings = SETTINGS) -> Proof:
    proof = attempt(claim, settings)
    assert isinstance(proof, Proof), proof
    check(claim, proof)
    return proof


TRUE = (
    "triangle",
    "means",
    "strict",
    "product-zero-true",
    "inverse",
    "range",
    "either",
    "rank",
    "logarithm",
    "exponential",
    "nuclear",
)


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_at_a_shape_is_proved(toys: Toys, name: str) -> None:
    assert proved(toys(name)).exceptions == ()


def test_where_signs_do_not_decide_squares_do(toys: Toys) -> None:
    assert proved(toys("three-products")).method == "squares"


@pytest.mark.parametrize(
    "name", ["strict-at-zero", "product-zero", "too-sharp-a-logarithm", "too-sharp-an-exponential"]
)
def test_what_is_false_somewhere_is_not_proved(toys: Toys, name: str) -> None:
    found = attempt(toys(name))
    assert isinstance(found, Unproved) or found.exceptions


def test_a_false_mutant_is_not_proved(toys: Toys) -> None:
    assert isinstance(attempt(mutant(toys("means"), "2.1 ab")), Unproved)


def test_what_has_no_value_on_a_thin_cell_is_proved_but_for_that(toys: Toys) -> None:
    proof = proved(toys("unequal"))
    assert proof.exceptions == ("x0 - x1",)
    assert any(isinstance(node, Open) for face in proof.faces for node in face.nodes)


def test_what_is_not_zero_on_a_face_is_not_on_the_faces_behind_it(toys: Toys) -> None:
    """The rank of A times that of B: an entry is solved for where another is not zero."""
    assert proved(toys("sylvester")).exceptions == ()


def test_ranges_that_are_hypotheses_are_named(toys: Toys) -> None:
    [entry] = proved(toys("range")).entries
    assert (entry.low, entry.high, entry.bounded) == ("1/2", "3/4", True)
    assert not any(entry.bounded for entry in proved(toys("triangle")).entries)


@pytest.mark.parametrize("forged", [{"degree": 1}, {"degree": 3}, {"of": "2*x0"}, {"kind": "ball"}])
def test_another_exponential_is_refused(toys: Toys, forged: dict[str, Any]) -> None:
    proof = proved(toys("exponential"))
    [definition] = proof.definitions
    with pytest.raises(UnsoundError):
        check(toys("exponential"), replace(proof, definitions=(replace(definition, **forged),)))


def two(x: Any) -> Any:
    """A root, which may be undefined, beside a square."""
    return torch.stack([x[..., 0].sqrt(), x[..., 1] ** 2], -1)


@instances
def vectors(source: Source) -> Any:
    return source.tensor(2)


UNDEFINED: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: two(x).sort(-1).values[..., 1],
    "descending": lambda x: two(x).sort(-1, descending=True).values[..., 1],
    "argsort": lambda x: two(x).argsort(-1)[..., 0],
    "kthvalue": lambda x: two(x).kthvalue(2, -1).values,
    "quantile": lambda x: two(x).quantile(1.0, -1),
    "eigvalsh": lambda x: torch.linalg.eigvalsh(torch.diag_embed(two(x)))[..., 1],
    "svdvals": lambda x: singular_values(torch.diag_embed(two(x)))[..., 1],
    "rank": lambda x: rank(torch.stack([two(x), 1 + 0 * two(x)], -2)),
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_nothing_is_ordered_that_may_be_undefined(declare: Any, name: str) -> None:
    """Where a root is one of a negative number, torch gives NaN, and the bound fails."""
    claim = declare(lambda x: leq(0 * x[..., 0], UNDEFINED[name](x)), vectors())
    found = attempt(claim)
    assert isinstance(found, Unproved), found
