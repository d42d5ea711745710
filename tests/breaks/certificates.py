"""Breaks of certificates: of what is written, of the replay by field, and of making them small."""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace

from rankcheck.claims.claim import Claim
from rankcheck.counterexamples import certificate, describe, instance, reporting
from rankcheck.counterexamples.shrinking import violations
from rankcheck.instances import choices
from rankcheck.verification import check

from .table import around, everywhere, noticed

replay = import_module(
    "rankcheck.counterexamples.replay"
)  # the package has a function of that name


def as_stated(patch, *names):
    """Believe some fields of a certificate, whatever its numbers give."""

    def prove(original, path, claim, stated, made_with):
        def section(violation):
            return {**certificate.section(violation), **{n: stated[n] for n in names}}

        with patch.context() as inner:
            inner.setattr(replay, "section", section)
            return original(path, claim, stated, made_with)

    around(patch, replay, "_prove", prove)


@noticed(
    "replay",
    canary="certificate: checksum",
    test="verification/test_check.py::test_a_refuted_claim_needs_its_certificate",
)
def certificates_are_not_replayed(patch):
    def believed(replayed, path, *, claim):
        if not path.exists():
            return replayed(path, claim=claim)
        stated = json.loads(path.read_text(encoding="utf-8"))["smallest"]
        return SimpleNamespace(changed=False, smallest=stated)

    around(patch, check, "replay", believed)


@noticed(
    "replay",
    canary="certificate: checksum",
    test="counterexamples/test_certificate.py::test_every_single_change_is_noticed",
)
def a_checksum_is_not_compared(patch):
    patch.setattr(certificate, "digest", _Anything)


class _Anything(str):
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


@noticed(
    "replay",
    canary='certificate: smallest, lhs "[45.19 +/- ',
    test="counterexamples/test_certificate.py::test_every_single_change_is_noticed",
)
def the_sides_of_a_certificate_are_believed(patch):
    as_stated(patch, "lhs", "rhs", "excess")


@noticed(
    "replay",
    canary='certificate: smallest, description "x = 4"',
    test="counterexamples/test_certificate.py::test_a_field_that_is_not_what_its_numbers_give",
)
def the_description_of_a_certificate_is_believed(patch):
    as_stated(patch, "description")


@noticed(
    "replay",
    canary="certificate: smallest, relation 0",
    test="counterexamples/test_certificate.py::test_every_single_change_is_noticed",
)
def the_relation_of_a_certificate_is_believed(patch):
    as_stated(patch, "relation", "kind", "label")


@noticed(
    "replay",
    canary="certificate: smallest, instance [1]",
    test="counterexamples/test_certificate.py::test_a_field_that_is_not_what_its_numbers_give",
)
def an_instance_that_proves_nothing_replays(patch):
    around(
        patch,
        replay,
        "_prove",
        lambda prove, path, claim, stated, _: (
            replay._instance(path, claim, stated).in_balls,
            stated["description"],
        ),
    )


@noticed(
    "replay",
    canary="certificate: worst, instance [1]",
    test="counterexamples/test_certificate.py::test_a_field_that_is_not_what_its_numbers_give",
)
def the_worst_instance_of_a_certificate_is_not_proved(patch):
    around(patch, replay, "read", lambda read, path: {**read(path), "worst": None})


@noticed(
    "replay",
    canary='certificate: claim "canary.othe',
    test="counterexamples/test_certificate.py::test_another_claim",
)
def a_certificate_of_another_claim_replays(patch):
    def read(original, path):
        return {**original(path), "claim": _Anything("any")}

    around(patch, replay, "read", read)


@noticed(
    "replay",
    canary='certificate: statement_sha256 "00000000000',
    test="counterexamples/test_certificate.py::test_a_claim_that_has_changed_is_judged_as_it_is_now",
)
def a_claim_that_has_changed_has_not(patch):
    def changed(original, *arguments, **options):
        return replace(original(*arguments, **options), changed=False)

    original = replay.replay
    everywhere(patch, original, lambda *a, **k: changed(original, *a, **k))


@noticed(
    "replay",
    canary='certificate: statement "another sta',
    test="counterexamples/test_certificate.py::test_every_single_change_is_noticed",
)
def the_statement_of_a_certificate_is_not_compared(patch):
    def read(original, path):
        data = original(path)
        return {**data, "statement": _Anything(data["statement"])}

    around(patch, replay, "read", read)


@noticed(
    "replay",
    canary="the text of a body",
    test="counterexamples/test_certificate.py::test_stored_certificates_prove_their_claims_false",
)
def the_hash_of_a_claim_leaves_out_its_body(patch):
    digest = property(lambda self: hashlib.sha256(self.statement.encode()).hexdigest())
    patch.setattr(Claim, "statement_hash", digest)


@noticed(
    "certificate",
    canary="exact numbers",
    test="counterexamples/test_certificate.py::test_it_holds_exact_numbers_and_both_instances",
)
def a_certificate_has_rounded_numbers(patch):
    def rounded(given):
        if isinstance(given, list):
            return [rounded(one) for one in given]
        if isinstance(given, str):
            return round(float(Fraction(given)), 3)
        return round(given, 3) if isinstance(given, float) else given

    original = choices.write_choices
    everywhere(patch, original, lambda record: rounded(original(record)))


@noticed(
    "certificate",
    canary="certificate: smallest, instance [1]",
    test="verification/test_check.py::test_a_nan_is_undecided",
)
def an_undecided_violation_counts_as_proved(patch):
    proved = property(lambda self: self.in_balls.finding != "outside")
    patch.setattr(instance.Instance, "proved", proved)


@noticed(
    "certificate",
    canary="exact numbers",
    test="counterexamples/test_certificate.py::test_an_excess_is_rounded_down",
)
def the_excess_of_a_certificate_is_rounded_up(patch):
    original = describe.rounded_down
    everywhere(patch, original, lambda x: original(x * (1 + Fraction(1, 10**15))))


@noticed(
    "certificate",
    canary="exact numbers",
    test="counterexamples/test_smallest.py::test_a_smaller_certificate_is_kept",
)
def a_larger_counterexample_replaces_a_smaller_one(patch):
    patch.setattr(reporting, "smaller_certificate", lambda *_: None)


@noticed(
    "shrinking",
    canary="made small",
    test="counterexamples/test_smallest.py::test_the_worst_is_the_smallest_where_shrinking_made_it_worse",
)
def nothing_is_made_small(patch):
    patch.setattr(reporting, "shrink_violation", lambda violation, budget: (violation, None))


@noticed(
    "shrinking",
    canary="made small",
    test="counterexamples/test_shrinking.py::test_networks_end_at_one_neuron",
)
def shapes_are_not_cropped(patch):
    patch.setattr(violations, "crop", lambda family, record, *_: record)


@noticed(
    "shrinking",
    why="Hypothesis simplifies entries, too",
    test="counterexamples/test_shrinking.py::test_the_first_descent_uses_the_screen_alone",
)
def entries_are_not_simplified(patch):
    patch.setattr(violations, "simplify_entries", lambda record, *_: record)


@noticed(
    "shrinking",
    canary="made small",
    test="counterexamples/test_smallest.py::test_half_of_the_violation_is_kept",
)
def what_is_made_small_need_not_be_a_counterexample(patch):
    def anything(shrink, family, record, interesting, **options):
        return shrink(family, record, lambda candidate: True, **options | {"screen": None})

    around(patch, violations, "shrink_record", anything)


@noticed(
    "shrinking",
    canary="made small",
    test="counterexamples/test_smallest.py::test_half_of_the_violation_is_kept",
)
def what_is_made_small_may_hardly_be_a_counterexample(patch):
    patch.setattr(violations, "KEEP", Fraction(0))
