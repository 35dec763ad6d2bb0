"""The surfaces of a run: one for every connection, whatever arm asks it, and per arm which item goes to which."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalaction.errors import UsageError
from evalaction.method.arms import connection, identity_of
from evalaction.method.canonical import digest

if TYPE_CHECKING:
    from evalaction.endpoints import Surface
    from evalaction.engine.prepare import Prepared
    from evalaction.method.card import Endpoint
    from evalaction.method.records import ArmName
    from evalaction.sandbox.records import Rung


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """Surfaces by key, and per arm the key of each item in exam order."""

    surfaces: Mapping[str, Surface]
    keys: Mapping[ArmName, Sequence[str]]


@asynccontextmanager
async def opened(
    prepared: Prepared, environ: Mapping[str, str], *, ca_bundle: str | None, rung: Rung | None
) -> AsyncIterator[Opened]:
    """Every surface, ready for slots: the programs of commands are exported and set up. Raises UsageError, NotRunError."""
    made = _Surfaces(environ, ca_bundle, rung)
    keys = {name: made.keys_of(prepared, name) for name in prepared.arms}
    async with AsyncExitStack() as stack:
        for key, surface in made.surfaces.items():
            if isinstance(surface, AbstractAsyncContextManager):
                with _told_whose(prepared, [name for name, own in keys.items() if key in own]):
                    await stack.enter_async_context(surface)
        yield Opened(surfaces=made.surfaces, keys=keys)


@contextmanager
def _told_whose(prepared: Prepared, arms: Sequence[ArmName]) -> Iterator[None]:
    """A set-up that fails says whose it is where the arms have one each."""
    try:
        yield
    except UsageError as error:
        if len(arms) == 1 < len(prepared.arms):
            commit = prepared.arms[arms[0]].source.commit
            where = f", as commit {commit[:12]} defines it" if commit else ""
            error.explain(f"This is about the {arms[0]}{where}.")
        raise


@dataclass(slots=True)
class _Surfaces:
    environ: Mapping[str, str] = field(repr=False)
    ca_bundle: str | None
    rung: Rung | None
    surfaces: dict[str, Surface] = field(default_factory=dict)
    known: list[tuple[Endpoint, str, str]] = field(default_factory=list)
    """Connection, digest of its identity, key. Two commits may define one name differently, or run two programs by it."""

    def keys_of(self, prepared: Prepared, name: ArmName) -> list[str]:
        arm = prepared.arms[name]
        keys = [self._key(endpoint, arm.source.files) for endpoint in arm.endpoints]
        return [keys[place] for place in arm.places]

    def _key(self, endpoint: Endpoint, files: Mapping[str, bytes]) -> str:
        from evalaction.endpoints import open_surface

        alike, identity = connection(endpoint), digest(identity_of(endpoint, files))
        found = next((key for other, theirs, key in self.known if other == alike and theirs == identity), None)
        if found is None:
            found = f"{endpoint.name} {len(self.known)}"
            surface = open_surface(alike, environ=self.environ, files=files, ca_bundle=self.ca_bundle, rung=self.rung)
            self.surfaces[found] = surface
            self.known.append((alike, identity, found))
        return found
