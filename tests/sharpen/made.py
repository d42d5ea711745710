"""Made-up sharpenings, as JSON: one for each state that a reader meets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from rankcheck.claims.signs import SIGNS

CLAIM = "rank.jacobian-bounds-cost"


def instance(ratio: str = "0.26013004751144445", key: tuple[int, ...] = (1,), **values) -> dict:
    """An instance with its certified ratio."""
    return {
        "ratio": ratio,
        "high": ratio,
        "value": float(ratio),
        "family": "networks_at_points()",
        "choices": [1, [[1.0]]],
        "description": f"depth {key[0]}, slope 0, W_1 = [[1]], b_1 = [0], x = [1/2]",
        "lhs": "1/4",
        "rhs": "31/32",
        "relation": 0,
        "bits": 128,
        "key": list(key),
        **values,
    }


def relation(*ratios: str, **values) -> dict:
    """A relation whose best ratio at depth 1, 2, … is the first, the second, …."""
    groups = [{"key": [n], "best": instance(ratio, (n,))} for n, ratio in enumerate(ratios, 1)]
    best = max((one["best"] for one in groups), key=lambda one: one["value"], default=None)
    sign = SIGNS[values.get("kind", "leq")]
    most = Fraction((values.get("best", best) or {"ratio": "-1"})["ratio"])
    return {
        "refuted": most >= 1 if sign.strict else most > (1 if sign.bound else 0),
        "name": "relation 1",
        "label": "",
        "kind": "leq",
        "best": best,
        "small": best,
        "special": [],
        "how": "attained",
        "by": groups,
        "looks_like": [],
        "trend": None,
        "growing": [],
        "record": None,
        "history": [],
        "measured": 1.0,
        "why": "",
        **values,
    }


def sharpened(*relations: dict, **values) -> dict[str, Any]:
    """A sharpening of these relations."""
    return {
        "schema": 1,
        "claim": CLAIM,
        "title": r"The cost bounds $\|Jf(x)\|$",
        "statement": r"$\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$ for every *x*.",
        "statement_sha256": "0" * 64,
        "file": "properties/rank/jacobian_bounds_cost.py",
        "seed": 0,
        "budget": 10.0,
        "seconds": 9.84,
        "shapes": 360,
        "counts": {"evaluated": 123456, "rejected": 0},
        "by": ["depth of net"],
        "interrupted": False,
        "troubles": {},
        "relations": list(relations),
        "dial": None,
        "certificate": None,
        "record_file": None,
        **values,
    }


def probe(value: str, refuted: bool, ratio: str | None, **values) -> dict:
    """One value of a dial that was tried."""
    shown = instance(ratio, (3,)) if ratio else None
    return {"value": value, "refuted": refuted, "ratio": ratio, "instance": shown} | {
        "instances": 120000,
        **values,
    }


def dial(*probes: dict, **values) -> dict:
    """A dial with these probes; its intervals are those of the probes."""

    def ends(refuted: bool) -> list[str] | None:
        found = [one["value"] for one in probes if one["refuted"] is refuted]
        return [found[0], found[-1]] if found else None

    return {
        "name": "exponent",
        "low": "0",
        "high": "1",
        "whole": False,
        "probes": list(probes),
        "false": ends(True),
        "survived": ends(False),
        "monotone": True,
        **values,
    }


def loose() -> dict:
    """A bound that could be stronger: a number that is recognised, records, history, all of it."""
    found = relation(
        "0.24", "0.26013004751144445", "0.25",
        special=["W_1 is a multiple of an orthogonal matrix", "b_1 = 0"],
        looks_like=[{"text": "1/(√2 e)", "latex": r"\frac{1}{\sqrt{2} e}", "digits": 16}],
        record="0.26",
        history=[[0.2, 0.05], [0.5, 0.2], [1.5, 0.25], [4.0, 0.26013004751144445]],
    )  # fmt: skip
    return sharpened(found, record_file="records/rank.jacobian-bounds-cost.json")


def sharp() -> dict:
    """A bound that is attained."""
    return sharpened(relation("0.5", "0.75", "1", record="1"))


def refuted() -> dict:
    """A bound that is false, in one of two relations, and what is seen as depth grows."""
    ratios = ("1", "1.1349429220", "1.2071067811865475", "1.2519244")
    false = relation(
        *ratios, name="upper", label="upper",
        small=instance("1.25192", (4,), description="depth 4, slope 0, W_1 = [[1]], x = [1]"),
        trend={"limit": 1.3862943, "error": 0.004, "next": [5, 1.2802],
               "model": "a polynomial of degree 2 in 1/depth"},
    )  # fmt: skip
    fine = relation("0.9", "0.95", "0.96", "0.97", name="lower", label="lower", kind="lt")
    path = ".rankcheck/rank.jacobian-bounds-cost.json"
    return sharpened(false, fine, certificate=path)


def unbounded() -> dict:
    """A ratio that grows with the instance."""
    grown = [
        instance(str(10**n), (n,), description=f"x = [{10**n}]", lhs=str(10**n), rhs="1")
        for n in range(1, 7)
    ]
    return sharpened(relation("0.5", "10", "1000000", growing=grown))


def nothing() -> dict:
    """A body without a ball form."""
    return sharpened(relation(why="the body uses torch.svd, which has no ball form"))


def vanishing() -> dict:
    """A bound that fails where its right side vanishes, in one relation also elsewhere."""
    why = "it fails where its right side is not positive, so that no factor repairs it"
    partly = relation("0.5", name="partly", label="partly", refuted=True)
    wholly = relation(name="wholly", label="wholly", refuted=True, why=why)
    return sharpened(wholly, partly, certificate=".rankcheck/rank.jacobian-bounds-cost.json")


def identity() -> dict:
    """An identity that holds, and one that does not."""
    deviates = relation("0", "0.25", kind="eq", name="trace", label="trace")
    return sharpened(relation("0", "0", kind="eq", name="sum", label="sum"), deviates)


def interrupted() -> dict:
    """A run that was stopped, with troubles."""
    troubles = {"polish: a gradient raised RuntimeError": 3}
    counts = {"evaluated": 100, "rejected": 20}
    return loose() | {
        "interrupted": True, "seconds": 3.21, "troubles": troubles, "counts": counts,
    }  # fmt: skip


def frontier() -> dict:
    """A dial with false values below, and values that survived above."""
    probes = [
        probe("0", True, "4"),
        probe("1/3", True, "1.2"),
        probe("2/5", True, "1.0312345678901234"),
        probe("9/20", False, "0.98765432109876543"),
        probe("1", False, None),
    ]
    return sharpened(dial=dial(*probes))


def all_false() -> dict:
    """A dial that is false for every value."""
    return sharpened(dial=dial(probe("0", True, "4"), probe("1", True, "1.5")))


def jagged() -> dict:
    """A dial whose answer is not monotone, and that is about whole numbers."""
    probes = [probe("1", True, "1.5"), probe("2", False, "0.5"), probe("3", True, "1.25")]
    shown = dial(*probes, name="rank", low="1", high="3", whole=True, monotone=False)
    return sharpened(dial=shown)


#: All states, by name.
STATES: Mapping[str, Callable[[], dict]] = {
    made.__name__: made
    for made in (
        loose, sharp, refuted, unbounded, nothing, vanishing, identity, interrupted, frontier,
        all_false, jagged,
    )
}  # fmt: skip


def odd(text: str) -> dict:
    """A sharpening all of whose texts are the given one."""
    shown = instance("1.5", description=text, family=text)
    found = relation(
        "1.5", "1.25", name=text, label=text, best=shown, small=shown, special=[text],
        looks_like=[{"text": text, "latex": text, "digits": 9}], growing=[shown], why=text,
        trend={"limit": 2.0, "error": 0.1, "next": [3, 1.9], "model": text},
    )  # fmt: skip
    turned = dial(probe("0", True, "4"), probe("1", False, None), name=text, sentence=text)
    return sharpened(
        found, relation(name=text, label=text, why=text), dial=turned, claim=text, title=text,
        statement=text, file=text, by=[text], troubles={text: 1}, certificate=text,
        record_file=text,
    )  # fmt: skip
