"""Certifies the instances of an existing certificate again, without a search.

This brings a certificate up to date after its claim or the format has changed, and stores the
certificate of a conjecture that is now declared as refuted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankcheck.catalogue.entry import shown_path
from rankcheck.claims.claim import Claim
from rankcheck.claims.kinds import FALSE
from rankcheck.counterexamples import certificate as certificates
from rankcheck.counterexamples.certificate import LEFT, CertificateError
from rankcheck.counterexamples.given import NotRefutedError, from_choices, instances_of
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.replay import family_of


@dataclass(frozen=True, eq=False)
class Recertified:
    """A certificate that was written again.

    Attributes:
        path: where it is stored.
        origin: the certificate that its instances are from.
        violation: that of the smallest instance.
        changed: whether anything in the file has changed.
    """

    path: Path
    origin: Path
    violation: Instance
    changed: bool


def recertify(claim: Claim, folder: Path | None = None) -> Recertified:
    """Certify the instances of an existing certificate for the claim as it now stands.

    The certificate is the stored one of a refuted claim. If none is stored, because the claim was
    declared as refuted just now, it is the one that a run left in `.rankcheck`. If nothing but
    the versions would change, the file is not written.

    Args:
        folder: where to write, by default where the certificate of the claim belongs.

    Raises:
        CertificateError: if there is no certificate, or it cannot be read.
        ChoicesError: if its instances do not fit the generator.
        DisagreementError: if balls prove that one refutes the claim, and floats contradict them.
        NotRefutedError: if one of its instances does not refute the claim. Nothing is written.
        OSError: if the file cannot be written.
    """
    folder = folder or certificates.folder_of(claim)
    origin = _origin(claim)
    proved: dict[str, Instance] = {}
    for name, given in instances_of(origin).items():
        family = family_of(claim, given.family or "")
        try:
            proved[name] = from_choices(claim, given.choices, family=family)
        except NotRefutedError as error:
            raise NotRefutedError(
                f"the {name} instance of {shown_path(origin)}: {error}"
            ) from error
    smallest, worst = proved["smallest"], proved.get("worst")
    path = folder / f"{claim.id}.json"
    changed = not _is_up_to_date(path, certificates.contents(folder, smallest, worst))
    if changed:
        certificates.write(folder, smallest, worst)
    return Recertified(path, origin, smallest, changed)


def _origin(claim: Claim) -> Path:
    """The certificate of a claim, stored or left by a run.

    Raises:
        CertificateError: if there is neither.
    """
    left = LEFT / f"{claim.id}.json"
    places = [certificates.stored_path(claim), left] if claim.kind in FALSE else [left]
    for path in places:
        if path.is_file():
            return path
    raise CertificateError(
        f"no certificate at {' or '.join(map(shown_path, places))}. To certify numbers of your "
        "own: rankcheck certify CLAIM --instance '[...]'; to search: rankcheck certify CLAIM"
    )


def _is_up_to_date(path: Path, fields: dict[str, object]) -> bool:
    """Whether a file is the certificate with these fields, apart from the versions."""
    try:
        old = certificates.load_json(path)
    except CertificateError:
        return False
    if not isinstance(old, dict):
        return False
    fields = {**fields, "versions": old.get("versions")}
    return old == {**fields, "sha256": certificates.digest(fields)}
