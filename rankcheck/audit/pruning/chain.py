r"""A chain that becomes smaller, step by step, and what each step takes for granted.

Write α = σ_a(Wx + b) for a hidden layer and y = Vα + c for the affine map behind it.

* A neuron that is nowhere above 0 is 0 there if a = 0, and is left out. So is one whose outgoing
  weights, a column of V, are all 0.
* Neurons i, j with (w_j, b_j) = t (w_i, b_i) and t > 0 have α_j = t α_i: the columns of V are
  added in this proportion, and j is left out.
* Of the neurons that are linear, α_i = s_i (w_i x + b_i) with s_i ∈ {1, a}, those whose w_j =
  Σ C_ji w_i is a combination of the others' are left out, and V and c take over. The rows that stay
  are found by a QR decomposition with pivots, for which the numbers C_ji are of moderate size.
* Of the neurons S that are ≥ 0, and so linear, each row k of V sees u_k^+ − u_k^−, with
  u_k^± = Σ_j (V_kj)_± α_j. These at most 2p neurons are ≥ 0 wherever those of S are, because their
  coefficients are. They take the place of S where they are fewer and cost no more.
* If all neurons of a layer are linear, y = V S (Wx + b) + c is one affine map. It takes the place
  of two where it has no more entries than they have.

The first step keeps the numbers as they are; the others round new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from rankcheck.audit.pruning.signs import Claim, Signs
from rankcheck.linalg import frobenius_squared
from rankcheck.networks import Network

__all__ = ["Chain"]

#: Numbers that differ by so many roundings, relative to the largest of their row, are equal.
ROUNDINGS = 8


class Chain:
    """The affine maps of a chain, which the steps replace.

    Attributes:
        weights, biases: of the affine maps that are left.
        removed: how many neurons were left out, by the reason: `dead`, `without outgoing weights`,
            `proportional to another one`, `combinations of other linear ones`,
            `linear ones that the next layer does not tell apart`,
            `between layers that were joined`.
        joined: the names of the two affine maps, each time that one took the place of two.
        claims: the signs that the steps took for granted.
        rounded: whether a step rounded new numbers.
    """

    def __init__(self, net: Network, names: Sequence[str]) -> None:
        self.weights = list(net.weights)
        self.biases = list(net.biases)
        self.removed: Counter[str] = Counter()
        self.joined: list[tuple[str, str]] = []
        self.claims: set[Claim] = set()
        self.rounded = False
        self._slope = float(net.slope)
        self._names = list(names)
        # Of each hidden layer: which one it was, and which of its neurons are left; −1 is one that
        # `_gather` made.
        self._layers = list(range(net.depth - 1))
        self._neurons = [torch.arange(n) for n in net.widths[1:-1]]

    @property
    def net(self) -> Network:
        """The network as it is now."""
        return Network.unchecked_slope(self.weights, self.biases, self._slope)

    def shrink(self, signs: Signs) -> None:
        """Take all steps that these signs allow, until there are no more."""
        while self._sweep(signs):
            pass

    def _sweep(self, signs: Signs) -> bool:
        before = self.removed.total()
        i = 0
        while i < len(self._layers):
            self._leave_out(i, (self.weights[i + 1] == 0).all(0), "without outgoing weights")
            if self._slope == 0:
                self._leave_out(i, self._known(i, signs.below, False), "dead", -1)
            self._merge(i)
            self._fold(i, signs)
            self._gather(i, signs)
            if not self._join(i, signs):
                i += 1
        return self.removed.total() > before

    def _known(self, i: int, known: Sequence[Tensor], made: bool) -> Tensor:
        """What is known of the neurons that are left; of those that were made, `made`."""
        neurons = self._neurons[i]
        return torch.where(neurons < 0, made, known[self._layers[i]][neurons.clamp(min=0)])

    def _claim(self, i: int, which: Tensor, sign: int) -> None:
        layer, neurons = self._layers[i], self._neurons[i][which].tolist()
        self.claims.update((layer, neuron, sign) for neuron in neurons if neuron >= 0)

    def _leave_out(self, i: int, which: Tensor, why: str, sign: int = 0) -> None:
        """Leave out neurons of a layer, because of a sign that they have, or of nothing."""
        if not bool(which.any()):
            return
        if sign:
            self._claim(i, which, sign)
        self.removed[why] += int(which.sum())
        self.weights[i], self.biases[i] = self.weights[i][~which], self.biases[i][~which]
        self.weights[i + 1] = self.weights[i + 1][:, ~which]
        self._neurons[i] = self._neurons[i][~which]

    def _merge(self, i: int) -> None:
        """Merge neurons whose incoming weights and bias are proportional."""
        rows = torch.cat((self.weights[i], self.biases[i].unsqueeze(1)), 1)
        sizes = rows.abs().amax(1)
        rows = rows / torch.where(sizes > 0, sizes, 1.0).unsqueeze(1)
        places = (sizes > 0).nonzero().squeeze(1)
        # Equal rows are neighbours in the order of one linear function of them.
        places = places[
            (rows[places] @ torch.arange(1.0, rows.shape[1] + 1).sin().double()).argsort()
        ]
        near = (rows[places].diff(dim=0)).abs().amax(1) <= ROUNDINGS * torch.finfo(rows.dtype).eps
        V, twin = self.weights[i + 1].clone(), torch.zeros(len(rows), dtype=torch.bool)
        first = 0
        for last, close in enumerate(near.tolist(), 1):
            if not close:
                first = last
                continue
            one, other = places[first], places[last]
            V[:, one] += V[:, other] * (sizes[other] / sizes[one])
            twin[other] = True
        if bool(twin.any()):
            self.weights[i + 1], self.rounded = V, True
        self._leave_out(i, twin, "proportional to another one")

    def _linear(self, i: int, signs: Signs) -> tuple[Tensor, Tensor, Tensor]:
        """Which neurons are linear with slope 1, which with slope a, and the slopes of all."""
        none = torch.zeros(len(self._neurons[i]), dtype=torch.bool)
        if self._slope == 1:  # whatever their signs are
            return ~none, none, torch.ones(len(none), dtype=torch.float64)
        above = self._known(i, signs.above, True)
        below = self._known(i, signs.below, False) & ~above if self._slope else none
        slopes = torch.where(above, torch.ones((), dtype=torch.float64), self._slope)
        return above, below, slopes

    def _claim_linear(self, i: int, which: Tensor, signs: Signs) -> None:
        if self._slope != 1:
            above, below, _ = self._linear(i, signs)
            self._claim(i, above & which, 1)
            self._claim(i, below & which, -1)

    def _fold(self, i: int, signs: Signs) -> None:
        """Leave out linear neurons that are combinations of others."""
        above, below, slopes = self._linear(i, signs)
        linear = (above | below).nonzero().squeeze(1)
        if len(linear) == 0:
            return
        stay, rest, C = _combinations(self.weights[i][linear])
        if len(rest) == 0:
            return
        self._claim_linear(i, above | below, signs)
        stay, rest = linear[stay], linear[rest]
        b, V = self.biases[i], self.weights[i + 1].clone()
        out = V[:, rest] * slopes[rest]  # of s_j = w_j x + b_j, by α_j = slopes_j s_j
        V[:, stay] += (out @ C) / slopes[stay]
        self.biases[i + 1] = self.biases[i + 1] + out @ (b[rest] - C @ b[stay])
        self.weights[i + 1], self.rounded = V, True
        which = torch.zeros(len(b), dtype=torch.bool)
        which[rest] = True
        self._leave_out(i, which, "combinations of other linear ones")

    def _gather(self, i: int, signs: Signs) -> None:
        """Replace neurons that are ≥ 0 by two for each row that sees them, if that is cheaper."""
        above, _, _ = self._linear(i, signs)
        V = self.weights[i + 1][:, above]
        P = torch.cat((V.clamp(min=0), (-V).clamp(min=0)))
        seen = (P > 0).any(1)
        if self._slope == 1 or int(seen.sum()) >= int(above.sum()):
            return
        old = torch.cat((self.weights[i], self.biases[i].unsqueeze(1)), 1)[above]
        rows = (P @ old)[seen]
        unit = torch.eye(len(V), dtype=V.dtype)
        out = torch.cat((unit, -unit), 1)[:, seen]
        sizes = rows.norm(dim=1)
        scale = torch.where(sizes > 0, 1 / sizes, 1.0).sqrt()
        rows, out = rows * scale.unsqueeze(1), out / scale  # the cheapest scales
        costs = [frobenius_squared(A) for A in (rows, out, old, V)]
        if costs[0] + costs[1] > costs[2] + costs[3]:
            return
        self._claim(i, above, 1)
        self.weights[i] = torch.cat((self.weights[i][~above], rows[:, :-1]))
        self.biases[i] = torch.cat((self.biases[i][~above], rows[:, -1]))
        self.weights[i + 1] = torch.cat((self.weights[i + 1][:, ~above], out), 1)
        made = self._neurons[i].new_full((len(rows),), -1)
        self.removed["linear ones that the next layer does not tell apart"] += len(old) - len(rows)
        self._neurons[i] = torch.cat((self._neurons[i][~above], made))
        self.rounded = True

    def _join(self, i: int, signs: Signs) -> bool:
        """Make one affine map of two with only linear neurons between, if it is not larger."""
        above, below, slopes = self._linear(i, signs)
        W, V = self.weights[i], self.weights[i + 1]
        n, m, p = len(W), W.shape[1], len(V)
        if not bool((above | below).all()) or (n and p * m > n * (m + 1 + p)):
            return False
        if n and self._slope != 1:
            self._claim_linear(i, above | below, signs)
        out = V * slopes
        self.weights[i : i + 2] = [out @ W]
        self.biases[i : i + 2] = [self.biases[i + 1] + out @ self.biases[i]]
        self.removed["between layers that were joined"] += n
        self.rounded |= n > 0
        self.joined.append((self._names[i], self._names[i + 1]))
        self._names[i : i + 2] = [f"{self._names[i]}+{self._names[i + 1]}"]
        del self._layers[i], self._neurons[i]
        return True


def _combinations(A: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows that are independent, the other rows, and C with A[others] = C A[independent].

    Where rows are nearly dependent they count as independent, but for rounding.
    """
    from scipy.linalg import qr, solve_triangular  # 0.1 s, for few networks

    n, m = A.shape
    norms = A.norm(dim=1)
    scale = torch.where(norms > 0, norms, 1.0)
    R, order = qr((A / scale.unsqueeze(1)).numpy().T, mode="r", pivoting=True)
    zero = ROUNDINGS * max(n, m) * torch.finfo(A.dtype).eps
    rank = int((abs(R.diagonal()) > zero).sum())
    order_ = torch.from_numpy(order.astype("int64"))
    stay, rest = order_[:rank], order_[rank:]
    C = torch.from_numpy(solve_triangular(R[:rank, :rank], R[:rank, rank:])).T
    return stay, rest, C * scale[rest].unsqueeze(1) / scale[stay]
