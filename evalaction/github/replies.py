"""What a call to GitHub's API comes back with: a value either way, never an exception, since a comment decides no verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeAlias, TypeVar

T = TypeVar("T")

Kind: TypeAlias = Literal["permission", "fork", "locked", "gone", "too_long", "rate", "rejected", "server", "network"]
"""`rejected`: another 4xx, such as a reference that moved meanwhile (409, 422)."""


@dataclass(frozen=True, slots=True)
class Ok(Generic[T]):
    data: T


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """Why a call did not happen, or may not have happened."""

    status: int | None
    """None: no reply that can be read."""
    kind: Kind
    sentence: str
    """One plain sentence in our own words that says what to do; it can be shown anywhere."""
    permissions: tuple[str, ...] = ()
    """Lines to add under `permissions:`, as `pull-requests: write`."""
    detail: str = ""
    """GitHub's own words, redacted and cut: untrusted, to be encoded by whoever shows them."""

    @property
    def uncertain(self) -> bool:
        """The request may have taken effect although nobody said so."""
        return self.kind == "network" or (self.kind == "server" and (self.status is None or self.status >= 500))

    def from_fork(self) -> Refused:
        """The same for the pull request of a fork, where no `permissions:` line would help."""
        if self.kind != "permission":
            return self
        sentence = (
            "The pull request comes from a fork, so its run may not write here, whatever `permissions:` says; "
            "the result is in the job summary and the artifact."
        )
        return replace(self, kind="fork", sentence=sentence, permissions=())
