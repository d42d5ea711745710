"""What is drawn lies where the mathematics says, by numpy, closed forms and Decimal."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import combinations

import networkx  # type: ignore[import-untyped]
import numpy as np
import pytest
import torch

from rankcheck.catalogue.collect import project
from rankcheck.claims.reference import paper
from rankcheck.report.charts.bounds import bounds
from rankcheck.report.charts.excess import DEPTHS, GAMMAS, excess
from rankcheck.report.charts.graph import edges, graph
from rankcheck.report.charts.layers import layers
from rankcheck.report.charts.margin import margin
from rankcheck.report.charts.phi import phi
from rankcheck.report.charts.regions import SIZE, _network, regions
from rankcheck.report.charts.singular import DEPTH, singular
from rankcheck.report.charts.singular import _network as balanced
from rankcheck.report.charts.spread import spread
from rankcheck.report.charts.widths import widths
from rankcheck.stored import StoredError
from rankcheck.verification.ledger import Ledger, RelationFacts, Row

#: Half a tenth of a unit, and the same of the tick that is measured from.
ROUNDING = 0.11


def test_bounds_are_at_their_ratios(read):
    facts = [
        RelationFacts("a", ratio=0.99, tight_ratio=1.0000001),
        RelationFacts("b", ratio=0.0, tight_ratio=0.999),
        RelationFacts("c", ratio=0.9),
    ]
    rows = [
        Row(id=id_, title="X", kind="bound", verdict="holds", relations=tuple(some))
        for id_, some in (("rank.x", facts[:2]), ("rank.y", facts[2:]))
    ]
    drawing = read(bounds(Ledger(tuple(rows), "quick", 0, 1.0, {})).svg)
    height = {text: drawing.tick(text, "y") for text in ("0", "0.9", "0.99", "0.999", "1")}
    links = {link.get("href"): link for link in drawing.all("a")}
    assert set(links) == {"#claim-rank.x", "#claim-rank.y"}

    def dots(link):
        inside = [child for child in links[link] if "spot" in child.get("class", "")]
        return {child.get("class").split()[1]: drawing.points(child) for child in inside}

    x, y = dots("#claim-rank.x"), dots("#claim-rank.y")
    # From left to right the ratios 0, 0.9, 0.99.
    assert [h for _, h in x["s1"]] == pytest.approx([height["0"], height["0.99"]], abs=ROUNDING)
    assert [h for _, h in x["s2"]] == pytest.approx([height["0.999"], height["1"]], abs=ROUNDING)
    assert [h for _, h in y["s1"]] == pytest.approx([height["0.9"]], abs=ROUNDING)
    assert x["s1"][0][0] < y["s1"][0][0] < x["s1"][1][0]
    assert links["#claim-rank.x"][0].text == "rank.x; 0.999 b"


@pytest.mark.parametrize(("kind", "bins"), [("leq", 40), ("eq", 20)])
def test_spread_has_a_bar_for_each_count(read, kind, bins):
    counts = [0] * bins
    counts[3], counts[4], counts[-1] = 100, 1, 10_000
    drawing = read(spread(RelationFacts(kind=kind, spread=tuple(counts))).svg)
    (path,) = drawing.all("path", "bars")
    places = {}
    for text, _, y in drawing.texts():
        places[text] = y
    words = path.get("d").replace("M", " M").replace("V", " V").replace("H", " H").split()
    tops = [float(word[1:]) for word in words if word.startswith("V")]
    foot = max(tops)
    tall, one, most = (y for y in tops if y != foot)
    # On a logarithmic axis a hundred is as far above one as ten thousand is above a hundred.
    assert one - tall == pytest.approx(tall - most, abs=1.1)
    assert one - tall == pytest.approx(places["1"] - places["100"], abs=1.1)
    ends = [float(word[1:]) for word in words if word.startswith("H")]
    assert ends[1] - ends[0] == pytest.approx((ends[2] - ends[0]) / (bins - 4), abs=0.6)


def test_layers_end_at_the_closed_forms(read):
    drawing = read(layers().svg)
    value = drawing.scale("y", (0, "0"), (4, "4"))
    depth = drawing.scale("x", (4, "4"), (128, "128"), log=True)

    def costs(series):
        points = drawing.series("line", series)
        return {round(depth(x)): value(y) for x, y in points}

    for L in (4, 16, 128):
        # R(2) = 2·2 − 1; |x| costs L + 2; diag(6, 1.5) costs L Σ s^{2/L}.
        assert costs(1)[L] == pytest.approx(3 / L, abs=0.01)
        assert costs(2)[L] == pytest.approx(1 + 3 / L, abs=0.01)
        assert costs(3)[L] == pytest.approx(1 + 2 / L, abs=0.01)
        assert costs(4)[L] == pytest.approx(6 ** (2 / L) + 1.5 ** (2 / L), abs=0.01)
    # The band of the shear ends at Σ s^{2/L} over the singular values of its Jacobian.
    s = np.linalg.svd(np.array([[1, 0, 0], [0, 1, 0], [1, -1, 1]]), compute_uv=False)
    (band,) = drawing.all("path", "band", "s5")
    last = drawing.points(band)[-1]
    assert value(last[1]) == pytest.approx((s ** (2 / 4)).sum(), abs=0.01)


def test_phi_of_rank_one_is_a_power_of_the_path_norm(read):
    drawing = read(phi().svg)
    value = drawing.scale("y", (0, "0"), (10, "10"))
    depth = drawing.scale("x", (2, "2"), (32, "32"), log=True)
    points = drawing.series("dots", 2)
    assert len(points) == 10
    for x, y in points:
        # The rows (3, 0, 0) and (2, 0, 0) with the outer weights 2 and 3.
        assert value(y) == pytest.approx(12 ** (2 / depth(x)), abs=0.03)
    # At depth two Φ is the path norm: here four rows of length √1.25 with outer weights 1.
    assert value(drawing.series("dots", 1)[0][1]) == pytest.approx(4 * 1.25**0.5, abs=0.03)


def test_excess_is_that_of_the_closed_forms(read):
    drawing = read(excess().svg)
    value = drawing.scale("y", (0, "0"), (6, "6"))
    drawn = [[value(y) for _, y in drawing.series("line", n)] for n in (1, 2, 3, 4)]
    for place, L in enumerate(DEPTHS):
        p = np.arange(L + 1) / L
        kernels = [1 - p + p * s * s for s in (4.0, 1.5)]
        interpolated = sum((k[1:] / k[:-1]).sum() - L for k in kernels)
        assert drawn[0][place] == pytest.approx(interpolated, abs=0.01)
        balanced = sum(L * (s ** (2 / L) - 1) for s in (4.0, 1.5))
        assert drawn[1][place] == pytest.approx(balanced, abs=0.01)
        for gamma, line in zip(GAMMAS, drawn[2:], strict=True):
            r = math.exp(L**-gamma)
            layer = 2 * (r**2 - 1) + (r**-4 - 1) + 2 * (r**-2 - 1) + (r**4 - 1)
            tail = 2 * r ** -(L - 2) + r ** (-2 * (L - 2))
            assert line[place] == pytest.approx(layer * (L - 2) / 2 + tail, abs=0.01)
    (rule, _) = drawing.all("path", "dash", "s0")
    assert value(drawing.points(rule)[0][1]) == pytest.approx(2 * math.log(6), abs=0.01)


def test_singular_values_and_distances_of_a_layer(read):
    drawing = read(singular().svg)
    value = drawing.scale("y", (0, "0"), (1, "1"))
    first = [value(y) for _, y in drawing.series("dots", 1)]
    distance = [value(y) for _, y in drawing.series("line", 2)]
    assert len(first) == 2 * len(distance) == 2 * DEPTH
    # An identity layer that is balanced neuron by neuron is diagonal; its space is the whole plane.
    middle = DEPTH // 2
    s = np.array(first[2 * middle : 2 * middle + 2])
    assert distance[middle] == pytest.approx(np.sqrt(((s - 1) ** 2).sum()), abs=0.01)
    net, _ = balanced()
    weights = [W.numpy() for W in net.weights]
    expected = [s for W in weights for s in np.linalg.svd(W, compute_uv=False)[:2]]
    assert first == pytest.approx(expected, abs=0.01)
    entering = [(W * W).sum(1) + b.numpy() ** 2 for W, b in zip(weights, net.biases, strict=True)]
    for before, after in zip(entering[:-1], weights[1:], strict=True):
        np.testing.assert_allclose(before, (after * after).sum(0), rtol=1e-9)  # it is balanced
    (bound,) = drawing.all("path", "dash", "s2")
    mean = math.sqrt(np.mean(np.square(distance)))
    assert mean < value(drawing.points(bound)[0][1]) < 2 * mean


def test_regions_tile_the_square_and_have_the_ranks_of_autograd(read):
    drawing = read(regions().svg)
    value = {
        "x": drawing.scale("x", (-4, "−4"), (4, "4")),
        "y": drawing.scale("y", (-4, "−4"), (4, "4")),
    }
    polygons = []
    for k, series in enumerate((0, 3, 1)):
        (path,) = drawing.all("path", "cell", f"s{series}")
        for part in path.get("d").split("z")[:-1]:
            pairs = [pair.split(" ") for pair in part.lstrip("M").split("L")]
            corners = np.array([[value["x"](float(x)), value["y"](float(y))] for x, y in pairs])
            polygons.append((k, corners))
    turned = [np.roll(corners, -1, axis=0) for _, corners in polygons]
    area = 0.0
    for (_, corners), turn in zip(polygons, turned, strict=True):
        area += abs((corners[:, 0] * turn[:, 1] - corners[:, 1] * turn[:, 0]).sum()) / 2
    assert area == pytest.approx((2 * SIZE) ** 2, rel=0.01)

    net = _network()

    def f(x):
        for W, b in zip(net.weights[:-1], net.biases[:-1], strict=True):
            x = torch.relu(W @ x + b)
        return net.weights[-1] @ x + net.biases[-1]

    seen = set()
    generator = torch.Generator().manual_seed(0)
    for x in (torch.rand(60, 2, dtype=torch.float64, generator=generator) * 2 - 1) * SIZE:
        rank = np.linalg.matrix_rank(torch.autograd.functional.jacobian(f, x).numpy(), tol=1e-9)
        ranks = set()
        for (k, corners), turn in zip(polygons, turned, strict=True):
            edge, to = turn - corners, x.numpy() - corners
            sides = edge[:, 0] * to[:, 1] - edge[:, 1] * to[:, 0]
            if (sides > 0.05).all() or (sides < -0.05).all():
                ranks.add(k)
        assert ranks <= {rank}
        seen |= ranks
    assert seen == {0, 1, 2}


def test_widths_cross_where_the_formulas_do(read):
    drawing = read(widths().svg)
    d = drawing.scale("x", (0, "0"), (60, "60"))
    width = drawing.scale("y", (1, "1"), (1e25, "10²⁵"), log=True)
    (dot,) = drawing.series("dots", 1)
    assert d(dot[0]) == pytest.approx(44, abs=0.05)

    # The formula of the slides at |F − N|² = ε, with N_{d,n} as a difference of binomials.
    pi, e = Decimal(math.pi), Decimal(1).exp()
    tau = 1 / (5 * e * pi)
    delta, B = (tau * tau / 2).sqrt(), Decimal(2) ** 44
    n = 44 * 44
    harmonics = Decimal(math.comb(44 + n - 1, 43) - math.comb(44 + n - 3, 43))
    gain = (tau * tau - delta * delta) / (2 * tau)
    exact = (harmonics.sqrt() * gain - B) / (B * B * (1 + Decimal(176).sqrt()))
    assert math.log10(width(dot[1])) == pytest.approx(float(exact.log10()), abs=0.02)

    enough = {round(d(x)): width(y) for x, y in drawing.series("line", 2)}
    for at in (10, 60):
        formula = 16 * math.pi * at**5 * 50 * math.e**2 * math.pi**2
        assert math.log10(enough[at]) == pytest.approx(math.log10(formula), abs=0.02)
    assert {"d = 44", "d = 39"} <= {text for text, _, _ in drawing.texts()}


def test_the_margin_goes_down_in_steps(read):
    told = [("a", 100, 0.5), ("b", 200, 1e-3), ("a", 1000, 1e-6), ("b", 2000, 0.0), ("a", 4000, -1)]
    history = [{"strategy": s, "instances": n, "margin": m} for s, n, m in told]
    drawing = read(margin({"history": history, "counts": {"evaluated": 10_000}}).svg)
    at = drawing.scale("x", (100, "100"), (10_000, "10⁴"), log=True)
    value = drawing.scale("y", (1e-6, "10⁻⁶"), (1, "1"), log=True)
    a = [(at(x), y) for x, y in drawing.series("dots", 1)]
    assert [x for x, _ in a] == pytest.approx([100, 1000, 4000], rel=0.01)
    assert [value(y) for _, y in a[:2]] == pytest.approx([0.5, 1e-6], rel=0.02)
    assert a[2][1] == pytest.approx(drawing.tick("< 0", "y"), abs=ROUNDING)
    b = drawing.series("dots", 2)
    assert b[1][1] == pytest.approx(drawing.tick("0", "y"), abs=ROUNDING)
    stairs = drawing.series("line", 1)
    assert [at(x) for x, _ in stairs] == pytest.approx([100, 1000, 1000, 4000, 4000, 1e4], rel=0.01)
    heights = [y for _, y in stairs]
    assert heights[0::2] == heights[0:1] + heights[2:3] + heights[4:5]
    assert [heights[1], heights[3], heights[5]] == [heights[0], heights[2], heights[4]]


@pytest.mark.parametrize(
    "history",
    ["no list", [1], [{"strategy": "a"}], [{"strategy": "a", "instances": 1, "margin": math.nan}]],
)
def test_what_is_no_history_is_refused(history):
    with pytest.raises(StoredError):
        margin({"history": history})


def test_the_graph_has_an_arc_for_each_edge(read):
    entries = project()
    expected = networkx.Graph()
    for entry in entries:
        if entry.corrected_by:
            expected.add_edge(entry.id, entry.corrected_by)
    for one, other in combinations(entries, 2):
        if one.witness and one.witness == other.witness:
            expected.add_edge(one.id, other.id)
    found = networkx.Graph([edge[:2] for edge in edges(entries)])
    # Of n claims with one witness n − 1 pairs are drawn; they hang together all the same.
    components = {frozenset(part) for part in networkx.connected_components(expected)}
    assert {frozenset(part) for part in networkx.connected_components(found)} == components

    drawing = read(graph(entries).svg)
    assert len(drawing.all("path", "line")) == len(edges(entries))
    assert {link.get("href") for link in drawing.all("a")} == {f"#claim-{id_}" for id_ in expected}
    place = {link[1].text: float(link[1].get("y")) - 4 for link in drawing.all("a")}
    for group in drawing.all("g"):
        title, path = group
        wrong, _, right = title.text.partition(" is corrected by ")
        if right:
            ends = drawing.points(path)
            names = [id_.partition(".")[2] for id_ in (wrong, right)]
            assert [place[name] for name in names] == pytest.approx([ends[0][1], ends[-1][1]])
    assert paper("rank", "x").key in [text for text, _, _ in drawing.texts()]
