"""What the scripts of this folder share: training, what is measured, records, and panels.

A *part* is networks of one shape that are trained side by side. A run draws its data and its first
weights from the seed of the run alone, so that it depends on no other one.

    MKL_CBWR=AUTO python examples/figures/SCRIPT [--seed N] [--quick] [--folder DIR] [--draw RECORD]

trains, and leaves in the folder the record, which the claim of its name reads, and the figures. The
numbers are the same in every run on one processor with one version of torch; without MKL_CBWR the
last digits may differ. With `--draw` a record is drawn, and nothing is trained.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from rankcheck.linalg import rank_threshold, singular_values
from rankcheck.networks import Network, leaky

#: Singular values up to this share of the largest one count as zero, as in `rankcheck audit`.
TOLERANCE = 0.05
#: The error and the cost are kept at so many steps of a training.
KEPT = 60
#: Told apart by those who see few colours (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
GREY = "#777777"
STYLE: dict[str, Any] = {"font.size": 8, "axes.titlesize": 9, "svg.fonttype": "none"}


class Part(NamedTuple):
    """Networks that are trained side by side: what is trained, and a seed for each."""

    name: str
    settings: dict[str, Any]
    seeds: tuple[int, ...]


#: What was measured on a run, and what only its figure needs.
Measured = tuple[dict[str, Any], dict[str, Any]]
#: A run as it is recorded: part, seed, settings, measured, drawn.
Run = dict[str, Any]


def generators(seeds: Iterable[int]) -> list[torch.Generator]:
    """A generator of random numbers for each seed."""
    return [torch.Generator().manual_seed(seed) for seed in seeds]


class Stack:
    """R networks f(x) = W_L σ(··· σ(W_1 x + b_1) ···) + b_L of one shape, as parameters of torch.

    Args:
        weights: L tensors (R, n_l, n_{l−1}).
        biases: of each layer, a tensor (R, n_l), or None for a layer without biases.
        linear: so many of the first hidden layers have no activation.
    """

    def __init__(
        self, weights: Sequence[Tensor], biases: Sequence[Tensor | None], *, linear: int = 0
    ) -> None:
        self.weights, self.biases, self.linear = list(weights), list(biases), linear

    @classmethod
    def random(
        cls, widths: Sequence[int], draws: Sequence[torch.Generator], gain: float = math.sqrt(2)
    ) -> Stack:
        """Independent normal weights of standard deviation gain/√n_{l−1}, and biases 0.

        Run r draws from `draws[r]` alone. The gain √2 is that of He.
        """

        def normal(rows: int, columns: int) -> Tensor:
            drawn = [torch.randn(rows, columns, generator=each) for each in draws]
            return torch.stack(drawn) * (gain / math.sqrt(columns))

        weights = [normal(rows, columns) for columns, rows in pairwise(widths)]
        return cls(weights, [torch.zeros_like(W[..., 0]) for W in weights])

    @property
    def parameters(self) -> list[Tensor]:
        """The weights, then the biases that there are."""
        return [*self.weights, *(b for b in self.biases if b is not None)]

    def __call__(self, x: Tensor) -> Tensor:
        """f(x), shape (R, N, n_L), for points (R, N, n_0)."""
        for number, (W, b) in enumerate(self._maps()):
            x = leaky(x, 0.0) if number else x
            x = x @ W.mT if b is None else torch.baddbmm(b.unsqueeze(-2), x, W.mT)
        return x

    def _maps(self) -> list[tuple[Tensor, Tensor | None]]:
        """The affine maps between the activations: linear layers are multiplied out."""
        first, *rest = zip(self.weights, self.biases, strict=True)
        for V, c in rest[: self.linear]:
            W, b = first
            b = None if b is None else (V @ b.unsqueeze(-1)).squeeze(-1)
            first = V @ W, b if c is None else c if b is None else b + c
        return [first, *rest[self.linear :]]

    def costs(self) -> Tensor:
        """‖θ‖² of each run, (R)."""
        return torch.stack([p.flatten(1).square().sum(-1) for p in self.parameters]).sum(0)

    def networks(self) -> list[Network]:
        """The networks in float64; their linear layers are multiplied out."""
        exact = [None if p is None else p.detach().double() for p in (*self.weights, *self.biases)]
        weights, biases = exact[: len(self.weights)], exact[len(self.weights) :]
        maps = Stack(weights, biases, linear=self.linear)._maps()
        return [
            Network(
                tuple(W[run] for W, _ in maps),
                tuple(W[run, :, 0] * 0 if b is None else b[run] for W, b in maps),
            )
            for run in range(len(self.weights[0]))
        ]


def train(
    stack: Stack,
    error: Callable[[Tensor], Tensor],
    x: Tensor,
    ridge: float,
    steps: int,
    rate: float,
    *,
    warm: int = 100,
    last: float = 0.01,
) -> tuple[list[int], Tensor, Tensor]:
    """Minimise error(f(x)) + ridge ‖θ‖² for each run of a stack, by Adam on all points at once.

    Args:
        error: of the outputs (R, N, n_L), the error of each run, (R).
        rate: the largest learning rate. It is reached after `warm` steps and then falls like half
            a cosine to the share `last` of it.

    Returns:
        At up to `KEPT` steps their numbers (K), the errors and the ‖θ‖² of each run, (K, R).

    Raises:
        FloatingPointError: if a parameter is not finite in the end.
    """
    parameters = [p.requires_grad_() for p in stack.parameters]
    adam = torch.optim.Adam(parameters, lr=1.0, foreach=True)
    at = {round((steps - 1) * k / (KEPT - 1)) for k in range(KEPT)}
    kept: list[tuple[int, Tensor, Tensor]] = []
    torch.set_flush_denormal(True)  # weights of dead neurons decay to them, and they are slow
    with torch.enable_grad():
        for step in range(steps):
            bend = (1 + math.cos(math.pi * step / steps)) / 2
            begin = min(1.0, (step + 1) / max(warm, 1))
            adam.param_groups[0]["lr"] = rate * begin * (last + (1 - last) * bend)
            adam.zero_grad()
            errors, costs = error(stack(x)), stack.costs()
            (errors + ridge * costs).sum().backward()
            adam.step()
            if step in at:
                kept.append((step, errors.detach(), costs.detach()))
    torch.set_flush_denormal(False)
    if not all(bool(torch.isfinite(each).all()) for each in parameters):
        raise FloatingPointError("the training diverged; a smaller rate may help")
    numbers, all_errors, all_costs = zip(*kept, strict=True)
    return list(numbers), torch.stack(all_errors), torch.stack(all_costs)


def shallow_network(n: int, m: int, width: int, draw: torch.Generator) -> tuple[Tensor, ...]:
    """A random shallow ReLU network R^n → R^m of one hidden layer, as (W, b, V).

    Entries are independent and normal: W with variance 1/n, b with variance 1/4, V with variance
    2/width. The documents say "random parameters" and no more.
    """
    W = torch.randn(width, n, generator=draw) / n**0.5
    b = torch.randn(width, generator=draw) / 2
    V = torch.randn(m, width, generator=draw) * (2 / width) ** 0.5
    return W, b, V


def learners(part: Part, used: int, gain: float) -> tuple[Tensor, Tensor, Stack]:
    """Points x = g(z), values y = h(z_1, ..., z_k), both (R, N, size), and networks to learn them.

    z has `latent` independent normal entries, k is `used`, and g, h are shallow networks of 100
    hidden units, drawn anew for each run. Where g is injective, x ↦ y is h ∘ g⁻¹, whose bottleneck
    rank is at most k. Both have mean 0; x has entries of mean square 1, y mean squared norm 1.
    """

    def standard(net: tuple[Tensor, ...], z: Tensor) -> Tensor:
        W, b, V = net
        values = torch.relu(z @ W.mT + b) @ V.mT
        centred = values - values.mean(0)
        return centred / centred.square().mean().sqrt()

    settings, draws = part.settings, generators(part.seeds)
    size, latent, xs, ys = settings["size"], settings["latent"], [], []
    for draw in draws:
        z = torch.randn(settings["points"], latent, generator=draw)
        g = shallow_network(latent, size, 100, draw)
        h = shallow_network(used, size, 100, draw)
        xs.append(standard(g, z))
        ys.append(standard(h, z[:, :used]) / size**0.5)
    widths = [size, *[settings["width"]] * (settings["depth"] - 1), size]
    return torch.stack(xs), torch.stack(ys), Stack.random(widths, draws, gain)


def numerical_ranks(A: Tensor, s: Tensor) -> Tensor:
    """Of matrices A (*B, m, n) with singular values s, how many are above `TOLERANCE`, (*B)."""
    return (s > rank_threshold(A, s, TOLERANCE * s[..., 0])).sum(-1)


def jacobian_rank(net: Network, X: Tensor) -> int:
    """The numerical rank of Jf at most points X (N, n_0); the smallest if there are several."""
    J = net.jacobian(X)
    counts = Counter(numerical_ranks(J, singular_values(J)).tolist())
    return min(counts, key=lambda rank: (-counts[rank], rank))


def near_one(net: Network) -> list[int]:
    """Of each layer, how many singular values of W_ℓ are within 1/4 of 1."""
    return [int(((singular_values(W) - 1).abs() <= 0.25).sum()) for W in net.weights]


def short(values: Tensor, digits: int = 3) -> Any:
    """Nested lists of numbers of so many significant digits."""
    if values.ndim:
        return [short(each, digits) for each in values]
    return float(f"{float(values):.{digits}g}")


def make(
    name: str,
    parts: Callable[[int], Sequence[Part]],
    run: Callable[[Part], Iterable[Measured]],
    draw: Callable[[Sequence[Run]], Mapping[str, Figure]],
    quick: Mapping[str, Any],
) -> None:
    """The command line of a script: train, write the record, draw.

    Args:
        name: of the record, the id of its claim.
        parts: what is trained, by the seed. Seed 0 is the pilot.
        run: trains a part and measures its networks, in the order of their seeds.
        draw: figures of the runs, by name.
        quick: settings of `--quick`, which trains one network of each part, of depth 4 at most.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1, help="0 is the pilot (default 1)")
    parser.add_argument("--quick", action="store_true", help="tiny networks, to see that it runs")
    parser.add_argument("--folder", type=Path, default=Path("figures"), help="what is written")
    parser.add_argument("--draw", metavar="RECORD", type=Path, help="draw a record; train nothing")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.draw:
        runs = json.loads(args.draw.read_text(encoding="utf-8"))["runs"]
    else:
        runs = []
        for part in parts(args.seed):
            if args.quick:
                small = {**part.settings, **quick, "depth": min(part.settings["depth"], 4)}
                part = Part(part.name, small, part.seeds[:1])
            since = time.monotonic()
            for seed, (measured, drawn) in zip(part.seeds, run(part), strict=True):
                one = {"part": part.name, "seed": seed, "settings": part.settings}
                runs.append(one | {"measured": measured} | ({"drawn": drawn} if drawn else {}))
            print(f"{part.name}: trained in {time.monotonic() - since:.0f} s", flush=True)
        options = f"--seed {args.seed}{' --quick' * args.quick}"
        head = {
            "experiment": name,
            "command": f"MKL_CBWR=AUTO python examples/figures/{Path(sys.argv[0]).name} {options}",
            "made": datetime.date.today().isoformat(),
            "versions": {"python": platform.python_version(), "torch": torch.__version__},
            "pilot": sorted({seed for part in parts(0) for seed in part.seeds}),
        }
        lines = [json.dumps(one, allow_nan=False) for one in runs]
        # Six significant digits: more than two machines agree on.
        runs = [json.loads(s, parse_float=lambda x: float(f"{float(x):.6g}")) for s in lines]
        text = ",\n".join(json.dumps(one, ensure_ascii=False) for one in runs)
        text = f'{json.dumps(head, indent=1)[:-2]},\n "runs": [\n{text}\n]}}\n'
        (args.folder / f"{name}.json").write_text(text, encoding="utf-8")
    with rc_context(STYLE):
        for which, figure in draw(runs).items():
            figure.savefig(args.folder / f"{name}-{which}.svg", metadata={"Date": None})
    print(f"written to {args.folder}")


def where(runs: Iterable[Run], **settings: Any) -> list[Run]:
    """The runs with these settings."""
    return [run for run in runs if settings.items() <= run["settings"].items()]


def panels(
    rows: int, columns: int, *, height: float = 2.6, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, and its axes row by row; pyplot is not used."""
    figure = Figure(figsize=(7.4, rows * height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **options).flat)


def joined(lines: Iterable[Sequence[Sequence[float]]]) -> tuple[list[float], list[float]]:
    """Lines of points in the plane as one, with gaps between them: x and y of a `plot`."""
    points = [point for line in lines for point in (*line, (math.nan, math.nan))]
    return [x for x, _ in points], [y for _, y in points]


def spectra(axes: Axes, layers: Sequence[Sequence[float]], first: int, label: str) -> None:
    """The i-th singular value against the layer, a line for each i: the first ones in colour."""
    for i in reversed(range(max(map(len, layers)))):
        points = [(number, s[i]) for number, s in enumerate(layers, 1) if i < len(s)]
        colour = COLOURS[0] if i < first else GREY
        axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.2 if i < first else 0.7)
    axes.set(xlabel="layer", ylabel=label, ylim=(0, None), xlim=(0.5, len(layers) + 0.5))
