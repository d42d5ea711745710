"""Breaks of certificates: of what is written, of the replay by field, and of making them small."""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from unittest.mock import patch as patched

from rankcheck.claims.catalogue import kept
from rankcheck.claims.claim import Claim
from rankcheck.engine.counterexamples import certificate, describe, instance, reporting
from rankcheck.engine.counterexamples.shrinking import violations
from rankcheck.engine.verification import check
from rankcheck.theory.instances import choices

from .table import Break, around, everywhere, put

# The package has a function of that name.
replay = import_module("rankcheck.engine.counterexamples.replay")
CERTIFICATE = "engine/counterexamples/test_certificate.py::"
SMALLEST, SHRINKING = (
    "engine/counterexamples/test_smallest.py::",
    "engine/counterexamples/test_shrinking.py::",
)


class Anything(str):
    """A text that is equal to all others."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


def as_stated(*names):
    """Believe some fields of a certificate, whatever its numbers give."""

    def prove(original, path, claim, stated, made_with):
        def section(violation):
            return {**certificate.section(violation), **{n: stated[n] for n in names}}

        with patched.object(replay, "section", section):
            return original(path, claim, stated, made_with)

    return around(replay, "_prove", prove)


def read_as(change):
    """Change what is read of each certificate."""
    return around(replay, "read", lambda read, path: (data := read(path)) | change(data))


def believed(replayed, path, *, claim):
    if not path.exists():
        return replayed(path, claim=claim)
    stated = json.loads(path.read_text(encoding="utf-8"))["smallest"]
    instance = replay._instance(path, claim, stated)
    return SimpleNamespace(changed=False, smallest=stated, instance=instance)


def proving_nothing(prove, path, claim, stated, _):
    return replay._instance(path, claim, stated), stated["description"]


def rounded(given):
    if isinstance(given, list):
        return [rounded(one) for one in given]
    if isinstance(given, str):
        return round(float(Fraction(given)), 3)
    return round(given, 3) if isinstance(given, float) else given


def shrunk_to_anything(shrink, family, record, interesting, **options):
    return shrink(family, record, lambda candidate: True, **options | {"screen": None})


BREAKS = (
    Break("replay", "certificates are not replayed",
          "engine/verification/test_check.py::test_a_refuted_claim_needs_its_certificate",
          around(check, "replay", believed)),
    Break("replay", "a checksum is not compared",
          f"{CERTIFICATE}test_every_single_change_is_noticed",
          put(kept, "digest", Anything)),
    Break("replay", "the sides of a certificate are believed",
          f"{CERTIFICATE}test_every_single_change_is_noticed", as_stated("lhs", "rhs", "excess")),
    Break("replay", "an instance that proves nothing replays",
          f"{CERTIFICATE}test_a_field_that_is_not_what_its_numbers_give",
          around(replay, "_prove", proving_nothing)),
    Break("replay", "the worst instance of a certificate is not proved",
          f"{CERTIFICATE}test_a_field_that_is_not_what_its_numbers_give",
          read_as(lambda data: {"worst": None})),
    Break("replay", "a certificate of another claim replays", f"{CERTIFICATE}test_another_claim",
          read_as(lambda data: {"claim": Anything("any")})),
    Break("replay", "a claim that has changed has not",
          f"{CERTIFICATE}test_a_claim_that_has_changed_is_judged_as_it_is_now",
          everywhere(replay.replay, lambda of, *a, **options:
                     replace(of(*a, **options), changed=False))),
    Break("replay", "the statement of a certificate is not compared",
          f"{CERTIFICATE}test_every_single_change_is_noticed",
          read_as(lambda data: {"statement": Anything(data["statement"])})),
    Break("replay", "the hash of a claim leaves out its body",
          f"{CERTIFICATE}test_stored_certificates_prove_their_claims_false",
          put(Claim, "statement_hash",
              property(lambda self: hashlib.sha256(self.statement.encode()).hexdigest()))),
    Break("certificate", "a certificate has rounded numbers",
          f"{CERTIFICATE}test_it_holds_exact_numbers_and_both_instances",
          everywhere(choices.write_choices, lambda write, record: rounded(write(record)))),
    Break("certificate", "an undecided violation counts as proved",
          "engine/verification/test_check.py::test_a_nan_is_undecided",
          put(instance.Instance, "proved",
              property(lambda self: self.in_balls.finding != "outside"))),
    Break("certificate", "the excess of a certificate is rounded up",
          f"{CERTIFICATE}test_an_excess_is_rounded_down",
          everywhere(describe.rounded_down, lambda of, x: of(x * (1 + Fraction(1, 10**15))))),
    Break("certificate", "a larger counterexample replaces a smaller one",
          f"{SMALLEST}test_a_smaller_certificate_is_kept",
          put(reporting, "smaller_certificate", lambda *_: None)),
    Break("shrinking", "shapes are not cropped",
          f"{SHRINKING}test_64_by_64_comes_down_to_its_corner",
          put(violations, "crop", lambda family, record, *_: record)),
    Break("shrinking", "entries are not simplified",
          f"{SHRINKING}test_the_first_descent_uses_the_screen_alone",
          put(violations, "simplify_entries", lambda record, *_: record)),
    Break("shrinking", "what is made small need not be a counterexample",
          f"{SMALLEST}test_half_of_the_violation_is_kept",
          around(violations, "shrink_record", shrunk_to_anything)),
    Break("shrinking", "what is made small may hardly be a counterexample",
          f"{SMALLEST}test_half_of_the_violation_is_kept", put(violations, "KEEP", Fraction(0))),
)  # fmt: skip
