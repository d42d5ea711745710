"""Files of proofs that were changed: the second checker refuses what does not follow."""

import json
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import strategies as st

from rankcheck import leq
from rankcheck.claims.claim import Claim
from rankcheck.decide.prove.again import prove_again
from rankcheck.decide.prove.checking import UnsoundError
from rankcheck.decide.prove.file import ProofError, keep
from rankcheck.decide.prove.run import prove
from rankcheck.theory.instances.source import instances

from .cases import cases, refused, run
from .strategies import WHOLE_TEXTS, as_bytes, mutated, signed, torn


@instances
def pairs(source):
    return source.tensor(), source.tensor()


def product(x, y, *, factor=2):
    """Its paths are those of the sign of x y."""
    return leq(factor * (x * y).abs(), x * x + y * y)


@pytest.fixture(scope="module")
def good(here):
    """Proofs of a claim of two numbers, where they are, and the claim."""
    claim = Claim(
        id="t.pairs", kind="conjecture", body=product, instances=pairs(), title="T", statement="S"
    )
    path = keep(claim, prove(claim, seconds=60.0))
    data = json.loads(path.read_text(encoding="utf-8"))
    return data, path.with_name("changed.json"), claim


def check(good, data):
    """Check a file again in Python; of the claim, and of one that is false."""
    _, path, claim = good
    path.write_bytes(as_bytes(data))
    false = replace(claim, body=partial(product, factor=3))
    accepts(path, claim)
    assert not accepts(path, false)


def accepts(path, claim):
    """Whether the proofs of a file are accepted for a claim."""
    accepted = []
    refused((ProofError, UnsoundError), lambda: accepted.append(list(prove_again(path, claim))))
    return bool(accepted)


@pytest.mark.slow
def test_the_good_one_is_accepted(good):
    data, path, claim = good
    path.write_bytes(as_bytes(data))
    assert accepts(path, claim)


@cases(60, data=st.data())
def test_nothing_false_is_accepted(good, data):
    changed = data.draw(mutated(good[0]))
    check(good, signed(changed) if data.draw(st.integers(0, 7)) else changed)


@cases(8, data=st.data())
def test_files_that_are_cut_off(good, data):
    path = good[1]
    path.write_bytes(data.draw(torn(json.dumps(good[0])) | WHOLE_TEXTS))
    assert run("replay", path).code == 2
