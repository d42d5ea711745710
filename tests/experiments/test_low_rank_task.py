"""rank.figure-1: what is trained and measured, against numpy, and what is made of the record."""

import math
from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file

from rankcheck.experiments.figures.low_rank_task import (
    CENTRED,
    GAIN,
    HE,
    bend_inside,
    bend_outside,
    dimension,
    middle,
    near_one,
)
from rankcheck.experiments.figures.tasks import latent_task
from rankcheck.experiments.records import recorded
from rankcheck.experiments.result import AuditFacts, Run
from rankcheck.experiments.stack import generators

from .toy import changed

NAME = "rank.figure-1"


def layers(path):
    """Weights and biases of a kept network, as numpy arrays."""
    found = load_file(path)
    weights = sorted(name for name in found if name.endswith("weight"))
    return [(found[name], found[name.replace("weight", "bias")]) for name in weights]


@pytest.mark.slow
def test_the_measurements_are_those_of_the_kept_network(tiny):
    result, folder = tiny(NAME)
    for run in result.runs:
        said = run.settings
        (x,), (y,) = latent_task(
            generators([run.seed]),
            said["points"],
            latent=said["latent"],
            inputs=said["size"],
            used=said["used"],
            outputs=said["size"],
        )
        x, y = x.double().numpy(), y.double().numpy() / math.sqrt(said["size"])
        found: dict[str, list[float]] = {
            "ranks": [],
            "gaps": [],
            "centred_ranks": [],
            "centred_gaps": [],
        }
        bent = []
        kept = layers(folder / "networks" / f"{run.part}-{run.seed}.safetensors")
        for W, b in kept[:-1]:
            before = x @ W.T + b
            x = np.maximum(before, 0)
            bent.append(np.linalg.norm(before - x) / np.linalg.norm(before))
            for which, Z in (("", x), ("centred_", x - x.mean(0))):
                s = np.linalg.svd(Z, compute_uv=False)
                rank = int((s > 0.05 * s[0]).sum())
                found[f"{which}ranks"].append(rank)
                found[f"{which}gaps"].append(s[rank - 1] / s[rank] if rank < len(s) else 1e9)
        W, b = kept[-1]
        error = ((x @ W.T + b - y) ** 2).sum() / (y**2).sum()
        assert run.measured["error"] == pytest.approx(error, rel=1e-4)
        assert run.measured["bends"] == pytest.approx(bent, rel=6e-3)
        for name, values in found.items():
            assert run.measured[name] == pytest.approx(values, rel=6e-3)
        assert run.audit.cost == pytest.approx(
            sum((W**2).sum() + (b**2).sum() for W, b in kept), rel=1e-4
        )


def made(ranks, gaps, bent=(), near=(), used=4):
    measured = {"ranks": ranks, "gaps": gaps, "bends": bent}
    measured |= {"centred_ranks": [rank + 1 for rank in ranks], "centred_gaps": gaps}
    facts = AuditFacts(0.0, 0, tuple(near), {}, ())
    return Run("rank-4", 0, {"depth": 13, "used": used}, measured, facts)


def test_what_counts_as_the_rank_of_the_task():
    """The layers 4 to 9 of 12 hidden ones decide, and a gap below ten does not."""
    assert list(middle(13)) == [4, 5, 6, 7, 8, 9]
    ends = [9, 9, 9], [7, 7, 7]
    inside = [4] * 6
    gaps = [1.0] * 3 + [20.0] * 6 + [1.0] * 3
    assert dimension(made([*ends[0], *inside, *ends[1]], gaps)) == 4
    assert dimension(made([*ends[0], *inside, *ends[1]], gaps), CENTRED) == 5
    assert dimension(made([*ends[0], *[4] * 5, 5, *ends[1]], gaps)) is None
    assert dimension(made([*ends[0], *inside, *ends[1]], [9.0] * 12)) is None
    bent = [0.5] + [0.1] * 2 + [0.01] * 5 + [0.02] + [0.1] * 2 + [0.4]
    near = [1, 2, 3, 4, 4, 4, 4, 4, 4, 3, 2, 1, 0]
    run = made([4] * 12, gaps, bent, near)
    assert (bend_inside(run), bend_outside(run), near_one(run)) == (0.02, 0.4, [4] * 6)


def test_each_criterion_of_the_claim_can_fail(failing):
    deep = recorded(NAME).where(used=4, depth=13, gain=HE)
    assert not failing(deep)

    def broken(audit=None, **measured):
        return failing(changed(run, audit, **measured) for run in deep)

    ranks = list(deep[0].measured["ranks"])
    spread = ["the dimension in the middle", "singular values near 1"]
    assert broken(error=0.2) == ["the data are fitted"]
    assert broken({"rank": 5}) == ["the rank of the Jacobian"]
    assert broken(ranks=[*ranks[:5], 6, *ranks[6:]]) == spread
    assert broken(gaps=[5.0] * 12) == spread
    assert broken(centred_gaps=[5.0] * 12) == spread[:1]
    assert broken({"near_one": (6,) * 13}) == spread[1:]
    assert broken(bends=[0.4] * 12) == ["nearly linear in the middle"]


def test_the_starts_end_differently(failing):
    """Of the small start the claim says one thing alone, and the others would be false."""
    small = recorded(NAME).where(used=4, depth=13, gain=GAIN)
    assert not failing(small)
    assert failing(changed(run, bends=[0.4] * 12) for run in small) == [
        "nearly linear in the middle"
    ]
    of_large = [replace(run, settings={**run.settings, "gain": HE}) for run in small]
    assert {"the data are fitted", "the dimension in the middle"} <= set(failing(of_large))
