"""Evidence that may be looked at every night: an e-process on the items whose verdict changed, and tests for one look.

Under no change an item that differs between two fresh draws got worse as often as better: a fair coin. With W worse and L better,
m = W + L, the uniform mixture over the coin's bias gives E = 2^m / ((m + 1)·C(m, W)), a martingale of mean 1 (Robbins; Howard et
al. 2021). By Ville's inequality it ever reaches 1/α with probability at most α, however often one looks. All exact.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

ALPHA = Fraction(1, 20)
ALARM = 1 / ALPHA
"""The alarm is raised at this evidence or more."""
EXACT = 500


def one_sided(worse: int, better: int) -> Fraction:
    """E against "not worse": 2·E·P(Bin(m + 1, ½) ≤ W), the mixture over biases towards worse alone."""
    changed = worse + better
    term = total = 1
    for number in range(worse):  # C(m + 1, k) for k up to W
        term = term * (changed + 1 - number) // (number + 1)
        total += term
    return Fraction(total, (changed + 1) * comb(changed, worse))


class Running:
    """`one_sided`, item by item: what a long series of a large exam comes to, without counting it from the start every night."""

    def __init__(self) -> None:
        self.worse = 0
        self.better = 0
        self._below = 1
        """Σ C(m + 1, k) for k up to W."""
        self._ways = 1
        """C(m, W)"""

    def add(self, worse: int, better: int) -> None:
        for _ in range(worse):
            self._ways = self._ways * (self.changed + 1) // (self.worse + 1)
            self._below = 2 * self._below + self._ways
            self.worse += 1
        for _ in range(better):
            self._ways = self._ways * (self.changed + 1) // (self.better + 1)
            self._below = 2 * self._below - self._ways
            self.better += 1

    @property
    def changed(self) -> int:
        return self.worse + self.better

    @property
    def value(self) -> Fraction:
        """Exact; beyond 500 changed items rounded down to a multiple of 2⁻³², as which the alarm itself is not rounded."""
        whole = (self.changed + 1) * self._ways
        if self.changed <= EXACT:
            return Fraction(self._below, whole)
        return Fraction((self._below << 32) // whole, 1 << 32)


def mcnemar(lost: int, gained: int) -> Fraction:
    """Exact two-sided p of McNemar's test: twice the smaller tail of Bin(m, ½), at most 1."""
    changed = lost + gained
    tail = sum(comb(changed, number) for number in range(min(lost, gained) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**changed))


def mid_p(lost: int, gained: int) -> Fraction:
    """McNemar's mid-p (Fagerland, Lydersen, Laake 2013): printed beside the exact p, guarantees nothing."""
    changed = lost + gained
    if lost == gained:
        return 1 - Fraction(comb(changed, lost), 2 ** (changed + 1)) if changed else Fraction(1)
    return mcnemar(lost, gained) - Fraction(comb(changed, min(lost, gained)), 2**changed)


def pass_hat_k(draws: int, passed: int, k: int) -> Fraction:
    """pass^k of one item: the share of its k-subsets of draws that all pass, C(c, k) / C(n, k) (τ-bench).

    Raises ValueError for k outside 1…draws and for more passes than draws.
    """
    if not 1 <= k <= draws or not 0 <= passed <= draws:
        raise ValueError(f"no pass^{k} of {passed} passes in {draws} draws")
    return Fraction(comb(passed, k), comb(draws, k))
